"""Which room may import which package. import-linter holds the layers; this list holds everything from outside."""

import ast
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "tokonoma"
ALLOWED = {
    "apsw": {"store"},
    "click": {"cli"},
    "cryptography": {"keyring", "policy"},
    "httpx": {"auth", "embed", "services", "upstream"},
    "jinja2": {"server"},
    "joserfc": {"auth"},
    "markdown_it": {"server"},
    "markupsafe": {"server"},
    "numpy": {"embed", "search"},
    "opentelemetry": {"telemetry"},
    "orjson": {
        "app", "catalogue", "cli", "embed", "gateway", "journal", "modules",
        "pipeline", "policy", "search", "server", "services", "transfer", "upstream",
    },
    "platformdirs": {"config"},
    "prometheus_client": {"telemetry"},
    "psycopg": {"store"},
    "pydantic": {"catalogue", "connectors", "files", "gateway", "modules"},
    "re2": {"files", "policy"},
    "starlette": {"server"},
    "typing_extensions": {"catalogue", "connectors", "files", "gateway", "modules"},
    "uvicorn": {"server"},
    "yaml": {"files", "policy", "transfer"},
}  # fmt: skip


def list_imports() -> list[tuple[str, str, str]]:
    """(file, room, package) of every import from outside."""
    found: list[tuple[str, str, str]] = []
    for file in sorted(SOURCE.rglob("*.py")):
        room = file.relative_to(SOURCE).parts[0]
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            for name in names:
                package = name.split(".")[0]
                if package != "tokonoma" and package not in sys.stdlib_module_names:
                    found.append((str(file.relative_to(SOURCE)), room, package))
    return found


IMPORTS = list_imports()


def test_every_import_from_outside_is_allowed_in_its_room():
    wrong = [f"{file} imports {package}" for file, room, package in IMPORTS if room not in ALLOWED.get(package, set())]
    assert wrong == []


def test_the_list_holds_nothing_that_is_not_used():
    used = {(package, room) for _, room, package in IMPORTS}
    assert {(package, room) for package, rooms in ALLOWED.items() for room in rooms} - used == set()


@pytest.mark.parametrize("package", ["apsw", "psycopg"])
def test_only_the_store_knows_database_drivers(package):
    assert {room for _, room, name in IMPORTS if name == package} == {"store"}
