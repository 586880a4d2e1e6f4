"""A module's SQL under the caller's filter, and whether what it read must be masked on its way out."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from tokonoma.core.call import OWNER, Call
from tokonoma.core.desk import LABELS, Label, Row, Rows
from tokonoma.pipeline.visibility import expanded, unguarded


class Filter(Protocol):
    def expanded(self, sql: str) -> tuple[str, dict[str, str | int]]: ...
    def rows(self, rows: Rows, sql: str, params: Mapping[str, Any]) -> list[Row]: ...
    def row(self, rows: Rows, sql: str, params: Mapping[str, Any]) -> Row | None: ...


class Unfiltered:
    """For upkeep: an index follows its files, whoever happens to call. Nothing read here leaves."""

    def expanded(self, sql: str) -> tuple[str, dict[str, str | int]]:
        return expanded(sql, OWNER, LABELS)

    def rows(self, rows: Rows, sql: str, params: Mapping[str, Any]) -> list[Row]:
        filled, extra = self.expanded(sql)
        return rows.rows(filled, **params, **extra)

    def row(self, rows: Rows, sql: str, params: Mapping[str, Any]) -> Row | None:
        filled, extra = self.expanded(sql)
        return rows.row(filled, **params, **extra)


class Filtered:
    """One a call.

    Of some classes a caller may see the records, but not all that they say. Whether an answer holds any of those nobody
    can tell from SQL that a module wrote. So the same is asked a second time without them: where both answers are
    alike, none of them had a part in it. Who sees everything as it is, is not asked about twice.
    """

    __slots__ = ("_call", "_guarded", "_unlabelled")

    def __init__(
        self, call: Call, guarded: Callable[[], frozenset[str]], unlabelled: Callable[[], frozenset[str]]
    ) -> None:
        self._call, self._guarded, self._unlabelled = call, guarded, unlabelled

    def expanded(self, sql: str, labels: tuple[Label, ...] | None = None) -> tuple[str, dict[str, str | int]]:
        table = unguarded(sql, self._guarded())
        if table is not None:
            raise RuntimeError(f"SQL on the record table {table!r} without {{visible}}")
        return expanded(sql, self._call.who, self._call.seen.labels if labels is None else labels)

    def rows(self, rows: Rows, sql: str, params: Mapping[str, Any]) -> list[Row]:
        filled, extra = self.expanded(sql)
        found = rows.rows(filled, **params, **extra)
        if self._doubtful(sql):  # also where nothing was found: the SQL may ask for what is not visible
            plain, extra = self.expanded(sql, self._call.seen.plain)
            self._call.marked = plain != filled and rows.rows(plain, **params, **extra) != found
        return found

    def row(self, rows: Rows, sql: str, params: Mapping[str, Any]) -> Row | None:
        filled, extra = self.expanded(sql)
        found = rows.row(filled, **params, **extra)
        if self._doubtful(sql):
            plain, extra = self.expanded(sql, self._call.seen.plain)
            self._call.marked = plain != filled and rows.row(plain, **params, **extra) != found
        return found

    def _doubtful(self, sql: str) -> bool:
        if any(table in sql for table in self._unlabelled()):  # nobody knows what lies there: it is looked through
            self._call.marked = True
        return self._call.seen.masks and not self._call.marked and "{visible" in sql
