"""One endpoint: a request, its answer, and what each way of failing means."""

import time
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

import orjson

from tokonoma.core.clock import now
from tokonoma.embed.config import EndpointConfig
from tokonoma.embed.embedder import ProviderUnavailable, UnusableAnswer

if TYPE_CHECKING:
    import httpx

_REST = 5.0  # seconds after a failure in which other endpoints go first; twice as long after each further one
_MOST_REST = 60.0
_MOST_BYTES = 64 * 2**20
_TEXTS = (400, 413, 422)  # something is wrong with these texts, and perhaps not with others
_LATER = (408, 409, 425, 429)


class EmbeddingEndpoint:
    def __init__(self, place: int, endpoint: EndpointConfig) -> None:
        self.position, self.config = place, endpoint
        self._failures = 0
        self._until = 0.0

    @property
    def is_resting(self) -> bool:
        return time.monotonic() < self._until

    def record_failure(self, retry_after: float | None) -> None:
        rest = min(_REST * 2**self._failures, _MOST_REST) if retry_after is None else retry_after
        self._failures = min(self._failures + 1, 10)
        self._until = time.monotonic() + rest

    def record_success(self) -> None:
        self._failures, self._until = 0, 0.0

    def post(self, client: "httpx.Client", body: dict[str, Any], until: float) -> list[Any]:
        """The vectors, in the order of the texts. What the other side writes in an error is never repeated: it may
        hold the key."""
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
        except RuntimeError as error:  # the client was closed while we asked
            raise ProviderUnavailable("The embedder is closed.") from error
        return _parse_rows(text, len(body["input"]), where)

    def _check_status(self, response: "httpx.Response") -> None:
        status, where = response.status_code, self.config.display_url
        if status == 200:
            return
        if status in _TEXTS:
            raise UnusableAnswer(f"The embedding endpoint {where} refused the texts (status {status}).")
        after = _parse_retry_after(response.headers.get("retry-after"))
        if status in _LATER or status >= 500:
            raise ProviderUnavailable(
                f"The embedding endpoint {where} is busy or broken (status {status}).", retry_after=after
            )
        raise ProviderUnavailable(
            f"The embedding endpoint {where} refused us (status {status})."
            " Check embed_url, embed_model and embed_api_key.",
            reason="embedder_refused",
        )

    def _read_body(self, response: "httpx.Response", until: float) -> bytes:
        text = bytearray()
        for chunk in response.iter_bytes():
            text += chunk
            if len(text) > _MOST_BYTES:
                raise UnusableAnswer(f"The answer of the embedding endpoint {self.config.display_url} is too long.")
            if time.monotonic() > until:  # a time-out of the client is for one chunk alone
                raise ProviderUnavailable(f"The embedding endpoint {self.config.display_url} did not answer in time.")
        return bytes(text)


def open_client() -> "httpx.Client":
    import httpx

    # Proxies and certificates of the environment are not looked at: only the composition root reads it.
    return httpx.Client(trust_env=False, follow_redirects=False)


def _parse_rows(text: bytes, count: int, where: str) -> list[Any]:
    try:
        data: list[dict[str, Any]] = orjson.loads(text)["data"]
        placed = {int(each.get("index", place)): each["embedding"] for place, each in enumerate(data)}
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise UnusableAnswer(f"The answer of the embedding endpoint {where} cannot be read.") from error
    if len(data) != count or sorted(placed) != list(range(count)):
        raise UnusableAnswer(f"The embedding endpoint {where} gave {len(data)} vectors for {count} texts.")
    return [placed[place] for place in range(count)]


def _parse_retry_after(told: str | None) -> float | None:
    """Seconds, from a number or from a date; at most an hour."""
    if told is None:
        return None
    try:
        seconds = float(told)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(told).timestamp() - now() / 1000
        except ValueError:
            return None
    return min(max(seconds, 0.0), 3600.0) if seconds == seconds else None
