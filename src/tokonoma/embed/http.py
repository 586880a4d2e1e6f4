"""Any endpoint that speaks as OpenAI's does: OpenAI, Together, Ollama, LM Studio, vLLM and many more."""

import random
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tokonoma.core.log import log
from tokonoma.embed.config import ModelConfig, ProviderAccess
from tokonoma.embed.embedder import PROBE, ProviderUnavailable, TextKind, UnusableAnswer, check_vectors, is_same_model
from tokonoma.embed.endpoint import EmbeddingEndpoint, open_client

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

    def __init__(self, recipe: ModelConfig, access: ProviderAccess) -> None:
        self.model = recipe.name
        self.dimension = recipe.dimension or None
        self.batch_size, self.chunk_length = max(access.batch_size - 1, 1), access.chunk_length  # and the probe
        self._recipe, self._patience = recipe, access.timeout
        self._endpoints = [EmbeddingEndpoint(place, endpoint) for place, endpoint in enumerate(access.endpoints)]
        self._client: httpx.Client | None = None
        self._probe = recipe.add_prefix(PROBE, "document")
        self._anchor: tuple[int, Vectors] | None = None  # which endpoint said where the probe lies, and where
        self._guard = threading.Lock()
        self._closed = threading.Event()

    def embed(self, texts: Sequence[str], kind: TextKind, patience: float | None = None) -> "Vectors":
        import numpy as np

        written = [self._recipe.add_prefix(text, kind) for text in texts]
        parts = [written[at : at + self.batch_size] for at in range(0, len(written), self.batch_size)]
        if patience is not None:  # somebody waits: every endpoint is asked once
            return np.concatenate([self._try_endpoints(part, patience) for part in parts])
        return np.concatenate([self._embed_with_retries(part) for part in parts])

    def close(self) -> None:
        self._closed.set()
        with self._guard:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _embed_with_retries(self, texts: list[str]) -> "Vectors":
        for attempt in range(TRIES):
            try:
                return self._try_endpoints(texts, self._patience)
            except ProviderUnavailable as error:
                wait = self._choose_delay(attempt, error)
                if attempt == TRIES - 1 or error.reason == "embedder_refused" or wait > _LONGEST:
                    raise
                if self._closed.wait(wait):
                    raise
        raise AssertionError("the last try returns or raises")

    def _choose_delay(self, attempt: int, error: ProviderUnavailable) -> float:
        if error.retry_after is not None:
            return error.retry_after
        # At random, so that many processes do not come back in the same instant.
        return _WAIT * 2**attempt * _CHANCE.uniform(0.5, 1.5)

    def _try_endpoints(self, texts: list[str], patience: float) -> "Vectors":
        """Each endpoint once, those that were away last."""
        failed: list[ProviderUnavailable | UnusableAnswer] = []
        for line in sorted(self._endpoints, key=lambda line: line.is_resting):
            try:
                return self._embed_at(line, texts, patience)
            except (ProviderUnavailable, UnusableAnswer) as error:
                line.record_failure(error.retry_after if isinstance(error, ProviderUnavailable) else None)
                log("debug", "embed.endpoint", endpoint=line.config.display_url, says=error.message)
                failed.append(error)
        # An answer that cannot be used says more about these texts than one that did not come.
        raise next((error for error in failed if isinstance(error, UnusableAnswer)), failed[0])

    def _embed_at(self, line: EmbeddingEndpoint, texts: list[str], patience: float) -> "Vectors":
        asked = [*texts, self._probe]
        vectors = check_vectors(self._post(line, asked, patience), len(asked), self.dimension)
        self._check_model(line, vectors[-1])
        line.record_success()
        return vectors[:-1]

    def _check_model(self, line: EmbeddingEndpoint, probe: "Vectors") -> None:
        """All endpoints must serve one model. Where they differ, those that are named first are right."""
        with self._guard:
            if self._anchor is None:
                self._anchor, self.dimension = (line.position, probe), probe.shape[0]
            place, anchor = self._anchor
            if is_same_model(probe, anchor):
                return
            if line.position <= place:  # whoever relied on the other is told, and looks again
                self._anchor = (line.position, probe)
        raise UnusableAnswer(
            f"{line.config.display_url} serves another model than it did, or than another endpoint does."
        )

    def _post(self, line: EmbeddingEndpoint, texts: list[str], patience: float) -> list[Any]:
        body: dict[str, Any] = {"model": self._recipe.model, "input": texts, "encoding_format": "float"}
        if self._recipe.dimension:
            body["dimensions"] = self._recipe.dimension
        return line.post(self._get_client(), body, time.monotonic() + patience)

    def _get_client(self) -> "httpx.Client":
        with self._guard:
            if self._closed.is_set():
                raise ProviderUnavailable("The embedder is closed.")
            if self._client is None:
                self._client = open_client()
            return self._client
