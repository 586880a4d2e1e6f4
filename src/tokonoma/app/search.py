"""The search engine: the shared index, its vectors, and the worker that makes them."""

from collections.abc import Callable

from tokonoma.config.settings import Settings
from tokonoma.core.call import Call
from tokonoma.core.desk import Classification, Record, Rows, Statements
from tokonoma.core.query import Hits, Query, SearchFilter, SearchScope
from tokonoma.embed import queue
from tokonoma.embed.builtin import MODEL_NAME
from tokonoma.embed.models import EmbedderCache, ModelConfig, ProviderAccess, parse_endpoints
from tokonoma.embed.queries import QueryEmbedder
from tokonoma.embed.worker import SHORT_QUEUE, EmbedWorker
from tokonoma.jobs.runner import JobRunner
from tokonoma.search.index import SearchIndex
from tokonoma.search.vectors.search import VectorSearch, build_text_reader
from tokonoma.store.database import Database


class SearchEngine:
    """One per process. Without an embedding provider it searches by text alone.

    The built-in model makes a vector in less than a millisecond, so a process that only saves leaves that to the next
    search: until then it loads neither the model nor numpy. A server, or a process with a remote model, embeds at once.
    """

    def __init__(
        self,
        database: Database,
        settings: Settings,
        read_record: Callable[[Rows, str], Record | None],
        jobs: JobRunner,
    ) -> None:
        self._database = database
        config = build_model_config(settings)
        embeds = config.provider != "none"
        self._embedders = EmbedderCache(config, build_provider_access(settings))
        embed = QueryEmbedder(self._embedders.get).embed_query if embeds else None
        self.vectors = VectorSearch(database, queue, build_text_reader(read_record), embed)
        self.worker = EmbedWorker(database, self._embedders.get_current, config, self.vectors, jobs) if embeds else None
        # The queue is filled also without a provider: when one is set, nothing is missing, and no old vector is left.
        self.index = SearchIndex(database.kind, self.vectors if embeds else None, self._on_changed)
        self.model = config.name
        self._is_builtin = config.provider == "builtin"
        self._is_deferred = self._is_builtin  # embedding waits for the first search, or until there is much to do
        self._saved_count = 0

    def find(self, call: Call, query: Query, where: SearchFilter, labels: tuple[Classification, ...]) -> Hits:
        """Inside the caller's scope."""
        uses_vectors = query.mode != "text" and (query.text.strip() or query.pivot)
        if self._is_builtin and self.worker is not None and uses_vectors:
            if query.wait_for_embedding:
                self.worker.catch_up()  # what was just saved is found by its vector, too
            else:
                self.worker.resume()
            self._is_deferred = False
        vector = self.index.embed_query(query)  # before the transaction: this may call a remote provider
        with self._database.reading(call.cancel_token) as rows:
            return self.index.find(rows, query, where, SearchScope(call.principal.root, labels), vector)

    def resume(self, *, serves: bool = False) -> None:
        """Continue with what the last process left in the queue."""
        self._is_deferred = self._is_deferred and not serves
        if self.worker is not None:
            self.worker.resume(SHORT_QUEUE if self._is_deferred else 1)

    def close(self) -> None:
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
        # A later built-in model is another model.
        MODEL_NAME if provider == "builtin" else settings.get_text("embed_model"),
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
