"""The documents that are looked at: proposed ones, those of a filter that lets few through, and their neighbours.

Everything that is read here passes the filter, whoever proposed it.
"""
# ruff: noqa: S608 - SQL is put together from texts of ours and names of parameters; what callers send is a parameter

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import orjson

from tokonoma.core.desk import Rows
from tokonoma.search.filters import Filter
from tokonoma.store.dialect import Kind

FEW = 500
"""Documents that are looked at one by one, without being proposed, if a filter lets no more through."""

_EACH = {
    "sqlite": "json_each(:ids) j cross join document d on d.id = j.value",
    "postgresql": "unnest(cast(:ids as bigint[])) j (value) join document d on d.id = j.value",
}
_FETCH = """select d.id, d.at, d.thread <> '', d.length, t.data
from {each} join terms t on t.document = d.id where {filter}"""
_NEWEST = "select d.id, d.at from document d where {driven}{filter} order by d.at desc, d.id desc limit :most"
_BESIDE = """select d.id from document d
where d.thread = c.thread and d.space = c.space and d.module = c.module
and (d.place, d.id) {sign} (c.place, c.id) and {filter} order by d.place {way}, d.id {way} limit :most"""
_NEIGHBOURS = {
    "sqlite": """select c.id, n.id from json_each(:ids) j cross join document c on c.id = j.value
    cross join document n on n.id in ({beside}) order by c.id, n.place {way}, n.id {way}""",
    "postgresql": """select c.id, n.id from unnest(cast(:ids as bigint[])) j (value)
    join document c on c.id = j.value cross join lateral ({beside}) b join document n on n.id = b.id
    order by c.id, n.place {way}, n.id {way}""",
}


@dataclass(frozen=True, slots=True)
class Candidate:
    id: int
    at: int
    threaded: bool
    length: int
    data: bytes


class Pool:
    """The documents inside one filter, as one snapshot has them."""

    def __init__(self, kind: Kind, rows: Rows, filter: Filter) -> None:
        self._kind: Kind = kind
        self._rows = rows
        self.filter = filter

    def few(self) -> list[int] | None:
        """All that the filter lets through, if one of its parts lets through few; None if none does."""
        driver = self._driver
        if driver is None:
            return None
        sql = f"select d.id from document d where d.id in ({driver}) and {self.filter.sql}"
        return [row[0] for row in self._rows.rows(sql, **self.filter.params)]

    @cached_property
    def _driver(self) -> str | None:
        """Lists few documents, among which are all that the filter lets through."""
        drivers = [part.driver for part in self.filter.parts if part.driver]
        if not drivers:
            return None
        # Each is counted only until it is clear that it is not the one.
        counted = [f"(select count(*) from (select 1 from ({driver}) x limit :most) y)" for driver in drivers]
        row = self._rows.row(f"select {', '.join(counted)}", most=FEW + 1, **self.filter.params)
        assert row is not None
        fewest = min(row)
        return drivers[row.index(fewest)] if fewest <= FEW else None

    def fetch(self, ids: Collection[int]) -> list[Candidate]:
        if not ids:
            return []
        sql = self._filled(_FETCH.replace("{each}", _EACH[self._kind]))
        found = self._rows.rows(sql, ids=self._listed(ids), **self.filter.params)
        return [Candidate(number, at, bool(threaded), length, data) for number, at, threaded, length, data in found]

    def newest(self, most: int) -> list[tuple[int, int]]:
        """Ids and times, newest first."""
        driven = f"d.id in ({self._driver}) and " if self._driver else ""
        sql = self._filled(_NEWEST).replace("{driven}", driven)
        return [(number, at) for number, at in self._rows.rows(sql, most=most, **self.filter.params)]

    def neighbours(self, ids: Iterable[int], reach: int) -> dict[int, tuple[list[int], list[int]]]:
        """For each document its neighbours in its thread inside the filter: before and after it, the nearest first."""
        listed = self._listed(ids)
        found: dict[int, tuple[list[int], list[int]]] = {}
        for side, (sign, way) in enumerate((("<", "desc"), (">", "asc"))):
            sql = self._filled(_NEIGHBOURS[self._kind].replace("{beside}", _BESIDE))
            sql = sql.replace("{sign}", sign).replace("{way}", way)
            for document, neighbour in self._rows.rows(sql, ids=listed, most=reach, **self.filter.params):
                found.setdefault(document, ([], []))[side].append(neighbour)
        return found

    def _filled(self, sql: str) -> str:
        return sql.replace("{filter}", self.filter.sql)

    def _listed(self, ids: Iterable[int]) -> str | Sequence[int]:
        """Many ids as one parameter."""
        return orjson.dumps(list(ids)).decode() if self._kind == "sqlite" else list(ids)
