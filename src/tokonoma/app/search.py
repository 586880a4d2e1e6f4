"""Searching, joined: the shared index, the vectors beside it, and the worker that makes them."""

from collections.abc import Callable

from tokonoma.config.settings import Settings
from tokonoma.core.call import Call
from tokonoma.core.desk import Classification, Record, Rows, Statements
from tokonoma.core.query import Hits, Query, SearchFilter, SearchScope
from tokonoma.embed import queue
from tokonoma.embed.builtin import MODEL_NAME
from tokonoma.embed.config import ModelConfig, ProviderAccess, parse_endpoints
from tokonoma.embed.embedders import EmbedderCache
from tokonoma.embed.providers import build_embedder
from tokonoma.embed.queries import QueryEmbedder
from tokonoma.embed.worker import SHORT_QUEUE, EmbedWorker
from tokonoma.search.index import SearchIndex
from tokonoma.search.vectors.leg import VectorSearch, build_text_reader
from tokonoma.store.database import Database


class SearchEngine:
    """One a process. Without an embedding provider it goes by words alone, and no vector is ever made up.

    The built-in model makes a vector in less than a millisecond, so a process that only saves leaves that to the first
    who searches: until then it loads neither the model nor numpy. A server does not wait; nor does anybody with a model
    that is far away.
    """

    def __init__(self, database: Database, settings: Settings, record: Callable[[Rows, str], Record | None]) -> None:
        self._database = database
        recipe = build_model_config(settings)
        embeds = recipe.provider != "none"
        self._embedders = EmbedderCache(recipe, build_provider_access(settings), build_embedder)
        queries = QueryEmbedder(self._embedders.get)
        self.vectors = VectorSearch(database, queue, build_text_reader(record), queries.embed_query if embeds else None)
        self.worker = EmbedWorker(database, self._embedders.get_current, recipe, self.vectors) if embeds else None
        # Also without a provider the queue is kept: when one is set, nothing is missing, and no old vector is left.
        self.index = SearchIndex(database.kind, self.vectors if embeds else None, self._on_changed)
        self.model = recipe.name
        self._is_builtin = recipe.provider == "builtin"
        self._is_deferred = self._is_builtin  # for the first search, or until there is much to do
        self._saved_count = 0

    def find(self, call: Call, query: Query, where: SearchFilter, labels: tuple[Classification, ...]) -> Hits:
        """Inside the walls around the caller."""
        if (
            self._is_builtin
            and self.worker is not None
            and (query.text.strip() or query.pivot)
            and query.mode != "text"
        ):
            if query.wait_for_embedding:
                self.worker.catch_up()  # what was saved a moment ago is found by its meaning, too
            else:
                self.worker.resume()
            self._is_deferred = False
        vector = self.index.embed_query(query)  # it may come from afar: no snapshot is held meanwhile
        with self._database.reading(call.cancel_token) as rows:
            return self.index.find(rows, query, where, SearchScope(call.principal.root, labels), vector)

    def count_waiting(self) -> int:
        """Records whose vector is still to be made."""
        with self._database.reading() as rows:
            return self.vectors.count_waiting(rows)

    def resume(self, *, serves: bool = False) -> None:
        """Go on with what the last process left in the queue."""
        self._is_deferred = self._is_deferred and not serves
        if self.worker is not None:
            self.worker.resume(SHORT_QUEUE if self._is_deferred else 1)

    def close(self) -> None:
        if self.worker is not None:
            self.worker.close()
        self._embedders.close()

    def _on_changed(self, statements: Statements, document_id: int) -> None:
        self.vectors.mark_changed(statements, document_id)
        self._saved_count += 1
        if self.worker is not None and (not self._is_deferred or self._saved_count > SHORT_QUEUE):
            self.worker.wake()


def build_model_config(settings: Settings) -> ModelConfig:
    provider = settings.get_text("embed_provider")
    return ModelConfig(
        provider,
        MODEL_NAME
        if provider == "builtin"
        else settings.get_text("embed_model"),  # a later built-in model is another model
        settings.get_int("embed_dimension"),
        settings.get_text("embed_query_prefix"),
        settings.get_text("embed_document_prefix"),
    )


def build_provider_access(settings: Settings) -> ProviderAccess:
    return ProviderAccess(
        parse_endpoints(settings.get_names("embed_url"), settings.get_names("embed_api_key")),
        settings.get_seconds("embed_timeout"),
        settings.get_int("embed_batch"),
        settings.get_int("embed_reach"),
        settings.get_text("embed_folder"),
    )
