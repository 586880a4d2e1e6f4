"""The nearest vectors on SQLite: candidates from one-bit codes in memory, compared exactly with the stored vectors."""

import threading
from collections.abc import Sequence

import numpy as np
import orjson

from tokonoma.core.desk import Row, Rows, Statements
from tokonoma.core.embedding import StoredModel
from tokonoma.search.filters import IndexFilter
from tokonoma.search.tuning import TUNING
from tokonoma.search.vectors.codes import RowNumbers
from tokonoma.search.vectors.memory import CodeMemory, is_save_due, load_codes, save_blocks
from tokonoma.search.vectors.store import (
    QueryVector,
    VectorMatch,
    compare_pieces,
    compare_subwords,
    merge_matches,
)
from tokonoma.store.database import Database
from tokonoma.store.dialect import DatabaseKind

Matches = dict[int, VectorMatch]
_QUICK_AGE = 2.0  # seconds

_SQLITE_EXACT = """select e.document_id, e.piece, e.language, e.data
from json_each(:ids) j cross join embedding e on e.id = j.value
cross join document d on d.id = e.document_id where """
_SQLITE_SOME = """select e.document_id, e.piece, e.language, e.data, e.subwords from json_each(:documents) j
cross join embedding e on e.document_id = j.value and e.model = :model"""


class SqliteVectorBackend:
    """One per process; holds the codes of each model that was used."""

    def __init__(self) -> None:
        self._memories: dict[int, CodeMemory] = {}
        self._lock = threading.Lock()

    def find_nearest(
        self, rows: Rows, model: StoredModel, query: QueryVector, filter: IndexFilter, limit: int
    ) -> Matches:
        """Documents inside the filter with their cosine: the nearest `limit`, and some more."""
        memory = self._get_memory(rows, model)
        view = memory.build_view(filter)
        code_query = memory.coder.encode_query(query.vector)
        # Enough that the true nearest are among them: bench/vectors.py measures how often they are.
        wanted = TUNING.rescored + 2 * limit + len(view.codes) // TUNING.rescored_one_in
        ids = view.propose_ids(code_query, wanted)
        found, inside = _compare_in_order(rows, ids, query, filter, wanted)
        if inside >= wanted or len(ids) >= view.open_count:
            return found
        # So few proposals are inside the filter that it lists all of its documents.
        listed = rows.rows(f"select d.id from document d where {filter.sql}", **filter.params)  # noqa: S608 - our own text
        ids = view.rank_documents(code_query, [row[0] for row in listed])
        return _compare_in_order(rows, ids, query, filter, wanted)[0]

    def propose(
        self,
        rows: Rows,
        model: StoredModel,
        query: QueryVector,
        filter: IndexFilter,
        limit: int,
        *,
        quick: bool = False,
    ) -> list[int]:
        """By their codes alone; `quick`: by fewer of them, as they were a moment ago."""
        memory = self._get_memory(rows, model, _QUICK_AGE if quick else 0.0)
        return memory.build_view(filter).propose_documents(memory.coder.encode_query(query.vector), limit, quick=quick)

    def compare(self, rows: Rows, model: StoredModel, query: QueryVector, documents: Sequence[int]) -> Matches:
        return compare_all("sqlite", self.read_pieces(rows, model.id, documents), query)

    def read_pieces(self, rows: Rows, model: int, documents: Sequence[int]) -> Sequence[Row]:
        """Document, piece, language, vector and parts of words."""
        return rows.rows(_SQLITE_SOME, documents=orjson.dumps(list(documents)).decode(), model=model)

    def maintain(self, database: Database, model: StoredModel) -> bool:
        """Store the codes, if enough has changed since the last time. Returns whether they were stored."""
        with database.reading() as rows:
            if not is_save_due(rows, self._memories.get(model.id), model.id):
                return False
            memory = self._get_memory(rows, model)
        saved = save_blocks(database, memory)
        with self._lock:
            if saved is None:
                self._memories.pop(model.id, None)  # another process stored them: they are read when needed
            else:
                self._memories[model.id] = saved
        return saved is not None

    def finish_index(self, database: Database, model: StoredModel) -> None:
        """There is none: codes are searched from one end to the other."""

    def drop_model(self, statements: Statements, model: StoredModel) -> None:
        statements.run("delete from embedding_block where model = :model", model=model.id)
        with self._lock:
            self._memories.pop(model.id, None)

    def measure_memory(self) -> int:
        return sum(memory.measure_memory() for memory in self._memories.values())

    def _get_memory(self, rows: Rows, model: StoredModel, age: float = 0.0) -> CodeMemory:
        """As of now, or up to so many seconds old."""
        with self._lock:
            memory = self._memories.get(model.id)
            if memory is None or not (memory.is_fresh(age) or memory.catch_up(rows)):
                memory = self._memories[model.id] = load_codes(rows, model.id)
            return memory


def compare_all(kind: DatabaseKind, pieces: Sequence[Row], query: QueryVector) -> Matches:
    found = compare_pieces(kind, pieces, query.vector)
    compare_subwords(found, pieces, query.match_subwords)
    return found


def _compare_in_order(
    rows: Rows, ids: RowNumbers, query: QueryVector, filter: IndexFilter, wanted: int
) -> tuple[Matches, int]:
    """Compare exactly, in order, until enough vectors are inside the filter. Returns also how many were."""
    found: Matches = {}
    inside, start, size = 0, 0, wanted
    while inside < wanted and start < len(ids):
        listed = orjson.dumps(np.sort(ids[start : start + size]).tolist()).decode()
        start, size = start + size, size * 2
        pieces = rows.rows(_SQLITE_EXACT + filter.sql, ids=listed, **filter.params)
        inside += len(pieces)
        for document, match in compare_pieces("sqlite", pieces, query.vector).items():
            found[document] = merge_matches(found.get(document, match), match)
    return found, inside
