"""Embedding over HTTP, by the protocol of OpenAI: OpenAI, Together, Ollama, LM Studio, vLLM and many more."""

import random
import threading
import time
from collections.abc import Sequence
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

import orjson

from tokonoma.core.clock import now
from tokonoma.core.log import log
from tokonoma.embed.embedder import (
    PROBE,
    Backoff,
    ProviderUnavailable,
    TextKind,
    UnusableAnswer,
    check_vectors,
    is_same_model,
)
from tokonoma.embed.models import EndpointConfig, ModelConfig, ProviderAccess

if TYPE_CHECKING:
    import httpx

    from tokonoma.embed.embedder import Vectors

TRIES = 3
_WAIT = 0.5  # seconds before the second try; twice as long before each further one
_CHANCE = random.Random()  # noqa: S311 - not a secret
_LONGEST = 10.0  # seconds; a provider that asks for a longer wait is called again later
_REST = 5.0  # seconds after a failure in which other endpoints are tried first; doubled after each further one
_MOST_REST = 60.0
_MOST_BYTES = 64 * 2**20
_TEXTS = (400, 413, 422)  # the texts are refused; others may not be
_LATER = (408, 409, 425, 429)


class EmbeddingEndpoint(Backoff):
    def __init__(self, position: int, config: EndpointConfig) -> None:
        super().__init__(_REST, _MOST_REST)
        self.position, self.config = position, config

    def post(self, client: "httpx.Client", body: dict[str, Any], until: float) -> list[Any]:
        """The vectors, in the order of the texts. The text of an error response is never repeated: it may contain the
        key."""
        import httpx

        where = self.config.display_url
        left = max(until - time.monotonic(), 0.001)
        headers = {"content-type": "application/json"}
        if self.config.key:
            headers["authorization"] = f"Bearer {self.config.key}"
        try:
            with client.stream(
                "POST",
                f"{self.config.url}/embeddings",
                content=orjson.dumps(body),
                headers=headers,
                timeout=httpx.Timeout(left, connect=min(left, 10.0)),
            ) as response:
                self._check_status(response)
                text = self._read_body(response, until)
        except httpx.TimeoutException as error:
            raise ProviderUnavailable(f"The embedding endpoint {where} did not answer in time.") from error
        except httpx.HTTPError as error:
            raise ProviderUnavailable(f"The embedding endpoint {where} cannot be reached.") from error
        except RuntimeError as error:  # the client was closed meanwhile
            raise ProviderUnavailable("The embedder is closed.") from error
        return _parse_rows(text, len(body["input"]), where)

    def _check_status(self, response: "httpx.Response") -> None:
        status, where = response.status_code, self.config.display_url
        if status == 200:
            return
        if status in _TEXTS:
            raise UnusableAnswer(f"The embedding endpoint {where} rejected the texts (status {status}).")
        after = _parse_retry_after(response.headers.get("retry-after"))
        if status in _LATER or status >= 500:
            raise ProviderUnavailable(
                f"The embedding endpoint {where} is busy or failing (status {status}).", retry_after=after
            )
        raise ProviderUnavailable(
            f"The embedding endpoint {where} rejected the request (status {status})."
            " Check embed_url, embed_model and embed_api_key.",
            reason="embedder_refused",
        )

    def _read_body(self, response: "httpx.Response", until: float) -> bytes:
        text = bytearray()
        for chunk in response.iter_bytes():
            text += chunk
            if len(text) > _MOST_BYTES:
                raise UnusableAnswer(f"The answer of the embedding endpoint {self.config.display_url} is too long.")
            if time.monotonic() > until:  # a timeout of the client is for one chunk alone
                raise ProviderUnavailable(f"The embedding endpoint {self.config.display_url} did not answer in time.")
        return bytes(text)


