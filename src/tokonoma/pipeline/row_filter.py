"""`{visible}`: the caller's filter in a module's SQL, and the masks over the texts that it reads.

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

_SELECTED = re.compile(r"\s*select\s+(?:distinct\s+)?(.*?)\s+from\s", re.IGNORECASE | re.DOTALL)

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
    """Two per call: one for reading, and one for its transaction, which `changes` what it reads and gets it unmasked.

    What a caller may not see is masked in whole cells, as soon as they are read. So whatever a module cuts, compares,
    sorts or counts, it does with what its caller may see.
    """

    __slots__ = ("_call", "_changes", "_module", "_record_tables", "_textless_tables", "_unclassified_tables")

    def __init__(
        self,
        call: Call,
        record_tables: Callable[[], frozenset[str]],
        textless_tables: Callable[[], frozenset[str]],
        unclassified_tables: Callable[[], frozenset[str]],
        *,
        changes: bool = False,
        module: str = "",
    ) -> None:
        """`module`: whose tables are read; by default those of the tool's own."""
        self._call, self._changes, self._module = call, changes, module
        self._record_tables, self._textless_tables = record_tables, textless_tables
        self._unclassified_tables = unclassified_tables

    def for_changes(self) -> "CallerRowFilter":
        """The filter of the call's transaction."""
        tables = self._record_tables, self._textless_tables, self._unclassified_tables
        return CallerRowFilter(self._call, *tables, changes=True, module=self._module)

    def expand(self, sql: str) -> tuple[str, dict[str, str | int]]:
        table = find_unfiltered_table(sql, self._record_tables())
        if table is not None:
            raise RuntimeError(f"SQL reads the record table {table!r} without a {{visible}} of its own")
        return expand_visible(sql, self._call.principal, self._call.granted_view.classifications)

    def rows(self, rows: Rows, sql: str, params: Mapping[str, Any]) -> list[Row]:
        filled, extra = self.expand(sql)
        return self._mask(sql, rows.rows(filled, **params, **extra))

    def row(self, rows: Rows, sql: str, params: Mapping[str, Any]) -> Row | None:
        filled, extra = self.expand(sql)
        found = rows.row(filled, **params, **extra)
        return None if found is None else self._mask(sql, [found])[0]

    def _mask(self, sql: str, found: list[Row]) -> list[Row]:
        unclassified = any(table in sql for table in self._unclassified_tables())
        if unclassified:  # its texts have no class: also what is made of them is screened
            self._call.read_unclassified = True
        masks, module = self._call.record_masks, self._module or self._call.chosen_tool.module
        if self._changes or not (unclassified or masks.covers(module)):
            return found
        masked_tables = self._record_tables() - self._textless_tables()
        if not unclassified and not any(table in sql for table in masked_tables):
            return found
        return masks.mask_rows(found, module, find_namespace_column(sql), unclassified=unclassified)


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
def find_namespace_column(sql: str) -> int | None:
    """Which column of the result is the namespace of the record; None if there is none."""
    found = _SELECTED.match(sql)
    if found is None or "(" in found[1]:
        return None
    columns = [column.strip().rpartition(".")[2] for column in found[1].split(",")]
    return columns.index("space") if "space" in columns else None


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
