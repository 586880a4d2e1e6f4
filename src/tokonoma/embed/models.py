"""Embedding models: which one, how to reach it, and its embedder.

The configuration of a model is stored with its vectors; API keys and addresses never are.
"""

import hashlib
import threading
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tokonoma.core.errors import Unready
from tokonoma.core.urls import hide_credentials
from tokonoma.embed.builtin import DIMENSION, MODEL_NAME, BuiltinEmbedder
from tokonoma.embed.embedder import Embedder


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """What decides where a text's vector lies: configurations with the same name give vectors that can be compared."""

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

    def add_prefix(self, text: str, kind: str) -> str:
        return (self.query_prefix if kind == "query" else self.document_prefix) + text


@dataclass(frozen=True, slots=True)
class EndpointConfig:
    url: str  # up to and without `/embeddings`
    key: str = field(default="", repr=False)

    @property
    def display_url(self) -> str:
        """Without a password or a query that may be in the address."""
        return hide_credentials(self.url)


@dataclass(frozen=True, slots=True)
class ProviderAccess:
    """How models are reached, by the present settings."""

    endpoints: tuple[EndpointConfig, ...] = ()
    timeout: float = 30.0  # seconds for one request
    batch_size: int = 64
    chunk_length: int = 2_000
    folder: str = ""  # of a local model's files; empty: the library finds or downloads them


def parse_endpoints(urls: tuple[str, ...], keys: tuple[str, ...]) -> tuple[EndpointConfig, ...]:
    """The n-th key belongs to the n-th address. A single key is also used for other paths of the same server."""
    found: list[EndpointConfig] = []
    for place, url in enumerate(urls):
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
            raise Unready(
                f"The embedding address number {place + 1} is invalid. It must look like https://host/v1, with the"
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


class EmbedderCache:
    """The embedders of a process, one per configuration, all closed at the end. A model that is no longer configured is
    reached by the present settings: a query never goes to an address that was removed from them."""

    def __init__(self, access: ProviderAccess) -> None:
        self._access = access
        self._embedders: dict[ModelConfig, Embedder | None] = {}
        self._lock = threading.Lock()

    def get(self, config: ModelConfig) -> Embedder | None:
        """None for the provider `none`; fails with Unready if the configuration cannot be used."""
        with self._lock:
            if config not in self._embedders:
                self._embedders[config] = build_embedder(config, self._access)
            return self._embedders[config]

    def close(self) -> None:
        with self._lock:
            embedders, self._embedders = list(self._embedders.values()), {}
        for each in embedders:
            if each is not None:
                each.close()


def build_embedder(config: ModelConfig, access: ProviderAccess) -> Embedder | None:
    """None for the provider `none`. Nothing is loaded or connected before the first text."""
    if config.provider == "none":
        return None
    if config.provider == "builtin":
        # Vectors of another model are stored under another name.
        if config.model not in ("", MODEL_NAME) or config.dimension not in (0, DIMENSION):
            raise Unready(
                f"This version includes only the embedding model {MODEL_NAME} with {DIMENSION} dimensions."
                " Leave embed_model and embed_dimension empty, or choose another embed_provider.",
                reason="embedder",
            )
        return BuiltinEmbedder(config.name)
    if not config.model:
        raise Unready(f"The embedding provider {config.provider} needs a model: set embed_model.", reason="embedder")
    if config.provider == "openai":
        if not access.endpoints:
            raise Unready("The embedding provider openai needs an address: set embed_url.", reason="embedder")
        from tokonoma.embed.http import HttpEmbedder

        return HttpEmbedder(config, access)
    from tokonoma.embed.local import build_local_embedder

    return build_local_embedder(config, access)
