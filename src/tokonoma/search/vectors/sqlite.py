"""Searching by vectors on SQLite: candidates from codes in memory, compared exactly with the stored vectors."""
# ruff: noqa: S608 - a filter's SQL is ours; what callers send is a parameter

import threading
from collections.abc import Iterator, Sequence

import numpy as np
import orjson

from tokonoma.core.desk import Rows, Statements
from tokonoma.search.candidates import CandidatePool
from tokonoma.search.filters import IndexFilter
from tokonoma.search.vector_leg import VectorMatch
from tokonoma.search.vectors import blocks
from tokonoma.search.vectors.codes import CodeQuery, Floats, RowNumbers
from tokonoma.search.vectors.memory import CodeMemory, CodeView
from tokonoma.search.vectors.store import QueryVector, StoredModel, decode_vectors, merge_matches, select_best
from tokonoma.store.database import Database

_EXACT = """select e.document_id, e.piece, e.language, e.data
from json_each(:ids) j cross join embedding e on e.id = j.value
cross join document d on d.id = e.document_id where """
_SOME = """select e.document_id, e.piece, e.language, e.data from json_each(:documents) j
cross join embedding e on e.document_id = j.value and e.model = :model"""


class SqliteVectorBackend:
    """One a process; holds the codes of each model that was asked for."""

    def __init__(self) -> None:
        self._memories: dict[int, CodeMemory] = {}
        self._guard = threading.Lock()

    def find_nearest(
        self, rows: Rows, model: StoredModel, asked: QueryVector, filter: IndexFilter, limit: int
    ) -> dict[int, VectorMatch]:
        """Documents inside the filter with their cosine: the nearest `limit`, and some more."""
        few = CandidatePool("sqlite", rows, filter).list_few() if filter.narrow else None
        if few is not None:
            return self.compare(rows, model, asked, few)
        memory = self._get_memory(rows, model)
        view = memory.build_view(filter)
        question = memory.coder.encode_query(asked.vector)
        # Enough that the true nearest are among them: see bench/vectors.py for how often they are.
        wanted = 60 + 2 * limit + len(view.codes) // 10_000
        ids = view.propose_ids(question, wanted)
        found, checked = self._compare_in_order(rows, ids, asked, filter, wanted)
        if checked >= wanted or len(ids) >= view.count_open:
            return found
        return self._search_filtered(rows, view, question, asked, filter, wanted)

    def propose(self, rows: Rows, model: StoredModel, asked: QueryVector, filter: IndexFilter, limit: int) -> list[int]:
        """By their codes alone, unless the filter asks for what those do not know."""
        if filter.narrow:
            return list(self.find_nearest(rows, model, asked, filter, limit))
        memory = self._get_memory(rows, model)
        view = memory.build_view(filter)
        return view.propose_documents(memory.coder.encode_query(asked.vector), limit)

    def compare(
        self, rows: Rows, model: StoredModel, asked: QueryVector, documents: Sequence[int]
    ) -> dict[int, VectorMatch]:
        listed = orjson.dumps(list(documents)).decode()
        return _select_best(rows.rows(_SOME, documents=listed, model=model.id), asked.vector)

    def maintain(self, database: Database, model: StoredModel) -> bool:
        """Store the codes, if enough has changed since they were. Whether they were."""
        known = self._memories.get(model.id)
        with database.reading() as rows:
            if not blocks.is_save_due(rows, known, model.id):
                return False
            memory = self._get_memory(rows, model)
        sealed = blocks.save_blocks(database, memory)
        with self._guard:
            if sealed is None:
                self._memories.pop(model.id, None)  # others have sealed: theirs are read when they are needed
            else:
                self._memories[model.id] = sealed
        return sealed is not None

    def drop_model(self, statements: Statements, model: StoredModel) -> None:
        statements.run("delete from embedding_block where model = :model", model=model.id)
        with self._guard:
            self._memories.pop(model.id, None)

    def measure_memory(self) -> int:
        """Bytes of memory."""
        return sum(memory.measure_memory() for memory in self._memories.values())

    def _get_memory(self, rows: Rows, model: StoredModel) -> CodeMemory:
        with self._guard:
            memory = self._memories.get(model.id)
            if memory is None or not memory.catch_up(rows):
                memory = self._memories[model.id] = blocks.load_codes(rows, model.id)
            return memory

    def _compare_in_order(
        self, rows: Rows, ids: RowNumbers, asked: QueryVector, filter: IndexFilter, wanted: int
    ) -> tuple[dict[int, VectorMatch], int]:
        """Exactly compared, in order, until enough are inside the filter; how many were."""
        found: dict[int, VectorMatch] = {}
        inside = 0
        for part in _split_growing(ids, wanted):
            listed = orjson.dumps(np.sort(part).tolist()).decode()
            rows_inside = rows.rows(_EXACT + filter.sql, ids=listed, **filter.params)
            inside += len(rows_inside)
            for document, like in _select_best(rows_inside, asked.vector).items():
                known = found.get(document)
                found[document] = like if known is None else merge_matches(known, like)
            if inside >= wanted:
                break
        return found, inside

    def _search_filtered(
        self, rows: Rows, view: CodeView, question: CodeQuery, asked: QueryVector, filter: IndexFilter, wanted: int
    ) -> dict[int, VectorMatch]:
        """So few of the promising ones are inside the filter that it is asked to name all who are."""
        sql = f"select d.id from document d where {filter.sql}"
        named = [row[0] for row in rows.rows(sql, **filter.params)]
        ids = view.rank_documents(question, named)
        return self._compare_in_order(rows, ids, asked, filter, wanted)[0]


def _split_growing(ids: RowNumbers, first: int) -> Iterator[RowNumbers]:
    start, size = 0, first
    while start < len(ids):
        yield ids[start : start + size]
        start, size = start + size, size * 2


def _select_best(found: Sequence[tuple[int, int, str, bytes]], vector: Floats) -> dict[int, VectorMatch]:
    """For each document its best piece, and its title."""
    if not found:
        return {}
    documents, pieces, languages, data = zip(*found, strict=True)
    cosines = (decode_vectors("sqlite", data) @ vector).clip(-1.0, 1.0).tolist()
    return select_best(zip(documents, pieces, languages, cosines, strict=True))
