"""The nearest vectors on each database.

SQLite: candidates from one-bit codes in memory, compared exactly with the stored vectors.

PostgreSQL: pgvector with an HNSW index for each model; without pgvector, by a scan over all vectors. The index is over
an expression, so that the table needs nothing of pgvector: vectors are plain arrays of numbers, a backup of a database
with pgvector fits one without, and vectors that were stored before pgvector was installed are indexed as they are.
"""
# ruff: noqa: S608 - what is put into SQL is ours: numbers, quoted names, a filter's text; callers' words are parameters

import threading
import time
from collections.abc import Sequence

import numpy as np
import orjson

from tokonoma.core.desk import Row, Rows, Statements
from tokonoma.core.embedding import StoredModel
from tokonoma.core.errors import Refusal
from tokonoma.core.log import log
from tokonoma.search.filters import IndexFilter
from tokonoma.search.tuning import TUNING
from tokonoma.search.vectors.codes import RowNumbers
from tokonoma.search.vectors.memory import CodeMemory, is_save_due, load_codes, save_blocks
from tokonoma.search.vectors.store import (
    PgvectorExtension,
    QueryVector,
    VectorMatch,
    build_index_name,
    compare_pieces,
    compare_subwords,
    find_extension,
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
        listed = rows.rows(f"select d.id from document d where {filter.sql}", **filter.params)
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
        return _compare_all("sqlite", self.read_pieces(rows, model.id, documents), query)

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


# PostgreSQL

PAGE = 2_000  # vectors that are compared at once where there is no pgvector
RECHECK_SECONDS = 60.0  # after which pgvector is looked for again
_INDEXED = """select 1 from pg_class c join pg_index i on i.indexrelid = c.oid
where c.relname = :name and c.relnamespace = current_schema()::regnamespace and i.indisvalid"""
_TUNE = "select set_config('hnsw.ef_search', '200', true)"
_TUNE_ITERATIVE = (
    _TUNE
    + ", set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.max_scan_tuples', '50000', true)"
)
_TUNE_WIDER = "select set_config('hnsw.ef_search', '1000', true)"  # the most that pgvector takes
_PAGES = """select e.id, e.document_id, e.piece, e.language, array_send(e.data)
from embedding e join document d on d.id = e.document_id
where e.model = :model and e.id > :after and {filter} order by e.id limit :limit"""
_POSTGRES_SOME = """select e.document_id, e.piece, e.language, array_send(e.data), e.subwords from embedding e
where e.model = :model and e.document_id = any(cast(:documents as bigint[]))"""


class PostgresVectorBackend:
    """One per process. Caches for a while whether there is pgvector."""

    def __init__(self) -> None:
        self._extension: PgvectorExtension | None = None
        self._checked_at = float("-inf")
        self._maintained_at: dict[int, float] = {}

    def find_nearest(
        self, rows: Rows, model: StoredModel, query: QueryVector, filter: IndexFilter, limit: int
    ) -> Matches:
        """Documents inside the filter with their cosine: the nearest `limit`, and some more."""
        extension = self._get_extension(rows)
        if extension is None:
            return _scan_all(rows, model, query, filter, limit)
        wanted = 2 * limit + 20  # a document may come with several pieces
        rows.rows(_TUNE_ITERATIVE if extension.version >= 8 else _TUNE)
        near = _query_nearest(rows, extension, model, query, filter, wanted)
        if is_crowded([row[3] for row in near], limit):
            # The index follows the nearest it knows, and among so many equals it misses some. With a wide search
            # the server also compares all of them, if that is cheaper.
            rows.rows(_TUNE_WIDER)
            near = _query_nearest(rows, extension, model, query, filter, wanted)
        if len(near) < wanted or len({row[0] for row in near}) < limit:
            # The index gives up after a while, and one document may have many pieces: search without it.
            near = _query_nearest(rows, extension, model, query, filter, 64 * limit, indexed=False)
        # Compared once more, with all pieces: of a document the index may know another one than the nearest, and long
        # vectors it holds in half precision.
        pieces = self.read_pieces(rows, model.id, list({row[0] for row in near}))
        return compare_pieces("postgresql", pieces, query.vector)

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
        return list(self.find_nearest(rows, model, query, filter, limit))

    def compare(self, rows: Rows, model: StoredModel, query: QueryVector, documents: Sequence[int]) -> Matches:
        return _compare_all("postgresql", self.read_pieces(rows, model.id, documents), query)

    def read_pieces(self, rows: Rows, model: int, documents: Sequence[int]) -> Sequence[Row]:
        return rows.rows(_POSTGRES_SOME, model=model, documents=list(documents))

    def maintain(self, database: Database, model: StoredModel) -> bool:
        """Create the index of the model's vectors if it is missing. Returns whether it was created."""
        at = time.monotonic()
        if self._maintained_at.get(model.id, float("-inf")) > at - RECHECK_SECONDS:
            return False
        self._maintained_at[model.id] = at
        with database.reading() as rows:
            extension = find_extension(rows)
            is_indexed = rows.row(_INDEXED, name=build_index_name(model)) is not None
        return not is_indexed and extension != "missing" and self._create_index(database, model)

    def drop_model(self, statements: Statements, model: StoredModel) -> None:
        statements.run(f"drop index if exists {build_index_name(model)}")

    def measure_memory(self) -> int:
        return 0

    def _create_index(self, database: Database, model: StoredModel) -> bool:
        try:
            with database.writing() as statements:
                statements.run("create extension if not exists vector")
            with database.writing() as statements:
                extension = find_extension(statements)
                sql = extension.build_index_sql(model) if isinstance(extension, PgvectorExtension) else None
                if sql is None:
                    return False
                statements.run(sql)
        except Refusal:
            raise
        except Exception as error:  # most often a role that may not create extensions; doctor says what to do
            log("warning", "search.pgvector", error=type(error).__name__)
            return False
        self._checked_at = float("-inf")
        log("info", "search.indexed", model=model.name)
        return True

    def _get_extension(self, rows: Rows) -> PgvectorExtension | None:
        if self._checked_at < time.monotonic() - RECHECK_SECONDS:
            found = find_extension(rows)
            self._extension = found if isinstance(found, PgvectorExtension) else None
            self._checked_at = time.monotonic()
        return self._extension


def _compare_all(kind: DatabaseKind, pieces: Sequence[Row], query: QueryVector) -> Matches:
    found = compare_pieces(kind, pieces, query.vector)
    compare_subwords(found, pieces, query.match_subwords)
    return found


def is_crowded(cosines: Sequence[float], limit: int) -> bool:
    """Whether many more than are wanted are about as near: texts from one template, for example."""
    ordered = sorted(cosines, reverse=True)
    return len(ordered) > limit and ordered[limit - 1] - ordered[-1] < TUNING.crowded


def _query_nearest(
    rows: Rows,
    extension: PgvectorExtension,
    model: StoredModel,
    query: QueryVector,
    filter: IndexFilter,
    limit: int,
    *,
    indexed: bool = True,
) -> Sequence[Row]:
    distance = extension.build_distance_sql(model.dimension)
    order = distance if indexed else f"{distance} + 0"
    # The model is a number in the SQL, not a parameter: else the planner cannot know that the index is for it.
    sql = (
        f"select e.document_id, e.piece, e.language, -{distance}"
        " from embedding e join document d on d.id = e.document_id"
        f" where e.model = {model.id:d} and {filter.sql} order by {order} limit :limit"
    )
    vector = "[" + ",".join(map(repr, query.vector.tolist())) + "]"
    return rows.rows(sql, vector=vector, limit=limit, **filter.params)


def _scan_all(rows: Rows, model: StoredModel, query: QueryVector, filter: IndexFilter, limit: int) -> Matches:
    kept: Matches = {}
    after = 0
    sql = _PAGES.replace("{filter}", filter.sql)
    while found := rows.rows(sql, model=model.id, after=after, limit=PAGE, **filter.params):
        for document, match in compare_pieces("postgresql", [row[1:] for row in found], query.vector).items():
            kept[document] = merge_matches(kept.get(document, match), match)
        if len(kept) > 8 * limit:
            kept = dict(sorted(kept.items(), key=lambda each: -each[1].similarity)[: 2 * limit])
        after = found[-1][0]
    return kept
