"""The documents that a search looks at: proposed ones, those of a filter that lets few through, and their neighbours.

Everything that is read here passes the filter, whatever proposed it. A thread is a row of documents in the order in
which they came. Documents outside the filter are skipped: those on both sides of them count as neighbours.
"""
# ruff: noqa: S608 - SQL is built from our own texts and names of parameters; what callers send is a parameter

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import orjson

from tokonoma.core.clock import format_time
from tokonoma.core.desk import Row, Rows
from tokonoma.search.filters import INDEXED_LENGTH, IndexFilter
from tokonoma.search.tuning import TUNING
from tokonoma.store.dialect import DatabaseKind

_EACH = {
    "sqlite": "json_each(:ids) j cross join document d on d.id = j.value",
    "postgresql": "unnest(cast(:ids as bigint[])) j (value) join document d on d.id = j.value",
}
_FETCH = """select d.id, d.at, d.place, d.thread, d.space, d.module, t.data
from {each} join terms t on t.document = d.id where {filter}"""
_HEADERS = "select d.id, d.address, d.module, d.space, d.title from {each} where {filter}"
_MARKS = """select d.id, d.address, d.valid_from, d.valid_until from {each} where {filter}
and (d.valid_from is not null or d.valid_until is not null or exists (
    select 1 from successor s where s.older = d.address))"""
