"""The shipped catalogue equals the code, and the start needs nothing more than it."""

import re
import subprocess
import sys
from importlib.metadata import entry_points

import pytest

from tokonoma import catalogue

SHIPPED = catalogue.read_catalogue(catalogue.CATALOGUE_FILE)
SERVICES = catalogue.read_catalogue(catalogue.SERVICES_FILE)
ENTRIES = [entry for shelf in (*SHIPPED, *SERVICES) for entry in shelf.entries]


def test_the_catalogue_is_what_the_code_says():
    assert catalogue.CATALOGUE_FILE.read_bytes() == catalogue.dump_catalogue(catalogue.build_catalogue()), (
        "run `make catalogue`"
    )
    services = catalogue.build_catalogue(catalogue.SERVICE_MODULES)
    assert catalogue.SERVICES_FILE.read_bytes() == catalogue.dump_catalogue(services), "run `make catalogue`"
    assert catalogue.SERVICES_FILE.read_bytes() == catalogue.dump_catalogue(SERVICES)


def test_built_in_modules_enter_by_the_door_of_plugins():
    doors = {each.name: each.value for each in entry_points(group="tokonoma.modules")}
    assert {shelf.name: shelf.source for shelf in SHIPPED if shelf.name != "gateway"}.items() <= doors.items()


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.path)
def test_names_and_schemas_are_such_as_every_client_takes(entry):
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", entry.listed)
    assert not {"oneOf", "anyOf", "allOf", "$ref"} & entry.input.keys()
    assert entry.input["additionalProperties"] is False
    assert entry.output["type"] == "object"
    assert len(entry.description) <= 600


def test_listed_names_are_unique():
    names = [entry.listed for entry in ENTRIES]
    assert len(set(names)) == len(names)


LATE = [
    "pydantic",
    "cryptography",
    "numpy",
    "apsw",
    "psycopg",
    "uvicorn",
    "starlette",
    "click",
    "rich",
    "asyncio",
    "tokonoma.store",
]


def test_lists_are_answered_before_anything_heavy_is_imported(tmp_path):
    script = """
import sys, json
from tokonoma.app import App
from tokonoma.core.call import Caller
from tokonoma.server.mcp.session import StdioSession
told = []
talk = StdioSession(App({"home": sys.argv[1]}, {}).dispatcher, Caller("stdio"), told.append)
for number, method in enumerate(("initialize", "tools/list")):
    talk.handle_line(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}).encode())
assert len(told) == 2 and b"get_module_schema" in told[1], told
print(*sorted(sys.modules), sep="\\n")
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "home")], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert not [name for name in LATE if name in loaded]
    assert not (tmp_path / "home").exists()
