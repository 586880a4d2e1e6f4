"""The codes of one model in memory, and how they follow what is stored. SQLite alone."""

import threading
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from tokonoma.core.desk import Row, Rows
from tokonoma.core.namespaces import is_inside
from tokonoma.search.filters import IndexFilter
from tokonoma.search.vectors.codes import BinaryCoder, CodeQuery, Codes, RowNumbers, propose_rows, rank_rows
from tokonoma.search.vectors.columns import CodeColumns

Location = tuple[str, str, str]
"""Module, space and class of a document: what most filters ask for."""

_PAGE = 2_000  # documents that are read at once
_MOMENT = 120.0  # seconds; nobody reads from one state for longer
# What is in the blocks is no longer among the changes.
_NEWEST = """select max(coalesce((select max(seq) from embedding_change), 0), sealed), sealed
from embedding_model where id = :model"""
_CHANGED = """select distinct document_id from embedding_change where seq > :seq and seq <= :newest
and model in (0, :model) order by document_id"""
_OF_DOCUMENTS = """select e.id, e.document_id, d.module, d.space, d.label
from json_each(:documents) j cross join embedding e on e.document_id = j.value and e.model = :model
cross join document d on d.id = e.document_id order by e.id"""
_DATA = """select e.data from json_each(:ids) j cross join embedding e on e.id = j.value order by e.id"""
_ALL = """select e.id, e.document_id, d.module, d.space, d.label, e.data from embedding e
join document d on d.id = e.document_id where e.id > :after and e.model = :model order by e.id limit :limit"""


