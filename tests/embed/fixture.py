"""Index, queue, worker and vectors joined as in the real house, over a table of notes."""

from collections.abc import Callable, Sequence
from typing import Any

from tokonoma.core.desk import Document, Record, Rows
from tokonoma.core.module import Migration
from tokonoma.core.query import Metric
from tokonoma.embed import queue
from tokonoma.embed.active_model import find_active, switch_model
from tokonoma.embed.models import EmbedderCache, ModelConfig, ProviderAccess, parse_endpoints
from tokonoma.embed.queries import QueryEmbedder
from tokonoma.embed.worker import EmbedWorker, WorkerTiming
from tokonoma.jobs.runner import JobRunner
from tokonoma.search import tables
from tokonoma.search.filters import IndexFilter
from tokonoma.search.index import SearchIndex
from tokonoma.search.vectors.search import VectorSearch
from tokonoma.search.vectors.texts import build_text_reader
from tokonoma.store.database import Database
from tokonoma.store.migrate import migrate

NOTES = (
    Migration("001", ("create table note (address {text} primary key, space text not null, body text not null)",)),
)
EVERYTHING = IndexFilter()
QUICK = WorkerTiming(idle=0.02, first=0.001, most=0.02, lease=60.0)
_NOTE = """insert into note (address, space, body) values (:address, :space, :body)
on conflict (address) do update set space = excluded.space, body = excluded.body"""


def prepare(database: Database) -> None:
    for name, steps in (
        ("search", tables.TABLES),
        ("vectors", tables.VECTOR_TABLES),
        ("embed", queue.TABLES),
        ("notes", NOTES),
    ):
        migrate(database, name, steps, lambda _reason: None)


def record(rows: Rows, address: str) -> Record | None:
    row = rows.row("select space, body from note where address = :address", address=address)
    return None if row is None else Record(address, "notes", row[0], "internal", "", row[1])


class EmbedFixture:
    def __init__(
        self,
        database: Database,
        urls: Sequence[str] = (),
        model: str = "m",
        keys: Sequence[str] = (),
        pace: WorkerTiming = QUICK,
        **access: Any,
    ) -> None:
        prepare(database)
        self.database, self.jobs = database, JobRunner()
        self.recipe = ModelConfig("openai" if urls else "none", model)
        reached = ProviderAccess(parse_endpoints(tuple(urls), tuple(keys)), **access)
        self.embedders = EmbedderCache(reached)
        self.queries = QueryEmbedder(self.embedders.get)
        self.vectors = VectorSearch(
            database,
            queue,
            build_text_reader(database, record, lambda module: None),
            self.queries.embed_query if urls else None,
        )
        self.worker = EmbedWorker(database, self.embedders.get, self.recipe, self.vectors, self.jobs, pace)
        self.index = SearchIndex(database.kind, self.vectors, self._enqueue)

    def _enqueue(self, statements: Any, document_ids: Sequence[int], later: bool) -> None:
        self.vectors.mark_changed(statements, document_ids, later=later)

    def save(self, name: str, body: str, space: str = "/", wake: bool = False, **more: Any) -> int:
        address = f"tokonoma://notes/{name}"
        with self.database.writing() as statements:
            statements.run(_NOTE, address=address, space=space, body=body)
            self.index.put(statements, Document(address, space, body, **more), more.get("label", "internal"))
        if wake:
            self.worker.wake()
        return self.id(name)

    def drop(self, name: str) -> None:
        address = f"tokonoma://notes/{name}"
        with self.database.writing() as statements:
            statements.run("delete from note where address = :address", address=address)
            self.index.drop(statements, address)

    def id(self, name: str) -> int:
        rows = self.rows("select id from document where address = :address", address=f"tokonoma://notes/{name}")
        return rows[0][0]

    def name(self, document_id: int) -> str:
        rows = self.rows("select address from document where id = :id", id=document_id)
        return rows[0][0].removeprefix("tokonoma://notes/")

    def rows(self, sql: str, **params: Any) -> list[tuple[Any, ...]]:
        with self.database.reading() as rows:
            return rows.rows(sql, **params)

    def waiting(self) -> int:
        return self.rows("select count(*) from embedding_queue")[0][0]

    def embedded(self) -> int:
        return self.rows("select count(distinct document_id) from embedding")[0][0]

    def work(self) -> None:
        """Until there is nothing to do; in this thread."""
        while self.worker.run_batch():
            pass

    def switch(self) -> None:
        """As `tokonoma reindex --embedding` does it."""
        embedder = self.embedders.get(self.recipe)
        assert embedder is not None
        with self.database.reading() as rows:
            before = find_active(self.vectors, rows)
        switch_model(self.database, self.vectors, embedder, self.recipe, before)

    def near(
        self, asked: str | int, filter: IndexFilter = EVERYTHING, metric: Metric = "cosine", limit: int = 10
    ) -> list[tuple[str, float]]:
        question = self.vectors.embed_query(asked) if isinstance(asked, str) else asked
        assert question is not None
        with self.database.reading() as rows:
            found = self.vectors.find_nearest(rows, question, filter, metric, limit)
        return [(self.name(document), like.similarity) for document, like in found]

    def close(self) -> None:
        self.jobs.close(60.0)
        self.embedders.close()


Open = Callable[..., EmbedFixture]
