"""Embedding questions: somebody waits, so answers are remembered, and a provider that is away is left alone a while."""

import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING

from tokonoma.core.errors import Refusal
from tokonoma.core.log import log
from tokonoma.embed.config import Recipe
from tokonoma.embed.embedder import PROBE, Embedder, Unsound, same_model
from tokonoma.embed.vector_store import Model

if TYPE_CHECKING:
    from tokonoma.embed.embedder import Vectors

PATIENCE = 5.0
"""Seconds that a search waits for one endpoint."""

_REMEMBERED = 1_024
_REST, _MOST_REST = 2.0, 60.0  # seconds in which a provider that failed is not asked; twice as long each time


class _Source:
    """One model, and whether it can be asked."""

    def __init__(self) -> None:
        self.embedder: Embedder | None = None
        self.proven = False
        self.failures = 0
        self.until = 0.0

    def failed(self) -> None:
        self.proven = False
        self.until = time.monotonic() + min(_REST * 2**self.failures, _MOST_REST)
        self.failures = min(self.failures + 1, 10)

    def worked(self) -> None:
        self.failures, self.until = 0, 0.0


class Queries:
    """`embedder` makes or hands out the embedder of a recipe, or refuses; None: there is none."""

    def __init__(self, embedder: Callable[[Recipe], Embedder | None], patience: float = PATIENCE) -> None:
        self._embedder, self._patience = embedder, patience
        self._sources: dict[str, _Source] = {}
        self._kept: OrderedDict[tuple[str, str], Vectors] = OrderedDict()
        self._guard = threading.Lock()

    def vector(self, model: Model, text: str) -> "Vectors | None":
        """None if this model cannot be asked now; the log says why."""
        key = (model.name, text.strip())
        with self._guard:
            kept = self._kept.get(key)
            if kept is not None:
                self._kept.move_to_end(key)
                return kept
            source = self._sources.setdefault(model.name, _Source())
        if time.monotonic() < source.until:
            return None
        try:
            vector = self._embedded(source, model, key[1])
        except Refusal as error:
            source.failed()
            # That a model of the past is gone is no surprise: the present one makes its vectors anew.
            log("warning" if model.current else "info", "embed.query", model=model.name, says=error.message)
            return None
        source.worked()
        if vector is not None:
            self._keep(key, vector)
        return vector

    def _embedded(self, source: _Source, model: Model, text: str) -> "Vectors | None":
        embedder = source.embedder
        if embedder is None:
            embedder = source.embedder = self._embedder(Recipe(**json.loads(model.recipe)))
        if embedder is None:
            return None
        if not source.proven:
            probe = embedder.embed([PROBE], "document", self._patience)[0]
            if not same_model(probe, model.anchor):
                raise Unsound(f"What answers as {model.name} is not the model that made the stored vectors.")
            source.proven = True
        vector = embedder.embed([text[: embedder.reach]], "query", self._patience)[0]
        if vector.shape[0] != model.dimension:
            raise Unsound(
                f"A question got {vector.shape[0]} numbers; the vectors of {model.name} have {model.dimension}."
            )
        return vector

    def _keep(self, key: tuple[str, str], vector: "Vectors") -> None:
        with self._guard:
            self._kept[key] = vector
            while len(self._kept) > _REMEMBERED:
                self._kept.popitem(last=False)
