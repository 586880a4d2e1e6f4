"""Models that run in this process, by libraries that are installed as extras: `pip install 'tokonoma[…]'`."""

import threading
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from tokonoma.core.errors import Unready
from tokonoma.core.log import log
from tokonoma.embed.embedder import ProviderUnavailable, TextKind, check_vectors
from tokonoma.embed.models import ModelConfig, ProviderAccess

if TYPE_CHECKING:
    from tokonoma.embed.embedder import Vectors

RunModel = Callable[[list[str], TextKind], Any]  # a loaded model: rows for texts

# The libraries are not typed: they are imported by name, when the first text comes.


def _load_fastembed(config: ModelConfig, access: ProviderAccess) -> RunModel:
    options = {"specific_model_path": access.folder} if access.folder else {}
    model = import_module("fastembed").TextEmbedding(config.model, **options)
    return lambda texts, kind: list((model.query_embed if kind == "query" else model.passage_embed)(texts))


def _load_sentence_transformers(config: ModelConfig, access: ProviderAccess) -> RunModel:
    model = import_module("sentence_transformers").SentenceTransformer(access.folder or config.model)
    # Since version 5 a model may have prompts of its own for either kind.
    encoders = {kind: getattr(model, f"encode_{kind}", model.encode) for kind in ("query", "document")}
    return lambda texts, kind: encoders[kind](texts, show_progress_bar=False, convert_to_numpy=True)


def _load_model2vec(config: ModelConfig, access: ProviderAccess) -> RunModel:
    model = import_module("model2vec").StaticModel.from_pretrained(access.folder or config.model, force_download=False)
    # Threads of its own would outlive a call that is cancelled; the batches are small.
    return lambda texts, _kind: model.encode(texts, use_multiprocessing=False)


_LOADERS: dict[str, tuple[str, Callable[[ModelConfig, ProviderAccess], RunModel]]] = {
    "fastembed": ("fastembed", _load_fastembed),
    "sentence-transformers": ("sentence_transformers", _load_sentence_transformers),
    "model2vec": ("model2vec", _load_model2vec),
}


def build_local_embedder(config: ModelConfig, access: ProviderAccess) -> "LocalEmbedder":
    package, load = _LOADERS[config.provider]
    if find_spec(package) is None:
        raise Unready(
            f"The embedding provider {config.provider} is not installed."
            f" Install it with: pip install 'tokonoma[{config.provider}]'",
            reason="embedder",
        )
    return LocalEmbedder(config, access, load)


class LocalEmbedder:
    def __init__(
        self, config: ModelConfig, access: ProviderAccess, load: Callable[[ModelConfig, ProviderAccess], RunModel]
    ) -> None:
        self.model = config.name
        self.dimension = config.dimension or None
        self.batch_size, self.chunk_length = access.batch_size, access.chunk_length
        self._config, self._access, self._load = config, access, load
        self._run: RunModel | None = None
        self._lock = threading.Lock()  # the libraries do not promise to be safe with several threads

    def embed(self, texts: Sequence[str], kind: TextKind, timeout: float | None = None) -> "Vectors":
        import numpy as np

        prefixed = [self._config.add_prefix(text, kind) for text in texts]
        with self._lock:
            run = self._run or self._load_model()
            try:
                rows = np.asarray(run(prefixed, kind), dtype=np.float32)
            except Exception as error:
                raise self._to_unavailable("did not run", error) from error
            if self._config.dimension and rows.ndim == 2:
                rows = rows[:, : self._config.dimension]  # such models put what matters first
            vectors = check_vectors(rows, len(prefixed), self.dimension)
            self.dimension = vectors.shape[1]
            return vectors

    def close(self) -> None:
        with self._lock:
            self._run = None

    def _load_model(self) -> RunModel:
        try:
            self._run = self._load(self._config, self._access)
        except Exception as error:  # libraries raise anything for a missing name, file or network
            raise self._to_unavailable("could not be loaded", error) from error
        return self._run

    def _to_unavailable(self, what: str, error: Exception) -> ProviderUnavailable:
        log("debug", "embed.local", model=self.model, error=type(error).__name__)
        return ProviderUnavailable(
            f"The embedding model {self.model} {what} ({type(error).__name__}).", reason="embedder_refused"
        )
