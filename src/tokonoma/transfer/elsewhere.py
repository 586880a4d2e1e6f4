"""Where other memory servers keep their data on this machine, as far as it can be read.

Sources: the defaults of basic-memory (`config.py`), of mcp-memory-service (`config/base.py`), of mem0
(`configs/base.py`) and of the official memory server, which npx keeps in its cache.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokonoma.transfer.files import as_object, as_text
from tokonoma.transfer.memory_databases import is_database

_NPX = "_npx/*/node_modules/@modelcontextprotocol/server-memory/dist"


@dataclass(frozen=True, slots=True)
class FoundStore:
    """The data of another memory server."""

    title: str
    path: Path
    format: str  # as `import --from` takes it
    source_name: str  # under which it can be imported again


def find_stores(home: Path, platform: str, environ: Mapping[str, str]) -> list[FoundStore]:
    """In the places where those servers put their data, and in those that their variables name; none twice."""
    found: dict[Path, FoundStore] = {}
    for each in (
        *_find_basic_memory(home, environ),
        *_find_official(home, environ),
        *_find_memory_service(home, platform, environ),
        *_find_mem0(home, environ),
    ):
        found.setdefault(each.path.resolve(), each)
    return list(found.values())


def _find_basic_memory(home: Path, environ: Mapping[str, str]) -> Iterator[FoundStore]:
    config = as_object(_read_json(home / ".basic-memory" / "config.json"))
    main = environ.get("BASIC_MEMORY_HOME") or str(home / "basic-memory")
    projects = {"main": main, **as_object(config.get("projects"))}
    for name, place in projects.items():
        # Newer versions describe a project by an object.
        text = place if isinstance(place, str) else as_text(as_object(place).get("path"))
        folder = Path(text).expanduser()
        if text and folder.is_dir() and next(folder.rglob("*.md"), None) is not None:
            yield FoundStore("basic-memory", folder, "basic-memory", f"basic-memory-{name}")


def _find_official(home: Path, environ: Mapping[str, str]) -> Iterator[FoundStore]:
    places = [Path(environ["MEMORY_FILE_PATH"]).expanduser()] if environ.get("MEMORY_FILE_PATH") else []
    cache = Path(environ.get("npm_config_cache") or home / ".npm")
    for folder in sorted(cache.glob(_NPX)):
        places += [folder / "memory.jsonl", folder / "memory.json"]
    for each in places:
        if each.is_file() and each.stat().st_size:
            yield FoundStore("server-memory", each, "mcp-memory", "server-memory")


def _find_memory_service(home: Path, platform: str, environ: Mapping[str, str]) -> Iterator[FoundStore]:
    base = home / ".local" / "share"
    if platform == "darwin":
        base = home / "Library" / "Application Support"
    elif platform == "win32":
        base = Path(environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    folder = Path(environ.get("MCP_MEMORY_BASE_DIR") or base / "mcp-memory").expanduser()
    named = [environ.get(name) for name in ("MCP_MEMORY_SQLITE_PATH", "MCP_MEMORY_SQLITEVEC_PATH")]
    for each in (*(Path(name).expanduser() for name in named if name), folder / "sqlite_vec.db"):
        if is_database(each):
            yield FoundStore("mcp-memory-service", each, "mcp-memory-service", "mcp-memory-service")


def _find_mem0(home: Path, environ: Mapping[str, str]) -> Iterator[FoundStore]:
    file = Path(environ.get("MEM0_DIR") or home / ".mem0").expanduser() / "history.db"
    if is_database(file):
        yield FoundStore("mem0", file, "mem0", "mem0")


def _read_json(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
