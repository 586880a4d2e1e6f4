"""The documents that are looked at: proposed ones, those of a filter that lets few through, and their neighbours.

Everything that is read here passes the filter, whoever proposed it.
"""
# ruff: noqa: S608 - SQL is put together from texts of ours and names of parameters; what callers send is a parameter

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

import orjson

from tokonoma.core.clock import format_time
from tokonoma.core.desk import Rows
from tokonoma.search.facts import INDEXED_LENGTH
from tokonoma.search.filters import IndexFilter
from tokonoma.store.dialect import DatabaseKind

FEW = 500
"""Documents that are looked at one by one, without being proposed, if a filter lets no more through."""

_EACH = {
    "sqlite": "json_each(:ids) j cross join document d on d.id = j.value",
    "postgresql": "unnest(cast(:ids as bigint[])) j (value) join document d on d.id = j.value",
}
_FETCH = """select d.id, d.at, d.place, d.thread, d.space, d.module, t.data
from {each} join terms t on t.document = d.id where {filter}"""
_SHOWN = "select d.id, d.address, d.module, d.space, d.title from {each} where {filter}"
_DRIVEN = {
    "sqlite": "({driver}) x cross join document d on d.id = x.id",
    "postgresql": "({driver}) x join document d on d.id = x.id",
}
# Without figures about the data SQLite takes an index of the filter, and sorts all that it lets through.
_BY_TIME = {"sqlite": "document d indexed by document_at", "postgresql": "document d"}
_NEWEST = "select distinct d.id, d.at from {source} where {filter} order by d.at desc, d.id desc limit :most"
_DATED = """select d.id, f.text, f.number from {each} join fact f on f.document = d.id
where f.key in ({keys}) and {filter}"""
_BETWEEN = "select d.id from {source} where d.at >= :begin and d.at < :end and {filter} order by d.at desc limit :most"
_DATED_BETWEEN = "select distinct d.id from {source} where {filter} limit :most"
_TOLD_BETWEEN = f"""select f.document as id from fact f where f.key in ({{keys}})
and substr(f.text, 1, {INDEXED_LENGTH}) >= :first and substr(f.text, 1, {INDEXED_LENGTH}) < :last"""
# That the thread has a name is said once more, or its index, which leaves out those without, is not used.
_BESIDE = """select d.id from document d
where d.thread <> '' and d.thread = c.thread and d.space = c.space and d.module = c.module
and (d.place, d.id) {sign} (c.place, c.id) and {filter} order by d.place {way}, d.id {way} limit :most"""
_NEIGHBOURS = {
    "sqlite": """select c.id, n.id from json_each(:ids) j cross join document c on c.id = j.value
    cross join document n on n.id in ({beside}) order by c.id, n.place {way}, n.id {way}""",
    "postgresql": """select c.id, n.id from unnest(cast(:ids as bigint[])) j (value)
    join document c on c.id = j.value cross join lateral ({beside}) b join document n on n.id = b.id
    order by c.id, n.place {way}, n.id {way}""",
}


_DATES = ("date", "time", "ts", "timestamp", "happened_at", "occurred_at", "created_at")
"""Facts that say when something happened, if that is not when it was saved."""

_KEYS = ", ".join(f"'{key}'" for key in _DATES)


class SearchCandidate(NamedTuple):
    """A row as it is read."""

    id: int
    at: int
    place: int
    name: str  # of its thread; empty: it is in none
    space: str
    module: str
    data: bytes

    @property
    def thread(self) -> tuple[str, str, str] | None:
        """The name alone does not make it: it is one of a module and a space."""
        return (self.name, self.space, self.module) if self.name else None


