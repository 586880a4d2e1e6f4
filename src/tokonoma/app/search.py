"""The search engine: the shared index, its vectors, and the worker that makes them."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tokonoma.catalogue.registry import Registry
from tokonoma.config.settings import Settings
from tokonoma.core.call import Call
from tokonoma.core.desk import Classification, Record, Rows, Statements
from tokonoma.core.embedding import StoredModel
from tokonoma.core.errors import Refusal, Unready
from tokonoma.core.log import log
from tokonoma.core.query import Hits, LikeRecord, Query, SearchFilter, SearchScope
from tokonoma.embed import queue
from tokonoma.embed.active_model import (
    ADVICE,
    explain_difference,
    find_active,
    is_update,
    load_active,
    switch_model,
)
from tokonoma.embed.builtin import MODEL_NAME
from tokonoma.embed.compare import compare_texts
from tokonoma.embed.models import EmbedderCache, ModelConfig, ProviderAccess, parse_endpoints
from tokonoma.embed.queries import QueryEmbedder
from tokonoma.embed.worker import SHORT_QUEUE, EmbedWorker
from tokonoma.jobs.runner import JobRunner
from tokonoma.search.filters import compile_filter
from tokonoma.search.fusion import detect_language
from tokonoma.search.index import SearchIndex
from tokonoma.search.text.term_index import read_corpus
from tokonoma.search.tuning import TUNING
from tokonoma.search.vectors.hnsw import HnswKeeper
from tokonoma.search.vectors.recent import RecentVectors
from tokonoma.search.vectors.search import VectorSearch
from tokonoma.search.vectors.store import lock_existing
from tokonoma.search.vectors.texts import build_text_reader
from tokonoma.store.database import Database

_MOST_COMPARED = 50_000  # records among which a save looks for similar ones: then it takes as long as the save


class VectorCounts(NamedTuple):
    """Documents by the state of their vectors of one model; `failed`: the model has refused their text."""

    model: str
    made: int
    waiting: int
    failed: int


class SearchEngine:
    """One per process. Without an embedding provider it searches by text alone.

    The built-in model makes a vector in less than a millisecond, so a process that only imports leaves that to the next
    search: until then it loads neither the model nor numpy. A server, or a process with a remote model, embeds at once;
    so does one that saves a memo by itself, which is compared with earlier ones.
    """

    def __init__(
        self,
        database: Database,
        settings: Settings,
        registry: Registry,
        read_for_index: Callable[[Rows, str], Record | None],
        jobs: JobRunner,
    ) -> None:
        self._database = database
        config = build_model_config(settings)
        embeds = config.provider != "none"
        self._embedders = EmbedderCache(build_provider_access(settings))
        queries = QueryEmbedder(self._embedders.get) if embeds else None
        embed, match = (queries.embed_query, queries.match_subwords) if queries is not None else (None, None)
        read_texts = build_text_reader(database, read_for_index, registry.find_module)
        keeper = HnswKeeper(settings.get_int("index_memory"), jobs.start_step)
        self.vectors = VectorSearch(database, queue, read_texts, embed, match, keeper)
        self.worker = EmbedWorker(database, self._embedders.get, config, self.vectors, jobs) if embeds else None
        # The queue is filled also without a provider: when one is set, nothing is missing, and no old vector is left.
        self.index = SearchIndex(database.kind, self.vectors if embeds else None, self._on_changed)
        self._config = config
        # Embedding waits for the first search, or until there is much to do.
        self._is_deferred = config.provider == "builtin"
        self._saved_count = 0
        self._compared_count = 0
        self._recent = RecentVectors()

    def find(self, call: Call, query: Query, where: SearchFilter, labels: tuple[Classification, ...]) -> Hits:
        """Inside the caller's scope."""
        uses_vectors = query.mode != "text" and (query.text.strip() or query.pivot)
        if self.worker is not None and uses_vectors:
            if query.wait_for_embedding:
                self.worker.catch_up()  # what was just saved is found by its vector, too
            else:
                self.worker.resume()
            self._is_deferred = False
        vector = self.index.embed_query(query)  # before the transaction: this may call a remote provider
        with self._database.reading(call.cancel_token) as rows:
            scope = SearchScope(call.principal.root, labels, call.record_masks.sees_private)
            return self.index.find(rows, query, where, scope, vector)

    def find_near(
        self,
        call: Call,
        addresses: Sequence[str],
        where: SearchFilter,
        labels: tuple[Classification, ...],
        least: float,
        most: int,
    ) -> dict[str, dict[str, float]] | None:
        """Inside the caller's scope; None without a model."""
        if self.worker is None:
            return None
        self.worker.catch_up()
        scope = SearchScope(call.principal.root, labels, call.record_masks.sees_private)
        with self._database.reading(call.cancel_token) as rows:
            return self.vectors.find_near(rows, compile_filter(where, scope), addresses, least, most)

    def find_successors(
        self, call: Call, addresses: Sequence[str], labels: tuple[Classification, ...]
    ) -> dict[str, str]:
        """Inside the caller's scope."""
        scope = SearchScope(call.principal.root, labels, call.record_masks.sees_private)
        with self._database.reading(call.cancel_token) as rows:
            return self.index.find_successors(rows, addresses, scope)

    def find_like(
        self,
        call: Call,
        address: str,
        text: str,
        where: SearchFilter,
        labels: tuple[Classification, ...],
        least: float,
        most: int,
    ) -> Sequence[LikeRecord]:
        """Inside the caller's scope; nothing where it would take long, or where there is nothing else yet: the first
        save of a new home loads no model."""
        if self.worker is None or self._config.provider != "builtin":
            return ()
        scope = SearchScope(call.principal.root, labels, call.record_masks.sees_private)
        is_behind = self._saved_count > self._compared_count + 1  # what was saved together has not been compared
        for _ in range(2):
            with self._database.reading(call.cancel_token) as rows:
                if not 1 < read_corpus(rows).documents <= _MOST_COMPARED:
                    return ()
                self._is_deferred, self._compared_count = False, self._saved_count
                found = None if is_behind else self.vectors.embed_record(rows, text)
                if found is not None:
                    said = detect_language(text)
                    waiting = self._recent.compare(address, found[1], said, TUNING.like_recent)
                    return self.index.find_like(rows, address, found, said, waiting, where, scope, least, most)
            self.worker.catch_up()  # also the first of all: there is no model yet
            is_behind = False
        return ()

    def compare(self, pairs: Sequence[tuple[str, Sequence[str]]]) -> list[list[float]] | None:
        """How near texts are in meaning; None without a model, or if it does not answer."""
        try:
            embedder = self._embedders.get(self._config) if self.worker is not None else None
            return compare_texts(embedder, pairs) if embedder is not None else None
        except Refusal as error:
            log("warning", "embed.compare", says=error.message)
            return None

    def resume(self, *, serves: bool = False) -> None:
        """Continue with what the last process left in the queue. A server looks at the queue from now on: it also does
        what other processes leave there, and notices a change of the model."""
        self._is_deferred = self._is_deferred and not serves
        if self.worker is not None:
            if serves:
                self.worker.wake()
            self.worker.resume(SHORT_QUEUE if self._is_deferred else 1)

    def switch_model(self) -> StoredModel:
        """Make the model of the settings the one of this database; all vectors are then made again, by any process."""
        embedder = self._embedders.get(self._config)
        if embedder is None:
            message = "No embedding model is set. Set embed_provider and embed_model first."
            raise Unready(message, reason="embedder")
        with self._database.reading() as rows:
            before = find_active(self.vectors, rows)
        if before is None or before.name != self._config.name:
            switch_model(self._database, self.vectors, embedder, self._config, before)
        with self._database.reading() as rows:
            active = find_active(self.vectors, rows)
        assert active is not None
        return active

    def count_vectors(self, rows: Rows) -> list[VectorCounts]:
        """By model, the one in use last. Without a model yet: those that wait for one."""
        waiting, failed = queue.count_waiting(rows), queue.count_failed(rows)
        found = [
            VectorCounts(model.name, made, unqueued + waiting - failed, failed)
            if model.current
            else VectorCounts(model.name, made, 0, 0)
            for model, made, unqueued in sorted(self.vectors.count_by_model(rows), key=lambda each: each[0].current)
        ]
        return found or [VectorCounts("", 0, waiting - failed, failed)]

    def is_filling(self, rows: Rows) -> bool:
        """Whether documents are still to be put into the queue, because the model is new."""
        active = find_active(self.vectors, rows)
        return active is not None and active.backfilled_to is not None

    def describe(self) -> tuple[bool, str]:
        """Whether search works as the settings say, and how it works."""
        if self.worker is None:
            return True, "by words alone: no embedding provider is set"
        with self._database.reading() as rows:
            active = find_active(self.vectors, rows)
        if active is None:
            name, other = self._config.name, ""
        else:
            name, other = active.name, "" if active.name == self._config.name else self._explain(active)
            try:
                load_active(self._embedders.get, self._config, active)
            except Refusal as error:
                return False, f"by words alone: {error.message}"
        if self.worker.problem:
            return False, f"by words; {name} is waited for: {self.worker.problem}"
        return True, f"by words and by meaning ({name})" + other

    def _explain(self, active: StoredModel) -> str:
        return "" if is_update(self._config, active) else f". {explain_difference(self._config, active)} {ADVICE}"

    def hold_vectors(self, statements: Statements, addresses: Sequence[str]) -> list[int]:
        """Nothing at these addresses is embedded until `queue_vectors` gets the result."""
        return queue.withdraw(statements, addresses)

    def queue_vectors(self, statements: Statements, held: Sequence[int]) -> None:
        self.vectors.mark_changed(statements, lock_existing(statements, held), later=True)
        self._wake_worker()

    def close(self) -> None:
        self._embedders.close()

    def _on_changed(self, statements: Statements, document_ids: Sequence[int], later: bool) -> None:
        self.vectors.mark_changed(statements, document_ids, later=later)
        self._saved_count += len(document_ids)
        self._wake_worker()

    def _wake_worker(self) -> None:
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