@dataclass(frozen=True, slots=True)
class CodeView:
    """What a search looks at while others may add to it."""

    codes: Codes
    ids: RowNumbers
    documents: RowNumbers
    blocked: NDArray[np.bool_] | None

    @property
    def count_open(self) -> int:
        """Rows that a search may propose."""
        return len(self.ids) - (0 if self.blocked is None else int(np.count_nonzero(self.blocked)))

    def propose_ids(self, asked: CodeQuery, wanted: int) -> RowNumbers:
        """Ids of vectors, the most promising first: many times as many as are wanted."""
        return self.ids[self._propose_rows(asked, wanted)]

    def propose_documents(self, asked: CodeQuery, wanted: int) -> list[int]:
        """Documents, the most promising first."""
        places = self._propose_rows(asked, wanted)
        # A document may have several vectors: if they leave too few documents, there were few to begin with.
        return [*islice(dict.fromkeys(self.documents[places].tolist()), wanted)]

    def _propose_rows(self, asked: CodeQuery, wanted: int) -> RowNumbers:
        most = max(1_000, 8 * wanted, len(self.codes) // 400)
        return propose_rows(self.codes, asked, self.blocked, most)

    def rank_documents(self, asked: CodeQuery, documents: Sequence[int]) -> RowNumbers:
        """The same, of these documents alone."""
        among = np.isin(self.documents, np.asarray(documents, np.int64))
        if self.blocked is not None:
            among &= ~self.blocked
        return self.ids[rank_rows(self.codes, asked, np.flatnonzero(among))]


class CodeMemory:
    """Rows are only ever added and blanked, so whoever looks at the first `count` of them is never disturbed."""

    def __init__(self, model: int, dimension: int, centre: bytes | None) -> None:
        self.model, self.dimension, self.centre = model, dimension, centre
        self.coder = BinaryCoder(dimension, None if centre is None else np.frombuffer(centre, np.float32))
        self.columns = CodeColumns(self.coder.bits)
        self.locations: list[Location | None] = [None]  # what a row's `place` stands for; 0: the row is blank
        self.seq = 0  # the last change that was followed
        self.base = -1  # up to which change the stored blocks had it when they were read or written,
        self.stored_rows = 0  # and how many rows they had
        self._numbers: dict[Location, int] = {}
        self._allowed: dict[Any, NDArray[np.bool_]] = {}
        self._followed = 0.0
        self._guard = threading.RLock()

    def build_view(self, filter: IndexFilter) -> CodeView:
        with self._guard:
            columns = self.columns
            return CodeView(columns.codes(), columns.ids(), columns.documents(), self._find_blocked(filter))

    def catch_up(self, rows: Rows) -> bool:
        """Take over what has changed. False: too much was missed, and the codes must be read or made anew."""
        with self._guard:
            newest, sealed = rows.rows(_NEWEST, model=self.model)[0]
            if newest == self.seq:
                return True
            if newest < self.seq:
                # The caller looks at a state from a moment ago; or for good, after a backup was restored.
                return time.monotonic() - self._followed < _MOMENT
            if self.seq < sealed:
                return False
            changed = [row[0] for row in rows.rows(_CHANGED, seq=self.seq, newest=newest, model=self.model)]
            for start in range(0, len(changed), _PAGE):
                self._apply_changes(rows, changed[start : start + _PAGE])
            self.set_position(newest)
            return True

    def set_position(self, seq: int) -> None:
        self.seq, self._followed = seq, time.monotonic()

    def build(self, rows: Rows) -> None:
        """From the vectors themselves: the slow way, when no blocks are stored."""
        newest, sealed = rows.rows(_NEWEST, model=self.model)[0]
        after = 0
        while found := rows.rows(_ALL, after=after, model=self.model, limit=_PAGE):
            self._add(found, [row[5] for row in found])
            after = found[-1][0]
        self.set_position(newest)
        self.base = sealed

    def number_location(self, place: Location) -> int:
        known = self._numbers.get(place)
        if known is None:
            known = self._numbers[place] = len(self.locations)
            self.locations.append(place)
        return known

    def measure_memory(self) -> int:
        """Bytes."""
        return self.columns.measure_memory()

    def _apply_changes(self, rows: Rows, documents: list[int]) -> None:
        found = rows.rows(_OF_DOCUMENTS, documents=_to_json(documents), model=self.model)
        columns = self.columns
        old = np.flatnonzero(np.isin(columns.documents(), np.asarray(documents, np.int64)))
        there = {int(columns.ids()[at]): int(at) for at in old}
        places = {there[row[0]]: self.number_location((row[2], row[3], row[4])) for row in found if row[0] in there}
        for at in old:
            columns.set_location(int(at), places.get(int(at), 0))
        new = [row for row in found if row[0] not in there]
        if new:
            self._add(new, [row[0] for row in rows.rows(_DATA, ids=_to_json([row[0] for row in new]))])

    def _add(self, found: Sequence[Row], data: Sequence[bytes]) -> None:
        vectors = np.frombuffer(b"".join(data), np.float32).reshape(len(data), self.dimension)
        places = [self.number_location((row[2], row[3], row[4])) for row in found]
        self.columns.add([row[0] for row in found], [row[1] for row in found], places, self.coder.encode(vectors))

    def _find_blocked(self, filter: IndexFilter) -> NDArray[np.bool_] | None:
        """Rows that lie outside the simple part of the filter, or are blank; None: there are none."""
        allowed = self._find_allowed(filter)
        if allowed[1:].all():
            return self.columns.locations() == 0 if self.columns.blank else None
        return ~allowed[self.columns.locations()]

    def _find_allowed(self, filter: IndexFilter) -> NDArray[np.bool_]:
        """By the number of the place. Kept, for callers ask with the same few filters; places are only ever added."""
        key = (filter.modules, filter.namespaces, filter.classifications)
        known = self._allowed.pop(key, np.zeros(1, np.bool_))
        if len(known) < len(self.locations):
            more = [_matches_filter(place, filter) for place in self.locations[len(known) :]]
            known = np.concatenate([known, np.asarray(more, np.bool_)])
        self._allowed[key] = known
        if len(self._allowed) > 64:
            del self._allowed[next(iter(self._allowed))]
        return known


def _to_json(ids: Sequence[int]) -> str:
    return orjson.dumps(ids).decode()


def _matches_filter(place: Location | None, filter: IndexFilter) -> bool:
    assert place is not None
    module, space, label = place
    return (
        _is_allowed(module, filter.modules)
        and _is_allowed(label, filter.classifications)
        and all(is_inside(space, tree) for tree in filter.namespaces)
    )


def _is_allowed(word: str, allowed: Collection[str] | None) -> bool:
    return allowed is None or word in allowed
