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
from tokonoma.core.namespaces import inside
from tokonoma.search.filters import Filter
from tokonoma.search.vectors.codes import Coder, Codes, Places, Question, promising, ranked
from tokonoma.search.vectors.columns import Columns

Place = tuple[str, str, str]
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
class View:
    """What a search looks at while others may add to it."""

    codes: Codes
    ids: Places
    documents: Places
    blocked: NDArray[np.bool_] | None

    @property
    def open(self) -> int:
        """Rows that a search may propose."""
        return len(self.ids) - (0 if self.blocked is None else int(np.count_nonzero(self.blocked)))

    def promising(self, asked: Question, wanted: int) -> Places:
        """Ids of vectors, the most promising first: many times as many as are wanted."""
        return self.ids[self._places(asked, wanted)]

    def likely(self, asked: Question, wanted: int) -> list[int]:
        """Documents, the most promising first."""
        places = self._places(asked, wanted)
        # A document may have several vectors: if they leave too few documents, there were few to begin with.
        return [*islice(dict.fromkeys(self.documents[places].tolist()), wanted)]

    def _places(self, asked: Question, wanted: int) -> Places:
        most = max(1_000, 8 * wanted, len(self.codes) // 400)
        return promising(self.codes, asked, self.blocked, most)

    def of_documents(self, asked: Question, documents: Sequence[int]) -> Places:
        """The same, of these documents alone."""
        among = np.isin(self.documents, np.asarray(documents, np.int64))
        if self.blocked is not None:
            among &= ~self.blocked
        return self.ids[ranked(self.codes, asked, np.flatnonzero(among))]


class Memory:
    """Rows are only ever added and blanked, so whoever looks at the first `count` of them is never disturbed."""

    def __init__(self, model: int, dimension: int, centre: bytes | None) -> None:
        self.model, self.dimension, self.centre = model, dimension, centre
        self.coder = Coder(dimension, None if centre is None else np.frombuffer(centre, np.float32))
        self.columns = Columns(self.coder.bits)
        self.names: list[Place | None] = [None]  # what a row's `place` stands for; 0: the row is blank
        self.seq = 0  # the last change that was followed
        self.base = -1  # up to which change the stored blocks had it when they were read or written,
        self.stored = 0  # and how many rows they had
        self._numbers: dict[Place, int] = {}
        self._allowed: dict[Any, NDArray[np.bool_]] = {}
        self._followed = 0.0
        self._guard = threading.RLock()

    def view(self, filter: Filter) -> View:
        with self._guard:
            columns = self.columns
            return View(columns.codes(), columns.ids(), columns.documents(), self._blocked(filter))

    def follow(self, rows: Rows) -> bool:
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
                self._take_over(rows, changed[start : start + _PAGE])
            self.reached(newest)
            return True

    def reached(self, seq: int) -> None:
        self.seq, self._followed = seq, time.monotonic()

    def build(self, rows: Rows) -> None:
        """From the vectors themselves: the slow way, when no blocks are stored."""
        newest, sealed = rows.rows(_NEWEST, model=self.model)[0]
        after = 0
        while found := rows.rows(_ALL, after=after, model=self.model, limit=_PAGE):
            self._add(found, [row[5] for row in found])
            after = found[-1][0]
        self.reached(newest)
        self.base = sealed

    def number(self, place: Place) -> int:
        known = self._numbers.get(place)
        if known is None:
            known = self._numbers[place] = len(self.names)
            self.names.append(place)
        return known

    def size(self) -> int:
        """Bytes."""
        return self.columns.size()

    def _take_over(self, rows: Rows, documents: list[int]) -> None:
        found = rows.rows(_OF_DOCUMENTS, documents=_listed(documents), model=self.model)
        columns = self.columns
        old = np.flatnonzero(np.isin(columns.documents(), np.asarray(documents, np.int64)))
        there = {int(columns.ids()[at]): int(at) for at in old}
        places = {there[row[0]]: self.number((row[2], row[3], row[4])) for row in found if row[0] in there}
        for at in old:
            columns.move(int(at), places.get(int(at), 0))
        new = [row for row in found if row[0] not in there]
        if new:
            self._add(new, [row[0] for row in rows.rows(_DATA, ids=_listed([row[0] for row in new]))])

    def _add(self, found: Sequence[Row], data: Sequence[bytes]) -> None:
        vectors = np.frombuffer(b"".join(data), np.float32).reshape(len(data), self.dimension)
        places = [self.number((row[2], row[3], row[4])) for row in found]
        self.columns.add([row[0] for row in found], [row[1] for row in found], places, self.coder.codes(vectors))

    def _blocked(self, filter: Filter) -> NDArray[np.bool_] | None:
        """Rows that lie outside the simple part of the filter, or are blank; None: there are none."""
        allowed = self._lets_through(filter)
        if allowed[1:].all():
            return self.columns.places() == 0 if self.columns.blank else None
        return ~allowed[self.columns.places()]

    def _lets_through(self, filter: Filter) -> NDArray[np.bool_]:
        """By the number of the place. Kept, for callers ask with the same few filters; places are only ever added."""
        key = (filter.modules, filter.spaces, filter.labels)
        known = self._allowed.pop(key, np.zeros(1, np.bool_))
        if len(known) < len(self.names):
            more = [_inside(place, filter) for place in self.names[len(known) :]]
            known = np.concatenate([known, np.asarray(more, np.bool_)])
        self._allowed[key] = known
        if len(self._allowed) > 64:
            del self._allowed[next(iter(self._allowed))]
        return known


def _listed(ids: Sequence[int]) -> str:
    return orjson.dumps(ids).decode()


def _inside(place: Place | None, filter: Filter) -> bool:
    assert place is not None
    module, space, label = place
    return (
        _among(module, filter.modules)
        and _among(label, filter.labels)
        and all(inside(space, tree) for tree in filter.spaces)
    )


def _among(word: str, allowed: Collection[str] | None) -> bool:
    return allowed is None or word in allowed
