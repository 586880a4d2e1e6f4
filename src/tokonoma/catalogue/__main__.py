"""`python -m tokonoma.catalogue` rewrites `catalogue.json` and `services.json`."""

from tokonoma.catalogue import CATALOGUE_FILE, SERVICE_MODULES, SERVICES_FILE, build_catalogue, dump_catalogue

CATALOGUE_FILE.write_bytes(dump_catalogue(build_catalogue()))
SERVICES_FILE.write_bytes(dump_catalogue(build_catalogue(SERVICE_MODULES)))
