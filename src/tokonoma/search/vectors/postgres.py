"""The nearest vectors on PostgreSQL: pgvector with an HNSW index for each model; without pgvector, by a scan over all
vectors.

The index is over an expression, so that the table needs nothing of pgvector: vectors are plain arrays of numbers, a
backup of a database with pgvector fits one without, and vectors that were stored before pgvector was installed are
indexed as they are.
"""
# ruff: noqa: S608 - what is put into SQL is ours: numbers, quoted names, a filter's text; callers' words are parameters

import time
from collections.abc import Sequence

from tokonoma.core.desk import Row, Rows, Statements
from tokonoma.core.embedding import StoredModel
from tokonoma.search.filters import IndexFilter
from tokonoma.search.tuning import TUNING
from tokonoma.search.vectors.backends import Matches, compare_all
from tokonoma.search.vectors.hnsw import HnswKeeper
from tokonoma.search.vectors.store import (
    PgvectorExtension,
    QueryVector,
    build_index_name,
    compare_pieces,
    find_extension,
    merge_matches,
)
from tokonoma.store.database import Database

PAGE = 2_000  # vectors that are compared at once where there is no pgvector
RECHECK_SECONDS = 60.0  # after which pgvector is looked for again
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

    def __init__(self, keeper: HnswKeeper) -> None:
        self._keeper = keeper
        self._extension: PgvectorExtension | None = None
        self._checked_at = float("-inf")

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
        return compare_all("postgresql", self.read_pieces(rows, model.id, documents), query)

    def read_pieces(self, rows: Rows, model: int, documents: Sequence[int]) -> Sequence[Row]:
        return rows.rows(_POSTGRES_SOME, model=model, documents=list(documents))

    def maintain(self, database: Database, model: StoredModel) -> bool:
        """Keep the index of the model's vectors. Returns whether it was created."""
        created = self._keeper.maintain(database, model)
        if created:
            self._checked_at = float("-inf")
        return created

    def finish_index(self, database: Database, model: StoredModel) -> None:
        """Create it now, if it is missing."""
        self._keeper.finish(database, model)
        self._checked_at = float("-inf")

    def drop_model(self, statements: Statements, model: StoredModel) -> None:
        statements.run(f"drop index if exists {build_index_name(model)}")

    def measure_memory(self) -> int:
        return 0

    def _get_extension(self, rows: Rows) -> PgvectorExtension | None:
        if self._checked_at < time.monotonic() - RECHECK_SECONDS:
            found = find_extension(rows)
            self._extension = found if isinstance(found, PgvectorExtension) else None
            self._checked_at = time.monotonic()
        return self._extension


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