class HttpEmbedder:
    """Uses the first endpoint that is not known to be unavailable; the others are for when it is.

    Many servers ignore the name of the model and answer with whatever they have loaded. So the probe travels with every
    request, and an answer counts only if the probe's vector has not moved.
    """

    def __init__(self, config: ModelConfig, access: ProviderAccess) -> None:
        self.model = config.name
        self.dimension = config.dimension or None
        self.batch_size, self.chunk_length = max(access.batch_size - 1, 1), access.chunk_length  # and the probe
        self._config, self._timeout = config, access.timeout
        self._endpoints = [EmbeddingEndpoint(number, each) for number, each in enumerate(access.endpoints)]
        self._client: httpx.Client | None = None
        self._probe = config.add_prefix(PROBE, "document")
        self._anchor: tuple[int, Vectors] | None = None  # the first endpoint that answered, and the probe's vector
        self._lock = threading.Lock()
        self._closed = threading.Event()

    def embed(self, texts: Sequence[str], kind: TextKind, timeout: float | None = None) -> "Vectors":
        import numpy as np

        prefixed = [self._config.add_prefix(text, kind) for text in texts]
        parts = [prefixed[at : at + self.batch_size] for at in range(0, len(prefixed), self.batch_size)]
        if timeout is not None:  # a search waits: every endpoint is tried once
            return np.concatenate([self._try_endpoints(part, timeout) for part in parts])
        return np.concatenate([self._embed_with_retries(part) for part in parts])

    def close(self) -> None:
        self._closed.set()
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _embed_with_retries(self, texts: list[str]) -> "Vectors":
        attempt = 0
        while True:
            try:
                return self._try_endpoints(texts, self._timeout)
            except ProviderUnavailable as error:
                # At random, so that many processes do not return in the same instant.
                wait = (
                    _WAIT * 2**attempt * _CHANCE.uniform(0.5, 1.5) if error.retry_after is None else error.retry_after
                )
                attempt += 1
                if attempt == TRIES or error.reason == "embedder_refused" or wait > _LONGEST or self._closed.wait(wait):
                    raise

    def _try_endpoints(self, texts: list[str], timeout: float) -> "Vectors":
        """Each endpoint once, those that failed before last."""
        failed: list[ProviderUnavailable | UnusableAnswer] = []
        for endpoint in sorted(self._endpoints, key=lambda each: each.is_resting):
            try:
                return self._embed_at(endpoint, texts, timeout)
            except (ProviderUnavailable, UnusableAnswer) as error:
                endpoint.record_failure(error.retry_after if isinstance(error, ProviderUnavailable) else None)
                log("debug", "embed.endpoint", endpoint=endpoint.config.display_url, says=error.message)
                failed.append(error)
        # An unusable answer says more about these texts than a missing one.
        raise next((error for error in failed if isinstance(error, UnusableAnswer)), failed[0])

    def _embed_at(self, endpoint: EmbeddingEndpoint, texts: list[str], timeout: float) -> "Vectors":
        sent = [*texts, self._probe]
        body: dict[str, Any] = {"model": self._config.model, "input": sent, "encoding_format": "float"}
        if self._config.dimension:
            body["dimensions"] = self._config.dimension
        rows = endpoint.post(self._get_client(), body, time.monotonic() + timeout)
        vectors = check_vectors(rows, len(sent), self.dimension)
        self._check_model(endpoint, vectors[-1])
        endpoint.record_success()
        return vectors[:-1]

    def _check_model(self, endpoint: EmbeddingEndpoint, probe: "Vectors") -> None:
        """All endpoints must serve one model. Where they differ, the first ones are right."""
        with self._lock:
            if self._anchor is None:
                self._anchor, self.dimension = (endpoint.position, probe), probe.shape[0]
            place, anchor = self._anchor
            if is_same_model(probe, anchor):
                return
            if endpoint.position <= place:  # users of the other one get the error, and look again
                self._anchor = (endpoint.position, probe)
        raise UnusableAnswer(
            f"{endpoint.config.display_url} serves another model than it did, or than another endpoint does."
        )

    def _get_client(self) -> "httpx.Client":
        with self._lock:
            if self._closed.is_set():
                raise ProviderUnavailable("The embedder is closed.")
            if self._client is None:
                import httpx

                # Proxies and certificates of the environment are ignored: only app/ reads the environment.
                self._client = httpx.Client(trust_env=False, follow_redirects=False)
            return self._client


def _parse_rows(text: bytes, count: int, where: str) -> list[Any]:
    try:
        data: list[dict[str, Any]] = orjson.loads(text)["data"]
        placed = {int(each.get("index", place)): each["embedding"] for place, each in enumerate(data)}
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise UnusableAnswer(f"The answer of the embedding endpoint {where} cannot be read.") from error
    if len(data) != count or sorted(placed) != list(range(count)):
        raise UnusableAnswer(f"The embedding endpoint {where} returned {len(data)} vectors for {count} texts.")
    return [placed[place] for place in range(count)]


def _parse_retry_after(value: str | None) -> float | None:
    """Seconds, from a number or from a date; at most a minute, whatever the endpoint asks for."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - now() / 1000
        except ValueError:
            return None
    return min(max(seconds, 0.0), _MOST_REST) if seconds == seconds else None
