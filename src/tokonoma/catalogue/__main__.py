"""`python -m tokonoma.catalogue` rewrites `catalogue.json`."""

from tokonoma.catalogue import CATALOGUE_FILE, build_catalogue, dump_catalogue

CATALOGUE_FILE.write_bytes(dump_catalogue(build_catalogue()))
