"""Searching by vectors on PostgreSQL: pgvector with an HNSW index for each model; without pgvector, by looking at all.

The index is over an expression, so that the table needs nothing of pgvector: vectors are plain arrays of numbers, a
backup of a database with pgvector fits one without, and what was stored before pgvector came is indexed as it is.
"""
# ruff: noqa: S608 - what is put into SQL is ours: numbers, quoted names, a filter's text; callers' words are parameters

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tokonoma.core.desk import Row, Rows, Statements
from tokonoma.core.errors import Refusal
from tokonoma.core.log import log
from tokonoma.search.candidates import CandidatePool
from tokonoma.search.filters import IndexFilter
from tokonoma.search.vector_leg import VectorMatch
from tokonoma.search.vectors.codes import Floats
from tokonoma.search.vectors.store import QueryVector, StoredModel, decode_vectors, merge_matches, select_best
from tokonoma.store.database import Database
from tokonoma.store.migrate import quote_name

PAGE = 2_000
"""Vectors that are compared at once where there is no pgvector."""

RECHECK_SECONDS = 60.0
"""Seconds after which it is looked again whether pgvector has come."""

_WIDE, _WIDEST = 2_000, 4_000  # dimensions up to which whole and half precision can be indexed
_INSTALLED = """select n.nspname, split_part(e.extversion, '.', 1)::int * 1000 + split_part(e.extversion, '.', 2)::int
from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'vector'"""
_OFFERED = "select 1 from pg_available_extensions where name = 'vector'"
_INDEXED = """select 1 from pg_class c join pg_index i on i.indexrelid = c.oid
where c.relname = :name and c.relnamespace = current_schema()::regnamespace and i.indisvalid"""
_TUNE = "select set_config('hnsw.ef_search', '200', true)"
_TUNE_ITERATIVE = (
    _TUNE
    + ", set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.max_scan_tuples', '50000', true)"
)
_PAGES = """select e.id, e.document_id, e.piece, e.language, array_send(e.data)
from embedding e join document d on d.id = e.document_id
where e.model = :model and e.id > :after and {filter} order by e.id limit :limit"""
_SOME = """select e.document_id, e.piece, e.language, array_send(e.data) from embedding e
where e.model = :model and e.document_id = any(cast(:documents as bigint[]))"""


@dataclass(frozen=True, slots=True)
class PgvectorExtension:
    """pgvector as this database has it."""

    schema: str
    version: int  # major * 1000 + minor

    def build_distance_sql(self, dimension: int) -> str:
        """The expression that is indexed, and by which the nearest are sorted: minus the product."""
        schema = quote_name(self.schema)
        kind = "halfvec" if _WIDE < dimension <= _WIDEST else "vector"
        typed = f"{schema}.{kind}({dimension})"
        return f"(cast(e.data as {typed}) operator({schema}.<#>) cast(cast(:vector as text) as {typed}))"

    def build_index_sql(self, model: StoredModel) -> str | None:
        """None: so many dimensions cannot be indexed."""
        if model.dimension > _WIDEST:
            return None
        schema, kind = quote_name(self.schema), "halfvec" if model.dimension > _WIDE else "vector"
        return (
            f"create index if not exists {build_index_name(model)} on embedding using hnsw"
            f" ((cast(data as {schema}.{kind}({model.dimension}))) {schema}.{kind}_ip_ops)"
            f" with (m = 16, ef_construction = 100) where model = {model.id:d}"
        )


def find_extension(rows: Rows) -> PgvectorExtension | Literal["offered", "missing"]:
    """pgvector in this database, or whether its server could have it."""
    found = rows.row(_INSTALLED)
    if found is not None:
        return PgvectorExtension(found[0], found[1])
    return "offered" if rows.row(_OFFERED) else "missing"


def build_index_name(model: StoredModel) -> str:
    return f"embedding_near_{model.id:d}"


