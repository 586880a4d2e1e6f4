"""Embedding of queries: a search waits, so vectors are cached, and a provider that fails is not called for a while."""

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tokonoma.core.embedding import StoredModel
from tokonoma.core.errors import Refusal
from tokonoma.core.log import log
from tokonoma.embed.embedder import PROBE, Backoff, Embedder, SubwordEmbedder, UnusableAnswer, check_model
from tokonoma.embed.models import ModelConfig

if TYPE_CHECKING:
    from tokonoma.embed.embedder import Vectors

QUERY_TIMEOUT = 5.0  # seconds that a search waits for one endpoint
_MAX_CACHED = 1_024
_CACHED_LENGTH = 500  # characters of the longest query that is cached: longer ones do not come back
_REST, _MOST_REST = 2.0, 60.0  # seconds in which a provider that failed is not called; doubled each time


class _QuerySource(Backoff):
    """One model, and whether it is available."""

    def __init__(self) -> None:
        super().__init__(_REST, _MOST_REST)
        self.embedder: Embedder | None = None
        self.is_proven = False


class QueryEmbedder:
    """`get_embedder` returns the embedder of a configuration, or fails; None: there is none."""

    def __init__(self, get_embedder: Callable[[ModelConfig], Embedder | None], timeout: float = QUERY_TIMEOUT) -> None:
        self._get_embedder, self._timeout = get_embedder, timeout
        self._sources: dict[str, _QuerySource] = {}
        self._cached: OrderedDict[tuple[str, str], Vectors] = OrderedDict()
        self._lock = threading.Lock()

    def embed_query(self, model: StoredModel, text: str) -> "Vectors | None":
        """None if this model is not available now; the log says why."""
        key = (model.name, text.strip())
        with self._lock:
            cached = self._cached.get(key)
            if cached is not None:
                self._cached.move_to_end(key)
                return cached
            source = self._sources.setdefault(model.name, _QuerySource())
        if source.is_resting:
            return None
        try:
            vector = self._embed(source, model, key[1])
        except Refusal as error:
            source.is_proven = False
            source.record_failure()
            # An old model may well be gone: the current one embeds everything again.
            log("warning" if model.current else "info", "embed.query", model=model.name, says=error.message)
            return None
        source.record_success()
        if vector is not None and len(key[1]) <= _CACHED_LENGTH:
            with self._lock:
                self._cached[key] = vector
                while len(self._cached) > _MAX_CACHED:
                    self._cached.popitem(last=False)
        return vector

    def match_subwords(self, model: StoredModel, text: str, listed: Sequence[bytes]) -> list[float] | None:
        """How well each of these texts, as the model listed them, holds the query's parts of words."""
        source = self._sources.get(model.name)
        embedder = source.embedder if source is not None else None
        if not isinstance(embedder, SubwordEmbedder):
            return None
        return embedder.match_subwords(text.strip()[: embedder.chunk_length], listed)

    def _embed(self, source: _QuerySource, model: StoredModel, text: str) -> "Vectors | None":
        embedder = source.embedder
        if embedder is None:
            embedder = source.embedder = self._get_embedder(ModelConfig(**json.loads(model.config)))
        if embedder is None:
            return None
        if not source.is_proven:
            check_model(embedder.embed([PROBE], "document", self._timeout)[0], model)
            source.is_proven = True
        vector = embedder.embed([text[: embedder.chunk_length]], "query", self._timeout)[0]
        if vector.shape[0] != model.dimension:
            raise UnusableAnswer(
                f"The query vector has {vector.shape[0]} dimensions; those of {model.name} have {model.dimension}."
            )
        return vector
