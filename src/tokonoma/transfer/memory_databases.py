"""Reads the SQLite databases of other memory servers as if they were exports. The files are only read.

mcp-memory-service keeps memories in the table `memories`. mem0 keeps the vectors of its memories elsewhere, and every
change of a text in the table `history`: the last one of each memory is its text.
"""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from tokonoma.core.errors import Invalid
from tokonoma.transfer.model import Metadata

_MAGIC = b"SQLite format 3\0"
_HISTORY = "select memory_id, new_memory, event, created_at, updated_at, is_deleted from history order by rowid"


def is_database(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def load_database(path: Path) -> dict[str, list[Metadata]]:
    """`memories` as mcp-memory-service exports them, or `results` as mem0 does."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            connection.row_factory = sqlite3.Row
            tables = {row[0] for row in connection.execute("select name from sqlite_schema where type = 'table'")}
            if "memories" in tables:
                return {"memories": list(_read_memories(connection))}
            if "history" in tables:
                return {"results": list(_read_history(connection))}
    except sqlite3.Error as error:
        raise Invalid(f"{path} cannot be read as a database: {error}.") from None
    raise Invalid(f"{path} is a database, but not one of mcp-memory-service or mem0.")


def _read_memories(connection: sqlite3.Connection) -> Iterator[Metadata]:
    for row in connection.execute("select * from memories order by created_at, rowid"):
        memory: Metadata = dict(row)
        if memory.pop("deleted_at", None) is not None:
            continue
        memory.pop("id", None)  # the number of the row; the hash of the content is what identifies it
        yield memory | {"metadata": _parse_object(memory.get("metadata"))}


def _read_history(connection: sqlite3.Connection) -> Iterator[Metadata]:
    current: dict[str, Metadata] = {}
    for number, text, event, created, updated, deleted in connection.execute(_HISTORY):
        if event == "DELETE" or deleted:
            current.pop(number, None)
            continue
        first = current.get(number, {}).get("created_at")
        current[number] = {"id": number, "memory": text, "created_at": first or created, "updated_at": updated}
    yield from current.values()


def _parse_object(text: Any) -> Metadata:
    try:
        value: Any = json.loads(text or "{}")
    except ValueError:
        return {"metadata": text}
    return value if isinstance(value, dict) else {"metadata": value}  # pyright: ignore[reportUnknownVariableType]
