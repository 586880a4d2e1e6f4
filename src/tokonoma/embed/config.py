"""Which model, and how to reach it. The recipe is kept with the vectors; keys and addresses never are."""

import hashlib
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from tokonoma.core.errors import Unready

Provider = Literal["none", "builtin", "openai", "fastembed", "sentence-transformers", "model2vec"]
PROVIDERS: tuple[str, ...] = get_args(Provider)


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """What decides where a text's vector lies: two recipes with the same name give vectors that can be compared."""

    provider: str
    model: str = ""
    dimension: int = 0  # 0: the model's own
    query_prefix: str = ""
    document_prefix: str = ""

    @property
    def name(self) -> str:
        name = f"{self.provider}:{self.model}" if self.model else self.provider
        if self.dimension:
            name += f"@{self.dimension}"
        if self.query_prefix or self.document_prefix:
            prefixes = f"{self.query_prefix}\0{self.document_prefix}"
            name += "+" + hashlib.sha256(prefixes.encode()).hexdigest()[:8]
        return name

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def add_prefix(self, text: str, kind: str) -> str:
        return (self.query_prefix if kind == "query" else self.document_prefix) + text


@dataclass(frozen=True, slots=True)
class EndpointConfig:
    url: str  # up to and without `/embeddings`
    key: str = field(default="", repr=False)

    @property
    def display_url(self) -> str:
        """Without whatever somebody may have hidden in the address."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.hostname or ''}" + (f":{parts.port}" if parts.port else "") + parts.path


@dataclass(frozen=True, slots=True)
class ProviderAccess:
    """How models are reached now."""

    endpoints: tuple[EndpointConfig, ...] = ()
    timeout: float = 30.0  # seconds for one request
    batch_size: int = 64
    chunk_length: int = 2_000
    folder: str = ""  # of a local model's files; empty: the library finds or downloads them


def parse_endpoints(urls: tuple[str, ...], keys: tuple[str, ...]) -> tuple[EndpointConfig, ...]:
    """The n-th key is the n-th address's. A key that stands alone is also given to other paths of the same server."""
    found: list[EndpointConfig] = []
    for place, url in enumerate(urls):
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
            raise Unready(
                f"The embedding address number {place + 1} is not usable. It must look like https://host/v1, with the"
                " key in embed_api_key.",
                reason="embed_url",
            )
        key = keys[place] if place < len(keys) else ""
        if not key and len(keys) == 1 and _parse_server(url) == _parse_server(urls[0]):
            key = keys[0]
        found.append(EndpointConfig(url.rstrip("/").removesuffix("/embeddings"), key))
    return tuple(found)


def _parse_server(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port
