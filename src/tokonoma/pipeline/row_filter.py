"""A module's SQL under the caller's filter, and whether what it read must be masked on its way out."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from tokonoma.core.call import OWNER, Call
from tokonoma.core.desk import CLASSIFICATIONS, Classification, Row, Rows
from tokonoma.pipeline.visibility import expand_visible, find_unfiltered_table


class RowFilter(Protocol):
    def expand(self, sql: str) -> tuple[str, dict[str, str | int]]: ...
    def rows(self, rows: Rows, sql: str, params: Mapping[str, Any]) -> list[Row]: ...
    def row(self, rows: Rows, sql: str, params: Mapping[str, Any]) -> Row | None: ...


class NoRowFilter:
    """For upkeep: an index follows its files, whoever happens to call. Nothing read here leaves."""

    def expand(self, sql: str) -> tuple[str, dict[str, str | int]]:
        return expand_visible(sql, OWNER, CLASSIFICATIONS)

    def rows(self, rows: Rows, sql: str, params: Mapping[str, Any]) -> list[Row]:
        filled, extra = self.expand(sql)
        return rows.rows(filled, **params, **extra)

    def row(self, rows: Rows, sql: str, params: Mapping[str, Any]) -> Row | None:
        filled, extra = self.expand(sql)
        return rows.row(filled, **params, **extra)


class CallerRowFilter:
    """One a call.

    Of some classes a caller may see the records, but not all that they say. Whether an answer holds any of those nobody
    can tell from SQL that a module wrote. So the same is asked a second time without them: where both answers are
    alike, none of them had a part in it. Who sees everything as it is, is not asked about twice.
    """

    __slots__ = ("_call", "_record_tables", "_unclassified_tables")

    def __init__(
        self, call: Call, guarded: Callable[[], frozenset[str]], unlabelled: Callable[[], frozenset[str]]
    ) -> None:
        self._call, self._record_tables, self._unclassified_tables = call, guarded, unlabelled

    def expand(self, sql: str, labels: tuple[Classification, ...] | None = None) -> tuple[str, dict[str, str | int]]:
        table = find_unfiltered_table(sql, self._record_tables())
        if table is not None:
            raise RuntimeError(f"SQL on the record table {table!r} without {{visible}}")
        return expand_visible(
            sql, self._call.principal, self._call.granted_view.classifications if labels is None else labels
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
        if any(
            table in sql for table in self._unclassified_tables()
        ):  # nobody knows what lies there: it is looked through
            self._call.has_masked_records = True
        return self._call.granted_view.is_partly_masked and not self._call.has_masked_records and "{visible" in sql