_MASKED = "select d.id from {each} where d.masked <> '' and {filter}"
_LIKE = """select d.id, d.address, d.space, d.author, d.masked <> '', t.data,
exists (select 1 from successor s where s.older = d.address)
from {each} join terms t on t.document = d.id where {filter}"""
# The order of the joins is fixed on SQLite: it would look at all documents of the filter.
_EACH_OR_ADDRESS = {
    "sqlite": """(select o.id as value from ({texts}) a cross join document o on o.address = a.value
    union select value from json_each(:ids)) j cross join document d on d.id = j.value""",
    "postgresql": """(select o.id as value from ({texts}) a join document o on o.address = a.value
    union select value from unnest(cast(:ids as bigint[])) x (value)) j join document d on d.id = j.value""",
}
_DRIVEN = {
    "sqlite": "({driver}) x cross join document d on d.id = x.id",
    "postgresql": "({driver}) x join document d on d.id = x.id",
}
# Without statistics about the data SQLite takes an index of the filter, and sorts all that it lets through.
_BY_TIME = {"sqlite": "document d indexed by document_at", "postgresql": "document d"}
_NEWEST = """select distinct d.id, d.at from {source}
where d.at <= :after_at and (d.at < :after_at or d.id < :after_id) and {filter}
order by d.at desc, d.id desc limit :most"""
_DATED = """select d.id, f.text, f.number from {each} join fact f on f.document = d.id
where f.key in ({keys}) and {filter}"""
_SAVED_BETWEEN = """select d.id from {source} where d.at >= :begin and d.at < :end and {filter}
order by d.at desc limit :most"""
_DATED_BETWEEN = "select distinct d.id from {source} where {filter} limit :most"
_FACTS_BETWEEN = f"""select f.document as id from fact f where f.key in ({{keys}})
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
# Facts that say when something happened, if that is not when it was saved.
_KEYS = "'date', 'time', 'ts', 'timestamp', 'happened_at', 'occurred_at', 'created_at'"
ThreadPosition = tuple[Hashable, int]  # a thread, and a number in it: neighbours' numbers differ by one
_GAP = 100  # between the numbers of two parts of threads that do not touch


class SearchCandidate(NamedTuple):
    """A row of the index as it is read."""

    id: int
    at: int
    place: int
    thread_name: str  # empty: it is in none
    namespace: str
    module: str
    data: bytes

    @property
    def thread(self) -> tuple[str, str, str] | None:
        """A thread belongs to one module and one namespace."""
        return (self.thread_name, self.namespace, self.module) if self.thread_name else None


class LikeCandidate(NamedTuple):
    """A record that may be like another."""

    id: int
    address: str
    namespace: str
    author: str
    is_masked: bool  # something in it is hidden from some callers
    data: bytes
    is_replaced: bool  # by a record that the caller may not be allowed to see


class CandidatePool:
    """The documents inside one filter, in one snapshot of the database."""

    def __init__(self, kind: DatabaseKind, rows: Rows, filter: IndexFilter) -> None:
        self._kind: DatabaseKind = kind
        self.rows = rows
        self.filter = filter

    def list_few(self) -> list[int] | None:
        """All that the filter lets through, if one of its parts lets through few; None if none does."""
        if self._driver is None:
            return None
        sql = f"select distinct d.id from {self._driver_source(self._driver)} where {self.filter.sql}"
        return [row[0] for row in self.rows.rows(sql, **self.filter.params)]

    def _driver_source(self, driver: str) -> str:
        return _DRIVEN[self._kind].replace("{driver}", driver)

    @cached_property
    def _driver(self) -> str | None:
        """A select that lists few documents, among which are all that the filter lets through."""
        drivers = [part.driver for part in self.filter.parts if part.driver]
        if not drivers:
            return None
        # Each is counted only as far as it takes to see that there are too many.
        counted = [f"(select count(*) from (select 1 from ({driver}) x limit :most) y)" for driver in drivers]
        row = self.rows.rows(f"select {', '.join(counted)}", most=TUNING.few_documents + 1, **self.filter.params)[0]
        fewest = min(row)
        return drivers[row.index(fewest)] if fewest <= TUNING.few_documents else None

    def fetch(self, ids: Collection[int]) -> list[SearchCandidate]:
        return [*map(SearchCandidate._make, self._query_each(_FETCH, ids))]

    def fetch_headers(self, ids: Collection[int]) -> dict[int, list[str]]:
        """Address, module, namespace and title."""
        return {number: header for number, *header in self._query_each(_HEADERS, ids)}

    def list_masked(self, ids: Collection[int]) -> set[int]:
        """Those of them in which something is hidden from some callers."""
        return {row[0] for row in self._query_each(_MASKED, ids)}

    def fetch_like(self, ids: Collection[int], addresses: Collection[str]) -> list[LikeCandidate]:
        """Those with one of these ids or at one of these addresses."""
        sql = self._fill_template(_LIKE.replace("{each}", _EACH_OR_ADDRESS[self._kind]))
        texts, listed = orjson.dumps(sorted(addresses)).decode(), self._encode_ids(ids)
        return [*map(LikeCandidate._make, self.rows.rows(sql, texts=texts, ids=listed, **self.filter.params))]

    def fetch_marks(self, ids: Collection[int]) -> Sequence[Row]:
        """Address, begin and end of those that hold for a time only, or that another record replaces."""
        return self._query_each(_MARKS, ids)

    def fetch_dates(self, ids: Collection[int]) -> Sequence[Row]:
        """What the facts of these documents say of their time, as a text or as a number."""
        return self._query_each(_DATED, ids)

    def find_newest(self, most: int, after: tuple[int, int] | None = None) -> list[tuple[int, int]]:
        """Ids and times, newest first; `after`: only those that follow this time and id."""
        source = self._driver_source(self._driver) if self._driver else _BY_TIME[self._kind]
        sql = self._fill_template(_NEWEST).replace("{source}", source)
        at, last = after or (2**62, 0)
        found = self.rows.rows(sql, most=most, after_at=at, after_id=last, **self.filter.params)
        return [(number, at) for number, at in found]

    def find_between(self, begin: int, end: int, most: int) -> list[int]:
        """Documents of that time, by their facts or by when they were saved."""
        span = {"begin": begin, "end": end, "first": format_time(begin)[:10], "last": format_time(end), "most": most}
        params = {**self.filter.params, **span}
        saved = _SAVED_BETWEEN.replace("{source}", _BY_TIME[self._kind])
        dated = _DATED_BETWEEN.replace("{source}", self._driver_source(_FACTS_BETWEEN))
        return [row[0] for sql in (saved, dated) for row in self.rows.rows(self._fill_template(sql), **params)]

    def find_neighbours(self, ids: Iterable[int], reach: int) -> list[list[int]]:
        """Each document with up to `reach` neighbours on either side in its thread, in their order."""
        listed, found = self._encode_ids(ids), dict[int, tuple[list[int], list[int]]]()
        for side, (sign, way) in enumerate((("<", "desc"), (">", "asc"))):
            sql = self._fill_template(_NEIGHBOURS[self._kind].replace("{beside}", _BESIDE))
            sql = sql.replace("{sign}", sign).replace("{way}", way)
            for document, neighbour in self.rows.rows(sql, ids=listed, most=reach, **self.filter.params):
                found.setdefault(document, ([], []))[side].append(neighbour)
        return [[*reversed(before), document, *after] for document, (before, after) in found.items()]

    def list_failed_parts(self, number: int) -> list[str]:
        """Descriptions of the parts of the filter that this document does not pass."""
        parts = self.filter.parts
        tests = ", ".join(f"case when {part.sql} then 1 else 0 end" for part in parts)
        row = self.rows.rows(f"select {tests} from document d where d.id = :id", id=number, **self.filter.params)[0]
        return [part.description for part, passes in zip(parts, row, strict=True) if not passes]

    def _query_each(self, template: str, ids: Collection[int]) -> Sequence[Row]:
        if not ids:
            return []
        sql = self._fill_template(template.replace("{each}", _EACH[self._kind]))
        return self.rows.rows(sql, ids=self._encode_ids(ids), **self.filter.params)

    def _fill_template(self, sql: str) -> str:
        return sql.replace("{keys}", _KEYS).replace("{filter}", self.filter.sql)

    def _encode_ids(self, ids: Iterable[int]) -> str | Sequence[int]:
        """Many ids as one parameter."""
        return orjson.dumps(list(ids)).decode() if self._kind == "sqlite" else list(ids)


def assign_positions(candidates: Iterable[SearchCandidate]) -> dict[int, ThreadPosition]:
    """All documents of each thread are given."""
    threads: dict[Hashable, list[SearchCandidate]] = {}
    for each in candidates:
        if each.thread is not None:
            threads.setdefault(each.thread, []).append(each)
    return {
        each.id: (thread, position)
        for thread, row in threads.items()
        for position, each in enumerate(sorted(row, key=lambda each: (each.place, each.id)))
    }


def assign_partial_positions(
    rows: Iterable[Sequence[int]], candidates: Mapping[int, SearchCandidate]
) -> dict[int, ThreadPosition]:
    """Parts of threads are given, which may overlap: between two parts that do not touch, some are missing."""
    beside = {pair for row in rows for pair in pairwise(row)}
    present = {number for row in rows for number in row}
    threads = assign_positions(candidates[number] for number in present if number in candidates)
    positions: dict[int, ThreadPosition] = {}
    last: int | None = None
    shift = 0
    for number, (thread, position) in threads.items():
        if last is None or (last, number) not in beside:
            shift += _GAP
        positions[number] = (thread, position + shift)
        last = number
    return positions


def weigh_neighbours(numbers: Iterable[int], positions: Mapping[int, ThreadPosition]) -> dict[int, dict[int, float]]:
    """For each of these documents that has a position: its neighbours, and the share of theirs that it takes."""
    taken = {position: number for number, position in positions.items()}
    found: dict[int, dict[int, float]] = {}
    for number in numbers:
        if number in positions:
            thread, place = positions[number]
            around = {taken.get((thread, place + step)): share for step, share in TUNING.neighbour_shares.items()}
            found[number] = {other: share for other, share in around.items() if other is not None}
    return found


def blend_with_neighbours(own: float, around: Mapping[int, float], levels: Mapping[int, float]) -> float:
    """The document's own level, or the mean of it and its neighbours', whichever is more: what a turn of a conversation
    means shows in the turns around it, too, and a record that stands alone counts as much as one of a thread."""
    total = 1.0 + sum(TUNING.neighbour_shares.values())
    return max(own, (own + sum(part * levels.get(other, 0.0) for other, part in around.items())) / total)
