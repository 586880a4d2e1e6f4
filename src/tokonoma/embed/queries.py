"""Embedding questions: somebody waits, so answers are remembered, and a provider that is away is left alone a while."""

import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING

from tokonoma.core.errors import Refusal
from tokonoma.core.log import log
from tokonoma.embed.config import ModelConfig
from tokonoma.embed.embedder import PROBE, Embedder, UnusableAnswer, is_same_model
from tokonoma.embed.vector_store import EmbeddingModel

if TYPE_CHECKING:
    from tokonoma.embed.embedder import Vectors

QUERY_TIMEOUT = 5.0
"""Seconds that a search waits for one endpoint."""

_REMEMBERED = 1_024
_REST, _MOST_REST = 2.0, 60.0  # seconds in which a provider that failed is not asked; twice as long each time


class _QuerySource:
    """One model, and whether it can be asked."""

    def __init__(self) -> None:
        self.embedder: Embedder | None = None
        self.proven = False
        self.failures = 0
        self.until = 0.0

    def record_failure(self) -> None:
        self.proven = False
        self.until = time.monotonic() + min(_REST * 2**self.failures, _MOST_REST)
        self.failures = min(self.failures + 1, 10)

    def record_success(self) -> None:
        self.failures, self.until = 0, 0.0


class QueryEmbedder:
    """`embedder` makes or hands out the embedder of a recipe, or refuses; None: there is none."""

    def __init__(self, embedder: Callable[[ModelConfig], Embedder | None], patience: float = QUERY_TIMEOUT) -> None:
        self._embedder, self._patience = embedder, patience
        self._sources: dict[str, _QuerySource] = {}
        self._remembered: OrderedDict[tuple[str, str], Vectors] = OrderedDict()
        self._guard = threading.Lock()

    def embed_query(self, model: EmbeddingModel, text: str) -> "Vectors | None":
        """None if this model cannot be asked now; the log says why."""
        key = (model.name, text.strip())
        with self._guard:
            kept = self._remembered.get(key)
            if kept is not None:
                self._remembered.move_to_end(key)
                return kept
            source = self._sources.setdefault(model.name, _QuerySource())
        if time.monotonic() < source.until:
            return None
        try:
            vector = self._embed(source, model, key[1])
        except Refusal as error:
            source.record_failure()
            # That a model of the past is gone is no surprise: the present one makes its vectors anew.
            log("warning" if model.current else "info", "embed.query", model=model.name, says=error.message)
            return None
        source.record_success()
        if vector is not None:
            self._remember(key, vector)
        return vector

    def _embed(self, source: _QuerySource, model: EmbeddingModel, text: str) -> "Vectors | None":
        embedder = source.embedder
        if embedder is None:
            embedder = source.embedder = self._embedder(ModelConfig(**json.loads(model.config)))
        if embedder is None:
            return None
        if not source.proven:
            probe = embedder.embed([PROBE], "document", self._patience)[0]
            if not is_same_model(probe, model.anchor):
                raise UnusableAnswer(f"What answers as {model.name} is not the model that made the stored vectors.")
            source.proven = True
        vector = embedder.embed([text[: embedder.chunk_length]], "query", self._patience)[0]
        if vector.shape[0] != model.dimension:
            raise UnusableAnswer(
                f"A question got {vector.shape[0]} numbers; the vectors of {model.name} have {model.dimension}."
            )
        return vector

    def _remember(self, key: tuple[str, str], vector: "Vectors") -> None:
        with self._guard:
            self._remembered[key] = vector
            while len(self._remembered) > _REMEMBERED:
                self._remembered.popitem(last=False)
