"""Any endpoint that speaks as OpenAI's does: OpenAI, Together, Ollama, LM Studio, vLLM and many more."""

import random
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tokonoma.core.log import log
from tokonoma.embed.config import Access, Recipe
from tokonoma.embed.embedder import PROBE, Away, Kind, Unsound, checked, same_model
from tokonoma.embed.endpoint import Line, open_client

if TYPE_CHECKING:
    import httpx

    from tokonoma.embed.embedder import Vectors

TRIES = 3
_WAIT = 0.5  # seconds before the second try; twice as long before each further one
_CHANCE = random.Random()  # noqa: S311 - not a secret
_LONGEST = 10.0  # seconds that a try is waited for; who asks for more is asked again later


class HttpEmbedder:
    """Asks the first endpoint that is not known to be away; the others are there for when it is.

    Many servers ignore the name of the model and answer with whatever they have loaded. So the probe travels with every
    request, and an answer counts only if the probe's vector lies where it did before.
    """

    def __init__(self, recipe: Recipe, access: Access) -> None:
        self.model = recipe.name
        self.dimension = recipe.dimension or None
        self.batch, self.reach = max(access.batch - 1, 1), access.reach  # and the probe
        self._recipe, self._patience = recipe, access.patience
        self._lines = [Line(place, endpoint) for place, endpoint in enumerate(access.endpoints)]
        self._client: httpx.Client | None = None
        self._probe = recipe.prefixed(PROBE, "document")
        self._anchor: tuple[int, Vectors] | None = None  # which endpoint said where the probe lies, and where
        self._guard = threading.Lock()
        self._closed = threading.Event()

    def embed(self, texts: Sequence[str], kind: Kind, patience: float | None = None) -> "Vectors":
        import numpy as np

        written = [self._recipe.prefixed(text, kind) for text in texts]
        parts = [written[at : at + self.batch] for at in range(0, len(written), self.batch)]
        if patience is not None:  # somebody waits: every endpoint is asked once
            return np.concatenate([self._round(part, patience) for part in parts])
        return np.concatenate([self._patiently(part) for part in parts])

    def close(self) -> None:
        self._closed.set()
        with self._guard:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _patiently(self, texts: list[str]) -> "Vectors":
        for attempt in range(TRIES):
            try:
                return self._round(texts, self._patience)
            except Away as error:
                wait = self._wait(attempt, error)
                if attempt == TRIES - 1 or error.reason == "embedder_refused" or wait > _LONGEST:
                    raise
                if self._closed.wait(wait):
                    raise
        raise AssertionError("the last try returns or raises")

    def _wait(self, attempt: int, error: Away) -> float:
        if error.retry_after is not None:
            return error.retry_after
        # At random, so that many processes do not come back in the same instant.
        return _WAIT * 2**attempt * _CHANCE.uniform(0.5, 1.5)

    def _round(self, texts: list[str], patience: float) -> "Vectors":
        """Each endpoint once, those that were away last."""
        failed: list[Away | Unsound] = []
        for line in sorted(self._lines, key=lambda line: line.resting):
            try:
                return self._ask(line, texts, patience)
            except (Away, Unsound) as error:
                line.failed(error.retry_after if isinstance(error, Away) else None)
                log("debug", "embed.endpoint", endpoint=line.endpoint.shown, says=error.message)
                failed.append(error)
        # An answer that cannot be used says more about these texts than one that did not come.
        raise next((error for error in failed if isinstance(error, Unsound)), failed[0])

    def _ask(self, line: Line, texts: list[str], patience: float) -> "Vectors":
        asked = [*texts, self._probe]
        vectors = checked(self._post(line, asked, patience), len(asked), self.dimension)
        self._same(line, vectors[-1])
        line.worked()
        return vectors[:-1]

    def _same(self, line: Line, probe: "Vectors") -> None:
        """All endpoints must serve one model. Where they differ, those that are named first are right."""
        with self._guard:
            if self._anchor is None:
                self._anchor, self.dimension = (line.place, probe), probe.shape[0]
            place, anchor = self._anchor
            if same_model(probe, anchor):
                return
            if line.place <= place:  # whoever relied on the other is told, and looks again
                self._anchor = (line.place, probe)
        raise Unsound(f"{line.endpoint.shown} serves another model than it did, or than another endpoint does.")

    def _post(self, line: Line, texts: list[str], patience: float) -> list[Any]:
        body: dict[str, Any] = {"model": self._recipe.model, "input": texts, "encoding_format": "float"}
        if self._recipe.dimension:
            body["dimensions"] = self._recipe.dimension
        return line.post(self._open(), body, time.monotonic() + patience)

    def _open(self) -> "httpx.Client":
        with self._guard:
            if self._closed.is_set():
                raise Away("The embedder is closed.")
            if self._client is None:
                self._client = open_client()
            return self._client
