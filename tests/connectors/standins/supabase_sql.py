"""A project's database: SQLite, with as much of PostgreSQL's ways as statements of clients need."""

import json
import re
from typing import Any

import apsw

from .service import Refused

READS = ("select", "with", "explain", "values", "show")
WORDS = {"json_agg(": "json_group_array(", "json_build_object(": "json_object("}  # PostgreSQL's name: SQLite's
COLUMNS = "table_schema, table_name, column_name, ordinal_position, column_default, is_nullable, data_type"


class ProjectDatabase:
    def __init__(self) -> None:
        self._connection = apsw.Connection(":memory:")
        self._connection.execute("attach ':memory:' as information_schema")
        self._connection.execute(f"create table information_schema.columns ({COLUMNS})")

    def close(self) -> None:
        self._connection.close()

    def run(self, query: str, values: list[Any] | None = None, read_only: bool = False) -> list[dict[str, Any]]:
        word = query.strip().split(None, 1)[0].lower() if query.strip() else ""
        if read_only and word not in READS:
            raise Refused(
                400, f"Failed to run sql query: ERROR:  25006: cannot execute {word.upper()} in a read-only transaction"
            )
        has_json = any(name in query for name in WORDS)
        for name, ours in WORDS.items():
            query = query.replace(name, ours)
        if "information_schema" in query:
            self._fill_catalogue()
        try:
            cursor = self._connection.execute(re.sub(r"\$(\d+)", r"?\1", query), values or ())
            found = [dict(zip([each[0] for each in cursor.get_description()], row, strict=True)) for row in cursor]
        except (apsw.Error, TypeError) as error:
            raise Refused(400, f"Failed to run sql query: ERROR:  42601: {error}") from None
        return [{name: read_json(value) if has_json else value for name, value in row.items()} for row in found]

    def list_columns(self) -> list[tuple[str, str]]:
        """Name and type of every column, table by table."""
        self._fill_catalogue()
        return list(self._connection.execute("select column_name, data_type from information_schema.columns"))

    def _fill_catalogue(self) -> None:
        self._connection.execute("delete from information_schema.columns")
        self._connection.execute(
            "insert into information_schema.columns"
            " select 'public', m.name, c.name, c.cid + 1, c.dflt_value, iif(c.\"notnull\", 'NO', 'YES'), lower(c.type)"
            " from main.sqlite_master m join pragma_table_info(m.name) c where m.type = 'table' order by m.name, c.cid"
        )


def read_json(value: Any) -> Any:
    """What PostgreSQL gives as JSON comes as text here, and truth as 0 and 1."""
    if not isinstance(value, str) or value[:1] not in ("[", "{"):
        return value
    truths = {0: False, 1: True}
    return json.loads(
        value, object_hook=lambda row: {n: truths.get(v, v) if n == "nullable" else v for n, v in row.items()}
    )
