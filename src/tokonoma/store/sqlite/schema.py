"""The tables, indexes and triggers that a database should have. A backup with others may carry code, and is refused."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw

from tokonoma.core.errors import Invalid
from tokonoma.core.module import Migration
from tokonoma.store.dialect import SQLITE
from tokonoma.store.migrate import CREATE_TABLE, MigrationSets
from tokonoma.store.sqlite.connection import translate_errors

SchemaObject = tuple[str, str]
"""type, name"""

_NAMED = 3  # objects in a message
# The indexes of primary keys, the counters and the statistics of `analyze` are SQLite's own.
_OBJECTS = """select type, name, tbl_name, coalesce(sql, '') from sqlite_schema
where not (type = 'index' and sql is null)
and not (type = 'table' and sql like 'CREATE TABLE sqlite\\_%' escape '\\')"""


def check_backup_schema(path: Path, sets: MigrationSets, applied: Mapping[str, Sequence[str]]) -> None:
    """Refuse a backup with triggers, views or tables that the migrations it names do not make.

    Sets without statements are those of unknown modules: their plain tables and indexes are accepted.
    """
    with translate_errors(path), closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        found = _read_objects(connection)
    steps = {name: sets[name][: len(names)] for name, names in applied.items()}
    unknown = any(not any(each.statements or each.sqlite for each in each_set) for each_set in steps.values())
    foreign = find_differences(found, steps, plain_tables=unknown)
    if foreign:
        named = ", ".join(f"the {kind} {name!r}" for kind, name in foreign[:_NAMED])
        more = f" and {len(foreign) - _NAMED} more" if len(foreign) > _NAMED else ""
        raise Invalid(
            f"{path} was changed by another program: {named}{more} are not as Tokonoma makes them, and could run code."
            " Nothing was changed. Use another backup.",
            reason="foreign_schema",
            objects=[name for _, name in foreign],
        )


def find_differences(
    found: Mapping[SchemaObject, str], steps: Mapping[str, Sequence[Migration]], *, plain_tables: bool
) -> list[SchemaObject]:
    """What is there and should not be, or is missing, or was made by another text."""
    expected = _build_objects(steps)
    different = [each for each in found.keys() | expected.keys() if found.get(each) != expected.get(each)]
    return sorted(each for each in different if not (plain_tables and _is_plain(each, found, expected)))


def _is_plain(each: SchemaObject, found: Mapping[SchemaObject, str], expected: Mapping[SchemaObject, str]) -> bool:
    """Whether it is a table or an index that can run no code, beside the tables that are known."""
    text = found.get(each, "")
    return each not in expected and each[0] in ("table", "index") and not text.startswith("create virtual")


def _build_objects(steps: Mapping[str, Sequence[Migration]]) -> dict[SchemaObject, str]:
    """The same migrations, applied to an empty database in memory."""
    with closing(apsw.Connection(":memory:")) as connection:
        cursor: Any = connection.cursor()
        cursor.execute(SQLITE.translate(CREATE_TABLE))
        for each_set in steps.values():
            for step in each_set:
                for statement in (*step.statements, *step.sqlite):
                    cursor.execute(SQLITE.translate(statement))
        return _read_objects(connection)


def _read_objects(connection: apsw.Connection) -> dict[SchemaObject, str]:
    cursor: Any = connection.cursor()
    # Spaces and line breaks differ between versions of this program; the words do not.
    return {(kind, name): f"{_fold(text)} on {table}" for kind, name, table, text in cursor.execute(_OBJECTS)}


def _fold(text: str) -> str:
    words = text.split()
    return " ".join([*(word.lower() for word in words[:2]), *words[2:]])
