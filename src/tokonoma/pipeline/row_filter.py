"""`{visible}`: the caller's filter in a module's SQL, and whether what was read must be masked on its way out.

A statement needs a filter for every record table that it reads: `{visible}` where it reads one, `{visible:alias}` for
each where it reads several. `{everyone}` in its place reads the rows of every caller; it is for upkeep and counting,
and can be searched for.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Protocol

from tokonoma.core.call import OWNER, Call, Principal
from tokonoma.core.desk import CLASSIFICATIONS, Classification, Row, Rows

_TOKEN = re.compile(r"\{(visible|everyone)(?::(\w+))?\}")
_TEXT = re.compile(r"'(?:[^']|'')*'|\binsert\s+into\s+\w+\s*\([^)]*\)", re.IGNORECASE)
"""What names no table that is read: texts, and the columns that an insert fills."""

_KEYWORDS = (
    "where|join|on|set|group|order|limit|left|inner|cross|outer|right|full|using|union|values|and|natural|for|offset"
    "|returning|having|window"
)
_TABLE = re.compile(
    rf"""(?:\b(?:from|join|update)\b|,)[\s("]*(?:\w+"?\."?)?(\w+)"?(?:\s+(?:as\s+)?(?!(?:{_KEYWORDS})\b)(\w+))?""",
    re.IGNORECASE,
)


class RowFilter(Protocol):
    def expand(self, sql: str) -> tuple[str, dict[str, str | int]]: ...
    def rows(self, rows: Rows, sql: str, params: Mapping[str, Any]) -> list[Row]: ...
    def row(self, rows: Rows, sql: str, params: Mapping[str, Any]) -> Row | None: ...


class NoRowFilter:
    """For upkeep: an index follows its files, whatever the caller may see. Nothing read here leaves."""

    def expand(self, sql: str) -> tuple[str, dict[str, str | int]]:
        return expand_visible(sql, OWNER, CLASSIFICATIONS)

    def rows(self, rows: Rows, sql: str, params: Mapping[str, Any]) -> list[Row]:
        filled, extra = self.expand(sql)
        return rows.rows(filled, **params, **extra)

    def row(self, rows: Rows, sql: str, params: Mapping[str, Any]) -> Row | None:
        filled, extra = self.expand(sql)
        return rows.row(filled, **params, **extra)


class CallerRowFilter:
    """One per call.

    Of some classifications a caller may see the records, but not all of their text. SQL written by a module does not
    tell whether such a record had a part in its answer. So the same statement runs a second time without them: if both
    answers are equal, none of them had a part in it. A caller that sees everything unmasked costs no second statement.
    """

    __slots__ = ("_call", "_record_tables", "_unclassified_tables")

    def __init__(
        self,
        call: Call,
        record_tables: Callable[[], frozenset[str]],
        unclassified_tables: Callable[[], frozenset[str]],
    ) -> None:
        self._call, self._record_tables, self._unclassified_tables = call, record_tables, unclassified_tables

    def expand(self, sql: str, sees: tuple[Classification, ...] | None = None) -> tuple[str, dict[str, str | int]]:
        table = find_unfiltered_table(sql, self._record_tables())
        if table is not None:
            raise RuntimeError(f"SQL reads the record table {table!r} without a {{visible}} of its own")
        return expand_visible(
            sql, self._call.principal, self._call.granted_view.classifications if sees is None else sees
        )

    def rows(self, rows: Rows, sql: str, params: Mapping[str, Any]) -> list[Row]:
        filled, extra = self.expand(sql)
        found = rows.rows(filled, **params, **extra)
        if self._needs_second_query(sql):  # also where nothing was found: the SQL may ask for what is not visible
            plain, extra = self.expand(sql, self._call.granted_view.unmasked)
            self._call.has_masked_records = plain != filled and rows.rows(plain, **params, **extra) != found
        return found

    def row(self, rows: Rows, sql: str, params: Mapping[str, Any]) -> Row | None:
        filled, extra = self.expand(sql)
        found = rows.row(filled, **params, **extra)
        if self._needs_second_query(sql):
            plain, extra = self.expand(sql, self._call.granted_view.unmasked)
            self._call.has_masked_records = plain != filled and rows.row(plain, **params, **extra) != found
        return found

    def _needs_second_query(self, sql: str) -> bool:
        if any(table in sql for table in self._unclassified_tables()):  # its texts have no class: all is screened
            self._call.has_masked_records = True
        return self._call.granted_view.is_partly_masked and not self._call.has_masked_records and "{visible" in sql


def expand_visible(sql: str, who: Principal, sees: tuple[Classification, ...]) -> tuple[str, dict[str, str | int]]:
    """The SQL with every `{visible}` and `{everyone}` written out, and the parameters that this needs."""
    walled = who.root != "/"

    def write_condition(found: re.Match[str]) -> str:
        prefix = f"{found[2]}." if found[2] else ""
        parts: list[str] = []
        if found[1] == "everyone":
            return "1 = 1"
        if walled:
            # Compared letter by letter: `like` ignores case on SQLite, and a range follows the collation on PostgreSQL.
            start = f"substr({prefix}space, 1, cast(:visible_length as integer))"
            parts.append(f"({prefix}space = :visible_root or {start} = :visible_below)")
        if len(sees) < len(CLASSIFICATIONS):
            # Classifications are our own fixed words, never a caller's text.
            listed = ", ".join(f"'{label}'" for label in sees)
            parts.append(f"{prefix}label in ({listed})" if sees else "1 = 0")
        return " and ".join(parts) or "1 = 1"

    filled = _TOKEN.sub(write_condition, sql)
    if not walled or filled == sql or ":visible_root" not in filled:
        return filled, {}
    below = who.root + "/"
    return filled, {"visible_root": who.root, "visible_below": below, "visible_length": len(below)}


@lru_cache(maxsize=2048)
def find_unfiltered_table(sql: str, record_tables: frozenset[str]) -> str | None:
    """The first record table that this SQL reads or changes without a filter of its own; inserting needs none."""
    code = _TEXT.sub("''", sql).lower()
    read = [(found[1], found[2] or found[1]) for found in _TABLE.finditer(code) if found[1] in record_tables]
    tokens = Counter((found[2] or "").lower() for found in _TOKEN.finditer(sql))
    inserts = sql.lstrip()[:6].lower() == "insert" and "select" not in code  # its own row may be named in `on conflict`
    if not read and not tokens and not inserts:  # a table named in a way that this does not understand counts as read
        return next((word for word in re.findall(r"(?<![:\w])\w+", code) if word in record_tables), None)
    if len(read) == 1 and tokens[""]:
        return None
    wanted = Counter(name for _, name in read)
    return next((table for table, name in read if tokens[name] < wanted[name]), None)
