"""Searching, joined: the shared index, the vectors beside it, and the worker that makes them."""

from collections.abc import Callable

from tokonoma.config.settings import Settings
from tokonoma.core.call import Call
from tokonoma.core.desk import Label, Record, Rows, Statements
from tokonoma.core.query import Hits, Query, Reach, Where
from tokonoma.embed import queue
from tokonoma.embed.builtin import NAME
from tokonoma.embed.config import Access, Recipe, endpoints_of
from tokonoma.embed.embedders import Embedders
from tokonoma.embed.providers import embedder_of
from tokonoma.embed.queries import Queries
from tokonoma.embed.worker import SHORT, Worker
from tokonoma.search.index import Index
from tokonoma.search.vectors.leg import Vectors, texts_of
from tokonoma.store.database import Database


class Searching:
    """One a process. Without an embedding provider it goes by words alone, and no vector is ever made up.

    The built-in model makes a vector in less than a millisecond, so a process that only saves leaves that to the first
    who searches: until then it loads neither the model nor numpy. A server does not wait; nor does anybody with a model
    that is far away.
    """

    def __init__(self, database: Database, settings: Settings, record: Callable[[Rows, str], Record | None]) -> None:
        self._database = database
        recipe = recipe_of(settings)
        embeds = recipe.provider != "none"
        self._embedders = Embedders(recipe, access_of(settings), embedder_of)
        queries = Queries(self._embedders.of)
        self.vectors = Vectors(database, queue, texts_of(record), queries.vector if embeds else None)
        self.worker = Worker(database, self._embedders.current, recipe, self.vectors) if embeds else None
        # Also without a provider the queue is kept: when one is set, nothing is missing, and no old vector is left.
        self.index = Index(database.kind, self.vectors if embeds else None, self._changed)
        self.model = recipe.name
        self._near = recipe.provider == "builtin"
        self._waits = self._near  # for the first search, or until there is much to do
        self._saved = 0

    def find(self, call: Call, query: Query, where: Where, labels: tuple[Label, ...]) -> Hits:
        """Inside the walls around the caller."""
        if self._near and self.worker is not None and (query.text.strip() or query.pivot) and query.mode != "text":
            if query.patient:
                self.worker.catch_up()  # what was saved a moment ago is found by its meaning, too
            else:
                self.worker.resume()
            self._waits = False
        vector = self.index.vector(query)  # it may come from afar: no snapshot is held meanwhile
        with self._database.reading(call.stop) as rows:
            return self.index.find(rows, query, where, Reach(call.who.root, labels), vector)

    def waiting(self) -> int:
        """Records whose vector is still to be made."""
        with self._database.reading() as rows:
            return self.vectors.waiting(rows)

    def resume(self, *, serves: bool = False) -> None:
        """Go on with what the last process left in the queue."""
        self._waits = self._waits and not serves
        if self.worker is not None:
            self.worker.resume(SHORT if self._waits else 1)

    def close(self) -> None:
        if self.worker is not None:
            self.worker.close()
        self._embedders.close()

    def _changed(self, statements: Statements, document_id: int) -> None:
        self.vectors.changed(statements, document_id)
        self._saved += 1
        if self.worker is not None and (not self._waits or self._saved > SHORT):
            self.worker.wake()


def recipe_of(settings: Settings) -> Recipe:
    provider = settings.text("embed_provider")
    return Recipe(
        provider,
        NAME if provider == "builtin" else settings.text("embed_model"),  # a later built-in model is another model
        settings.number("embed_dimension"),
        settings.text("embed_query_prefix"),
        settings.text("embed_document_prefix"),
    )


def access_of(settings: Settings) -> Access:
    return Access(
        endpoints_of(settings.names("embed_url"), settings.names("embed_api_key")),
        settings.seconds("embed_timeout"),
        settings.number("embed_batch"),
        settings.number("embed_reach"),
        settings.text("embed_folder"),
    )