class PostgresVectorBackend:
    """One a process. Remembers for a while whether there is pgvector."""

    def __init__(self) -> None:
        self._extension: PgvectorExtension | None = None
        self._looked = float("-inf")
        self._settled: dict[int, float] = {}

    def find_nearest(
        self, rows: Rows, model: StoredModel, asked: QueryVector, filter: IndexFilter, limit: int
    ) -> dict[int, VectorMatch]:
        """Documents inside the filter with their cosine: the nearest `limit`, and some more."""
        few = CandidatePool("postgresql", rows, filter).list_few() if filter.narrow else None
        if few is not None:
            return self.compare(rows, model, asked, few)
        found = self._get_extension(rows)
        if found is None:
            return _scan_all(rows, model, asked, filter, limit)
        wanted = 2 * limit + 20  # a document may come with several pieces
        rows.rows(_TUNE_ITERATIVE if found.version >= 8 else _TUNE)
        near = _query_nearest(rows, found, model, asked, filter, wanted)
        if len(near) < wanted or len({row[0] for row in near}) < limit:
            # The index gives up after a while, and one document may have taken many places: ask for all.
            near = _query_nearest(rows, found, model, asked, filter, 64 * limit, indexed=False)
        kept = select_best(near)
        # What was compared in half precision is compared again.
        return self.compare(rows, model, asked, list(kept)) if model.dimension > _WIDE else kept

    def propose(self, rows: Rows, model: StoredModel, asked: QueryVector, filter: IndexFilter, limit: int) -> list[int]:
        return list(self.find_nearest(rows, model, asked, filter, limit))

    def compare(
        self, rows: Rows, model: StoredModel, asked: QueryVector, documents: Sequence[int]
    ) -> dict[int, VectorMatch]:
        found = rows.rows(_SOME, model=model.id, documents=list(documents))
        return select_best(_compute_cosines(found, asked.vector))

    def maintain(self, database: Database, model: StoredModel) -> bool:
        """See to it that the model's vectors are indexed. Whether anything was done."""
        at = time.monotonic()
        if self._settled.get(model.id, float("-inf")) > at - RECHECK_SECONDS:
            return False
        self._settled[model.id] = at
        with database.reading() as rows:
            there = find_extension(rows)
            indexed = rows.row(_INDEXED, name=build_index_name(model)) is not None
        if indexed or there == "missing":
            return False
        return self._create_index(database, model)

    def drop_model(self, statements: Statements, model: StoredModel) -> None:
        statements.run(f"drop index if exists {build_index_name(model)}")

    def measure_memory(self) -> int:
        return 0

    def _create_index(self, database: Database, model: StoredModel) -> bool:
        try:
            with database.writing() as statements:
                statements.run("create extension if not exists vector")
            with database.writing() as statements:
                there = find_extension(statements)
                text = there.build_index_sql(model) if isinstance(there, PgvectorExtension) else None
                if text is None:
                    return False
                statements.run(text)
        except Refusal:
            raise
        except Exception as error:  # most often a role that may not create extensions; doctor says what to do
            log("warning", "search.pgvector", error=type(error).__name__)
            return False
        self._looked = float("-inf")
        log("info", "search.indexed", model=model.name)
        return True

    def _get_extension(self, rows: Rows) -> PgvectorExtension | None:
        if self._looked < time.monotonic() - RECHECK_SECONDS:
            found = find_extension(rows)
            self._extension = found if isinstance(found, PgvectorExtension) else None
            self._looked = time.monotonic()
        return self._extension


def _query_nearest(
    rows: Rows,
    found: PgvectorExtension,
    model: StoredModel,
    asked: QueryVector,
    filter: IndexFilter,
    limit: int,
    *,
    indexed: bool = True,
) -> list[tuple[int, int, str, float]]:
    distance = found.build_distance_sql(model.dimension)
    order = distance if indexed else f"{distance} + 0"
    # The model is written as a number, not as a parameter: else the planner cannot know that the index is for it.
    sql = (
        f"select e.document_id, e.piece, e.language, -{distance}"
        " from embedding e join document d on d.id = e.document_id"
        f" where e.model = {model.id:d} and {filter.sql} order by {order} limit :limit"
    )
    written = "[" + ",".join(map(repr, asked.vector.tolist())) + "]"
    return [(row[0], row[1], row[2], row[3]) for row in rows.rows(sql, vector=written, limit=limit, **filter.params)]


def _scan_all(
    rows: Rows, model: StoredModel, asked: QueryVector, filter: IndexFilter, limit: int
) -> dict[int, VectorMatch]:
    kept: dict[int, VectorMatch] = {}
    after = 0
    sql = _PAGES.replace("{filter}", filter.sql)
    while found := rows.rows(sql, model=model.id, after=after, limit=PAGE, **filter.params):
        for document, like in select_best(_compute_cosines([row[1:] for row in found], asked.vector)).items():
            kept[document] = merge_matches(kept.get(document, like), like)
        if len(kept) > 8 * limit:
            kept = dict(sorted(kept.items(), key=lambda each: -each[1].similarity)[: 2 * limit])
        after = found[-1][0]
    return kept


def _compute_cosines(found: Sequence[Row], vector: Floats) -> list[tuple[int, int, str, float]]:
    if not found:
        return []
    cosines = (decode_vectors("postgresql", [row[3] for row in found]) @ vector).clip(-1.0, 1.0).tolist()
    return [(row[0], row[1], row[2], cosine) for row, cosine in zip(found, cosines, strict=True)]
