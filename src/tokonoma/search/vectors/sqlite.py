"""Searching by vectors on SQLite: candidates from codes in memory, compared exactly with the stored vectors."""
# ruff: noqa: S608 - a filter's SQL is ours; what callers send is a parameter

import threading
from collections.abc import Iterator, Sequence

import numpy as np
import orjson

from tokonoma.core.desk import Rows, Statements
from tokonoma.search.candidates import Pool
from tokonoma.search.filters import Filter
from tokonoma.search.vector_leg import Likeness
from tokonoma.search.vectors import blocks
from tokonoma.search.vectors.codes import Floats, Places, Question
from tokonoma.search.vectors.memory import Memory, View
from tokonoma.search.vectors.store import Asked, Model, best, joined, read
from tokonoma.store.database import Database

_EXACT = """select e.document_id, e.piece, e.language, e.data
from json_each(:ids) j cross join embedding e on e.id = j.value
cross join document d on d.id = e.document_id where """
_SOME = """select e.document_id, e.piece, e.language, e.data from json_each(:documents) j
cross join embedding e on e.document_id = j.value and e.model = :model"""


class SqliteNear:
    """One a process; holds the codes of each model that was asked for."""

    def __init__(self) -> None:
        self._memories: dict[int, Memory] = {}
        self._guard = threading.Lock()

    def near(self, rows: Rows, model: Model, asked: Asked, filter: Filter, limit: int) -> dict[int, Likeness]:
        """Documents inside the filter with their cosine: the nearest `limit`, and some more."""
        few = Pool("sqlite", rows, filter).few() if filter.narrow else None
        if few is not None:
            return self.similarities(rows, model, asked, few)
        memory = self._memory(rows, model)
        view = memory.view(filter)
        question = memory.coder.question(asked.vector)
        # Enough that the true nearest are among them: see bench/vectors.py for how often they are.
        wanted = 60 + 2 * limit + len(view.codes) // 10_000
        ids = view.promising(question, wanted)
        found, checked = self._checked(rows, ids, asked, filter, wanted)
        if checked >= wanted or len(ids) >= view.open:
            return found
        return self._driven(rows, view, question, asked, filter, wanted)

    def likely(self, rows: Rows, model: Model, asked: Asked, filter: Filter, limit: int) -> list[int]:
        """By their codes alone, unless the filter asks for what those do not know."""
        if filter.narrow:
            return list(self.near(rows, model, asked, filter, limit))
        memory = self._memory(rows, model)
        view = memory.view(filter)
        return view.likely(memory.coder.question(asked.vector), limit)

    def similarities(self, rows: Rows, model: Model, asked: Asked, documents: Sequence[int]) -> dict[int, Likeness]:
        listed = orjson.dumps(list(documents)).decode()
        return _best(rows.rows(_SOME, documents=listed, model=model.id), asked.vector)

    def settle(self, database: Database, model: Model) -> bool:
        """Store the codes, if enough has changed since they were. Whether they were."""
        known = self._memories.get(model.id)
        with database.reading() as rows:
            if not blocks.due(rows, known, model.id):
                return False
            memory = self._memory(rows, model)
        sealed = blocks.seal(database, memory)
        with self._guard:
            if sealed is None:
                self._memories.pop(model.id, None)  # others have sealed: theirs are read when they are needed
            else:
                self._memories[model.id] = sealed
        return sealed is not None

    def forget(self, statements: Statements, model: Model) -> None:
        statements.run("delete from embedding_block where model = :model", model=model.id)
        with self._guard:
            self._memories.pop(model.id, None)

    def size(self) -> int:
        """Bytes of memory."""
        return sum(memory.size() for memory in self._memories.values())

    def _memory(self, rows: Rows, model: Model) -> Memory:
        with self._guard:
            memory = self._memories.get(model.id)
            if memory is None or not memory.follow(rows):
                memory = self._memories[model.id] = blocks.load(rows, model.id)
            return memory

    def _checked(
        self, rows: Rows, ids: Places, asked: Asked, filter: Filter, wanted: int
    ) -> tuple[dict[int, Likeness], int]:
        """Exactly compared, in order, until enough are inside the filter; how many were."""
        found: dict[int, Likeness] = {}
        inside = 0
        for part in _portions(ids, wanted):
            listed = orjson.dumps(np.sort(part).tolist()).decode()
            rows_inside = rows.rows(_EXACT + filter.sql, ids=listed, **filter.params)
            inside += len(rows_inside)
            for document, like in _best(rows_inside, asked.vector).items():
                known = found.get(document)
                found[document] = like if known is None else joined(known, like)
            if inside >= wanted:
                break
        return found, inside

    def _driven(
        self, rows: Rows, view: View, question: Question, asked: Asked, filter: Filter, wanted: int
    ) -> dict[int, Likeness]:
        """So few of the promising ones are inside the filter that it is asked to name all who are."""
        sql = f"select d.id from document d where {filter.sql}"
        named = [row[0] for row in rows.rows(sql, **filter.params)]
        ids = view.of_documents(question, named)
        return self._checked(rows, ids, asked, filter, wanted)[0]


def _portions(ids: Places, first: int) -> Iterator[Places]:
    start, size = 0, first
    while start < len(ids):
        yield ids[start : start + size]
        start, size = start + size, size * 2


def _best(found: Sequence[tuple[int, int, str, bytes]], vector: Floats) -> dict[int, Likeness]:
    """For each document its best piece, and its title."""
    if not found:
        return {}
    documents, pieces, languages, data = zip(*found, strict=True)
    cosines = (read("sqlite", data) @ vector).clip(-1.0, 1.0).tolist()
    return best(zip(documents, pieces, languages, cosines, strict=True))
