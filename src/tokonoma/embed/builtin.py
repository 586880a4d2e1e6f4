"""The model that comes with the program: Japanese and English, without network, key or further packages.

A text's vector is the sum of the vectors of its pieces, brought to length 1. How it was made is told in
docs/reference/embedder.md.
"""

import threading
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tokonoma.core.errors import Unready
from tokonoma.embed.builtin_tokenize import SubwordTokenizer
from tokonoma.embed.builtin_weights import ModelWeights, read_weights
from tokonoma.embed.config import ModelConfig
from tokonoma.embed.embedder import TextKind

if TYPE_CHECKING:
    from tokonoma.embed.embedder import Vectors

MODEL_NAME = "tokonoma-ja-en-2"
DIMENSION = 256
CHUNK_LENGTH = 400
"""Characters that one vector speaks for: on passages and manuals alike, longer texts are found better in pieces."""

_FILE = Path(__file__).parent / "data" / f"{MODEL_NAME}.bin"


class BuiltinEmbedder:
    dimension = DIMENSION
    batch_size = 256
    chunk_length = CHUNK_LENGTH

    def __init__(self, model: str = f"builtin:{MODEL_NAME}", path: Path = _FILE) -> None:
        self.model = model
        self._path = path
        self._loaded: tuple[SubwordTokenizer, ModelWeights] | None = None
        self._guard = threading.Lock()

    def embed(self, texts: Sequence[str], kind: TextKind, patience: float | None = None) -> "Vectors":
        import numpy as np

        cutter, weights = self._loaded or self._load()
        rows = np.empty((len(texts), DIMENSION), np.float32)
        for place, text in enumerate(texts):
            numbers = cutter.tokenize(text)
            row = weights.scales[numbers] @ weights.matrix[numbers].astype(np.float32)
            length = float(np.sqrt(row @ row))
            rows[place] = row / length if length > 1e-6 else _build_fallback_vector(text)
        return rows

    def close(self) -> None:
        self._loaded = None

    def _load(self) -> tuple[SubwordTokenizer, ModelWeights]:
        with self._guard:
            if self._loaded is None:
                weights = read_weights(self._path)
                self._loaded = SubwordTokenizer(weights.pieces, weights.scores.tolist()), weights
            return self._loaded


def build_builtin_embedder(recipe: ModelConfig) -> BuiltinEmbedder:
    """The recipe must name this very model, or none: vectors of another one are kept under another name."""
    if recipe.model not in ("", MODEL_NAME) or recipe.dimension not in (0, DIMENSION):
        raise Unready(
            f"This version comes with the embedding model {MODEL_NAME} of {DIMENSION} dimensions, and no other."
            " Leave embed_model and embed_dimension empty, or choose another embed_provider.",
            reason="embedder",
        )
    return BuiltinEmbedder(recipe.name)


def _build_fallback_vector(text: str) -> "Vectors":
    """A text without a known piece is like itself and like nothing else."""
    import numpy as np

    row = np.random.default_rng(zlib.crc32(text.encode("utf-8", "surrogatepass"))).standard_normal(DIMENSION)
    return (row / np.sqrt(row @ row)).astype(np.float32)
