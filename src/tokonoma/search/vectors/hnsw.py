"""The HNSW index of PostgreSQL: when it is built, and when it is in the way.

One vector more costs a few milliseconds, and more in a larger index; building the index of all vectors at once costs a
part of that for each. So a small index is created with the first vectors and kept; when many vectors wait that the
index does not hold, it is dropped, and built again when they are there. A large one is built beside the calls
(`concurrently`), which may take many minutes: nobody waits for it, and until it is there all vectors are compared.
"""

import time
from collections.abc import Callable

from tokonoma.core.desk import Rows
from tokonoma.core.embedding import StoredModel
from tokonoma.core.errors import Refusal
from tokonoma.core.log import log
from tokonoma.search.vectors.store import PgvectorExtension, build_index_name, find_extension
from tokonoma.store.database import Database

StartStep = Callable[[str, Callable[[], float | None]], None]
"""Runs a step in the background, unless one of this name is under way."""

LOOK_EVERY = 10.0  # seconds
_PAUSE = 0.5  # seconds between two looks at a build
_SMALL = 2_000  # vectors: so few are indexed at once
_FEW, _MANY = 2_000, 5_000  # documents in the queue
_BYTES_BESIDE = 700  # that a vector takes in the graph beside its numbers
_STATE = """select i.indisvalid, exists (select 1 from pg_stat_progress_create_index p where p.index_relid = c.oid)
from pg_class c join pg_index i on i.indexrelid = c.oid
where c.relname = :name and c.relnamespace = current_schema()::regnamespace"""
_COUNT = "select count(*) from embedding where model = :model"
_WAITING = "select count(*) from embedding_queue"
_SETTING = "select pg_size_bytes(current_setting('maintenance_work_mem')) / 1048576"


class HnswKeeper:
    """One per process. `memory`: the megabytes that a build may take on the server. Without `start` a build is waited
    for."""

    def __init__(self, memory: int, start: StartStep | None = None) -> None:
        self._memory, self._start = memory, start
        self._looked_at: dict[int, float] = {}

    def maintain(self, database: Database, model: StoredModel) -> bool:
        """Quick if there is nothing to do. Returns whether the index was created."""
        at = time.monotonic()
        if self._looked_at.get(model.id, float("-inf")) > at - LOOK_EVERY:
            return False
        self._looked_at[model.id] = at
        with database.reading() as rows:
            if find_extension(rows) == "missing":
                return False
            state = rows.row(_STATE, name=build_index_name(model))
            waiting, vectors = rows.rows(_WAITING)[0][0], rows.rows(_COUNT, model=model.id)[0][0]
        if state is not None and state[0]:
            if waiting > _MANY and waiting > vectors / 2:
                self._drop(database, model)
            return False
        if (state is not None and state[1]) or waiting > max(_FEW, vectors / 20):
            return False  # another process builds it, or it would be in the way
        if self._start is not None and vectors > _SMALL:
            self._start(f"index-{model.id}", lambda: self._run_build(database, model))
            return False
        return self.build(database, model)

    def build(self, database: Database, model: StoredModel) -> bool:
        """Now, if it is missing. False: it cannot be built, or another process is building it."""
        try:
            with database.writing() as statements:
                statements.run("create extension if not exists vector")
            with database.reading() as rows:
                extension, vectors = find_extension(rows), rows.rows(_COUNT, model=model.id)[0][0]
            sql = extension.build_index_sql(model) if isinstance(extension, PgvectorExtension) else None
            if sql is None:
                return False
            if vectors <= _SMALL:
                self._create(database, model, sql)
            elif not self._create_beside(database, model, sql, vectors):
                return False
        except Refusal:
            raise
        except Exception as error:  # most often a role that may not create extensions; doctor says what to do
            log("warning", "search.pgvector", error=type(error).__name__)
            return False
        log("info", "search.indexed", model=model.name, vectors=vectors)
        return True

    def finish(self, database: Database, model: StoredModel) -> None:
        """Build it, or wait until another process or thread has."""
        while not self.build(database, model):
            with database.reading() as rows:
                state = rows.row(_STATE, name=build_index_name(model))
            if state is None or not state[1]:
                return
            time.sleep(_PAUSE)

    def _run_build(self, database: Database, model: StoredModel) -> None:
        self.build(database, model)

    def _create(self, database: Database, model: StoredModel, sql: str) -> None:
        with database.writing() as statements:
            state = statements.row(_STATE, name=build_index_name(model))
            if state is not None and not state[0]:
                statements.run(f"drop index if exists {build_index_name(model)}")
            statements.run(sql)

    def _create_beside(self, database: Database, model: StoredModel, sql: str, vectors: int) -> bool:
        from tokonoma.store.postgres.alone import build_beside  # late: it loads the driver

        with database.reading() as rows:
            memory = max(self._choose_memory(model, vectors), _read_memory(rows))
        name = build_index_name(model)
        settings = ["set statement_timeout = 0", f"set maintenance_work_mem = '{memory}MB'"]
        log("info", "search.indexing", model=model.name, vectors=vectors, megabytes=memory)
        try:
            return build_beside(database, name, sql, settings)
        except Refusal:
            # Several workers share the graph in memory of which a container often has little.
            return build_beside(database, name, sql, [*settings, "set max_parallel_maintenance_workers = 0"])

    def _choose_memory(self, model: StoredModel, vectors: int) -> int:
        """Megabytes: what the graph takes. If there is less, the rest is inserted one by one."""
        needed = vectors * (4 * model.dimension + _BYTES_BESIDE) * 1.1 / 2**20 + 64
        return int(min(needed, self._memory))

    def _drop(self, database: Database, model: StoredModel) -> None:
        try:
            with database.writing() as statements:
                statements.run(f"drop index if exists {build_index_name(model)}")
        except Refusal as error:  # a search that takes long: another time
            log("info", "search.index_kept", model=model.name, reason=error.reason or error.kind)
            return
        log("info", "search.index_dropped", model=model.name)


def _read_memory(rows: Rows) -> int:
    return int(rows.rows(_SETTING)[0][0])
