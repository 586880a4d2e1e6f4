"""`python -m tokonoma.catalogue` rewrites `catalogue.json`."""

from tokonoma.catalogue import SHIPPED, dump, made

SHIPPED.write_bytes(dump(made()))