class CandidatePool:
    """The documents inside one filter, as one snapshot has them."""

    def __init__(self, kind: DatabaseKind, rows: Rows, filter: IndexFilter) -> None:
        self._kind: DatabaseKind = kind
        self.rows = rows
        self.filter = filter

    def list_few(self) -> list[int] | None:
        """All that the filter lets through, if one of its parts lets through few; None if none does."""
        driver = self._driver
        if driver is None:
            return None
        sql = f"select distinct d.id from {self._driver_source(driver)} where {self.filter.sql}"
        return [row[0] for row in self.rows.rows(sql, **self.filter.params)]

    def _driver_source(self, driver: str) -> str:
        return _DRIVEN[self._kind].replace("{driver}", driver)

    @cached_property
    def _driver(self) -> str | None:
        """Lists few documents, among which are all that the filter lets through."""
        drivers = [part.driver for part in self.filter.parts if part.driver]
        if not drivers:
            return None
        # Each is counted only until it is clear that it is not the one.
        counted = [f"(select count(*) from (select 1 from ({driver}) x limit :most) y)" for driver in drivers]
        row = self.rows.row(f"select {', '.join(counted)}", most=FEW + 1, **self.filter.params)
        assert row is not None
        fewest = min(row)
        return drivers[row.index(fewest)] if fewest <= FEW else None

    def fetch(self, ids: Collection[int]) -> list[SearchCandidate]:
        if not ids:
            return []
        sql = self._fill_template(_FETCH.replace("{each}", _EACH[self._kind]))
        return [*map(SearchCandidate._make, self.rows.rows(sql, ids=self._encode_ids(ids), **self.filter.params))]

    def fetch_headers(self, ids: Collection[int]) -> dict[int, tuple[str, str, str, str]]:
        """Address, module, space and title."""
        if not ids:
            return {}
        sql = self._fill_template(_SHOWN.replace("{each}", _EACH[self._kind]))
        found = self.rows.rows(sql, ids=self._encode_ids(ids), **self.filter.params)
        return {number: (address, module, space, title) for number, address, module, space, title in found}

    def find_newest(self, most: int) -> list[tuple[int, int]]:
        """Ids and times, newest first."""
        source = self._driver_source(self._driver) if self._driver else _BY_TIME[self._kind]
        sql = self._fill_template(_NEWEST).replace("{source}", source)
        return [(number, at) for number, at in self.rows.rows(sql, most=most, **self.filter.params)]

    def fetch_dates(self, ids: Collection[int]) -> list[tuple[int, str | None, float | None]]:
        """What the facts of these documents say of their time, as a text or as a number."""
        if not ids:
            return []
        sql = self._fill_template(_DATED.replace("{each}", _EACH[self._kind]))
        found = self.rows.rows(sql, ids=self._encode_ids(ids), **self.filter.params)
        return [(number, text, value) for number, text, value in found]

    def find_between(self, begin: int, end: int, most: int) -> list[int]:
        """Documents of that time, by their facts or by when they were saved."""
        span = {"begin": begin, "end": end, "first": format_time(begin)[:10], "last": format_time(end), "most": most}
        params = {**self.filter.params, **span}
        saved = _BETWEEN.replace("{source}", _BY_TIME[self._kind])
        told = _DATED_BETWEEN.replace("{source}", self._driver_source(_TOLD_BETWEEN))
        return [row[0] for sql in (saved, told) for row in self.rows.rows(self._fill_template(sql), **params)]

    def find_neighbours(self, ids: Iterable[int], reach: int) -> list[list[int]]:
        """Each document with its neighbours in its thread, inside the filter: so many on each side, in their order."""
        listed, found = self._encode_ids(ids), dict[int, tuple[list[int], list[int]]]()
        for side, (sign, way) in enumerate((("<", "desc"), (">", "asc"))):
            sql = self._fill_template(_NEIGHBOURS[self._kind].replace("{beside}", _BESIDE))
            sql = sql.replace("{sign}", sign).replace("{way}", way)
            for document, neighbour in self.rows.rows(sql, ids=listed, most=reach, **self.filter.params):
                found.setdefault(document, ([], []))[side].append(neighbour)
        return [[*reversed(before), document, *after] for document, (before, after) in found.items()]

    def _fill_template(self, sql: str) -> str:
        return sql.replace("{keys}", _KEYS).replace("{filter}", self.filter.sql)

    def _encode_ids(self, ids: Iterable[int]) -> str | Sequence[int]:
        """Many ids as one parameter."""
        return orjson.dumps(list(ids)).decode() if self._kind == "sqlite" else list(ids)
