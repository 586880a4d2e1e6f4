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
from tokonoma.search.candidates import Pool
from tokonoma.search.filters import Filter
from tokonoma.search.vector_leg import Likeness
from tokonoma.search.vectors.codes import Floats
from tokonoma.search.vectors.store import Asked, Model, best, joined, read
from tokonoma.store.database import Database
from tokonoma.store.migrate import quoted

PAGE = 2_000
"""Vectors that are compared at once where there is no pgvector."""

LOOK = 60.0
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
class Extension:
    """pgvector as this database has it."""

    schema: str
    version: int  # major * 1000 + minor

    def distance(self, dimension: int) -> str:
        """The expression that is indexed, and by which the nearest are sorted: minus the product."""
        schema = quoted(self.schema)
        kind = "halfvec" if _WIDE < dimension <= _WIDEST else "vector"
        typed = f"{schema}.{kind}({dimension})"
        return f"(cast(e.data as {typed}) operator({schema}.<#>) cast(cast(:vector as text) as {typed}))"

    def index(self, model: Model) -> str | None:
        """None: so many dimensions cannot be indexed."""
        if model.dimension > _WIDEST:
            return None
        schema, kind = quoted(self.schema), "halfvec" if model.dimension > _WIDE else "vector"
        return (
            f"create index if not exists {index_name(model)} on embedding using hnsw"
            f" ((cast(data as {schema}.{kind}({model.dimension}))) {schema}.{kind}_ip_ops)"
            f" with (m = 16, ef_construction = 100) where model = {model.id:d}"
        )


def extension(rows: Rows) -> Extension | Literal["offered", "missing"]:
    """pgvector in this database, or whether its server could have it."""
    found = rows.row(_INSTALLED)
    if found is not None:
        return Extension(found[0], found[1])
    return "offered" if rows.row(_OFFERED) else "missing"


def index_name(model: Model) -> str:
    return f"embedding_near_{model.id:d}"


class PostgresNear:
    """One a process. Remembers for a while whether there is pgvector."""

    def __init__(self) -> None:
        self._extension: Extension | None = None
        self._looked = float("-inf")
        self._settled: dict[int, float] = {}

    def near(self, rows: Rows, model: Model, asked: Asked, filter: Filter, limit: int) -> dict[int, Likeness]:
        """Documents inside the filter with their cosine: the nearest `limit`, and some more."""
        few = Pool("postgresql", rows, filter).few() if filter.narrow else None
        if few is not None:
            return self.similarities(rows, model, asked, few)
        found = self._known(rows)
        if found is None:
            return _by_looking_at_all(rows, model, asked, filter, limit)
        wanted = 2 * limit + 20  # a document may come with several pieces
        rows.rows(_TUNE_ITERATIVE if found.version >= 8 else _TUNE)
        near = _nearest(rows, found, model, asked, filter, wanted)
        if len(near) < wanted or len({row[0] for row in near}) < limit:
            # The index gives up after a while, and one document may have taken many places: ask for all.
            near = _nearest(rows, found, model, asked, filter, 64 * limit, indexed=False)
        kept = best(near)
        # What was compared in half precision is compared again.
        return self.similarities(rows, model, asked, list(kept)) if model.dimension > _WIDE else kept

    def likely(self, rows: Rows, model: Model, asked: Asked, filter: Filter, limit: int) -> list[int]:
        return list(self.near(rows, model, asked, filter, limit))

    def similarities(self, rows: Rows, model: Model, asked: Asked, documents: Sequence[int]) -> dict[int, Likeness]:
        found = rows.rows(_SOME, model=model.id, documents=list(documents))
        return best(_products(found, asked.vector))

    def settle(self, database: Database, model: Model) -> bool:
        """See to it that the model's vectors are indexed. Whether anything was done."""
        at = time.monotonic()
        if self._settled.get(model.id, float("-inf")) > at - LOOK:
            return False
        self._settled[model.id] = at
        with database.reading() as rows:
            there = extension(rows)
            indexed = rows.row(_INDEXED, name=index_name(model)) is not None
        if indexed or there == "missing":
            return False
        return self._index(database, model)

    def forget(self, statements: Statements, model: Model) -> None:
        statements.run(f"drop index if exists {index_name(model)}")

    def size(self) -> int:
        return 0

    def _index(self, database: Database, model: Model) -> bool:
        try:
            with database.writing() as statements:
                statements.run("create extension if not exists vector")
            with database.writing() as statements:
                there = extension(statements)
                text = there.index(model) if isinstance(there, Extension) else None
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

    def _known(self, rows: Rows) -> Extension | None:
        if self._looked < time.monotonic() - LOOK:
            found = extension(rows)
            self._extension = found if isinstance(found, Extension) else None
            self._looked = time.monotonic()
        return self._extension


def _nearest(
    rows: Rows, found: Extension, model: Model, asked: Asked, filter: Filter, limit: int, *, indexed: bool = True
) -> list[tuple[int, int, str, float]]:
    distance = found.distance(model.dimension)
    order = distance if indexed else f"{distance} + 0"
    # The model is written as a number, not as a parameter: else the planner cannot know that the index is for it.
    sql = (
        f"select e.document_id, e.piece, e.language, -{distance}"
        " from embedding e join document d on d.id = e.document_id"
        f" where e.model = {model.id:d} and {filter.sql} order by {order} limit :limit"
    )
    written = "[" + ",".join(map(repr, asked.vector.tolist())) + "]"
    return [(row[0], row[1], row[2], row[3]) for row in rows.rows(sql, vector=written, limit=limit, **filter.params)]


def _by_looking_at_all(rows: Rows, model: Model, asked: Asked, filter: Filter, limit: int) -> dict[int, Likeness]:
    kept: dict[int, Likeness] = {}
    after = 0
    sql = _PAGES.replace("{filter}", filter.sql)
    while found := rows.rows(sql, model=model.id, after=after, limit=PAGE, **filter.params):
        for document, like in best(_products([row[1:] for row in found], asked.vector)).items():
            kept[document] = joined(kept.get(document, like), like)
        if len(kept) > 8 * limit:
            kept = dict(sorted(kept.items(), key=lambda each: -each[1].similarity)[: 2 * limit])
        after = found[-1][0]
    return kept


def _products(found: Sequence[Row], vector: Floats) -> list[tuple[int, int, str, float]]:
    if not found:
        return []
    cosines = (read("postgresql", [row[3] for row in found]) @ vector).clip(-1.0, 1.0).tolist()
    return [(row[0], row[1], row[2], cosine) for row, cosine in zip(found, cosines, strict=True)]
