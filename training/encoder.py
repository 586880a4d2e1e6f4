"""A small transformer that reads a text as a whole: word order, and which sense of a word is meant.

It was to be a third witness beside words and the vectors of the built-in model, which know single words only. It is not
part of the package, because it lifts search too little: docs/adr/0059-a-contextual-encoder.md. Numpy is enough, and
training uses this very code to split texts.

The model is one file: a line of JSON that names its tensors, the pieces (UTF-8, one per line), then the tensors, each
at a multiple of 64 bytes. Tables of 8 bits have a scale a row; so has that of the pieces, whose numbers have 4 bits.
"""

import json
import math
import mmap
import threading
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokonoma.embed.builtin import SubwordTokenizer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tokonoma.embed.embedder import Vectors

ENCODER_NAME = "tokonoma-encoder-1"
START = "[CLS]"
"""The piece in front of every text. No text contains it: brackets are dropped."""

_FILE = Path(__file__).parent / f"{ENCODER_NAME}.bin"
_ALIGNED = 64
_MIDDLE = 8  # of the 16 levels
_ROOM = 4_096  # pieces that are computed at once, places without a piece included
_ACCENTS = {
    code: unicodedata.normalize("NFKD", chr(code))[0]
    for code in range(0xC0, 0x250)
    if unicodedata.normalize("NFKD", chr(code))[0].isascii()
}


@dataclass(frozen=True, slots=True)
class EncoderWeights:
    metadata: dict[str, Any]
    pieces: list[str]
    tensors: "Mapping[str, NDArray[Any]]"


def read_encoder(path: Path) -> EncoderWeights:
    """The tensors stay on disk until they are needed."""
    import numpy as np

    with path.open("rb") as file:
        first = file.readline()
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    about: dict[str, Any] = json.loads(first)
    pieces = data[len(first) : len(first) + about["bytes"]].decode("utf-8").split("\n")
    at, tensors = len(first) + _pad_size(about["bytes"]), dict[str, "NDArray[Any]"]()
    for name, kind, shape in about["tensors"]:
        tensor = np.frombuffer(data, np.dtype(kind), math.prod(shape), at).reshape(shape)
        tensors[name] = tensor
        at += _pad_size(tensor.nbytes)
    return EncoderWeights(about, pieces, tensors)


def write_encoder(path: Path, weights: EncoderWeights) -> None:
    text = "\n".join(weights.pieces).encode("utf-8")
    listed = [(name, tensor.dtype.str, tensor.shape) for name, tensor in weights.tensors.items()]
    first = json.dumps({**weights.metadata, "bytes": len(text), "tensors": listed}, ensure_ascii=False).encode("utf-8")
    first += b" " * (_pad_size(len(first) + 1) - len(first) - 1) + b"\n"
    with path.open("wb") as file:
        file.write(first)
        for block in (text, *(tensor.tobytes() for tensor in weights.tensors.values())):
            file.write(block.ljust(_pad_size(len(block)), b"\0"))


def _pad_size(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED


def fold_accents(text: str) -> str:
    """`café` → `cafe`: the pieces of Latin words have no accents."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text).translate(_ACCENTS)


@dataclass(frozen=True, slots=True)
class _Layer:
    """The matrices of one layer, ready to be multiplied from the right."""

    attention: "NDArray[np.float32]"
    attention_bias: "NDArray[np.float32]"
    joined: "NDArray[np.float32]"
    joined_bias: "NDArray[np.float32]"
    attention_norm: "NDArray[np.float32]"
    inner: "NDArray[np.float32]"
    inner_bias: "NDArray[np.float32]"
    outer: "NDArray[np.float32]"
    outer_bias: "NDArray[np.float32]"
    outer_norm: "NDArray[np.float32]"


class ContextEncoder:
    """Safe for several threads. The first text loads the model."""

    def __init__(self, path: Path = _FILE) -> None:
        self._path = path
        self._network: _Network | None = None
        self._lock = threading.Lock()

    @property
    def dimension(self) -> int:
        return self._load().dimension

    def embed(self, texts: Sequence[str]) -> "Vectors":
        """A vector of length 1 for each text. What is longer than the model's places is cut off."""
        import numpy as np

        network = self._network or self._load()
        numbers = [network.split(text) for text in texts]
        rows = np.empty((len(texts), network.dimension), np.float32)
        for some in _group_by_length([len(each) for each in numbers]):
            rows[some] = network.compute([numbers[place] for place in some])
        return rows

    def close(self) -> None:
        self._network = None

    def _load(self) -> "_Network":
        with self._lock:
            if self._network is None:
                self._network = _Network(read_encoder(self._path))
            return self._network


def _group_by_length(lengths: list[int]) -> list[list[int]]:
    """Texts of like length together, so that few places stay empty."""
    groups: list[list[int]] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if (
            groups
            and (len(groups[-1]) + 1) * lengths[place] <= _ROOM
            and lengths[place] <= 1.3 * lengths[groups[-1][0]] + 2
        ):
            groups[-1].append(place)
        else:
            groups.append([place])
    return groups


class _Network:
    def __init__(self, weights: EncoderWeights) -> None:
        about = weights.metadata
        self.dimension, self._heads = int(about["dimension"]), int(about["heads"])
        self._tokenizer = SubwordTokenizer(weights.pieces, weights.tensors["scores"].tolist())
        self._first = weights.pieces.index(START)
        self._pieces, self._scales = weights.tensors["pieces"], weights.tensors["pieces.scale"]
        self._places = _unpack(weights, "places")
        self._norm = weights.tensors["norm"]
        self._layers = [_read_layer(weights, f"{number}.") for number in range(int(about["layers"]))]
        self._head = _unpack(weights, "head").T.copy()

    def split(self, text: str) -> list[int]:
        return [self._first, *self._tokenizer.tokenize(fold_accents(text))][: len(self._places)]

    def compute(self, texts: list[list[int]]) -> "Vectors":
        import numpy as np

        longest = max(map(len, texts))
        numbers = np.full((len(texts), longest), self._first)
        present = np.zeros((len(texts), longest), np.float32)
        for row, mark, text in zip(numbers, present, texts, strict=True):
            row[: len(text)], mark[: len(text)] = text, 1.0
        states = _normalize(self._look_up(numbers) + self._places[:longest], self._norm)
        hidden = (present[:, None, None, :] - 1.0) * 1e9
        for layer in self._layers:
            states = self._run_layer(states, layer, hidden)
        summed = np.einsum("nl,nlw->nw", present, states) / present.sum(1, keepdims=True)
        rows = summed @ self._head
        return rows / np.sqrt(np.einsum("nd,nd->n", rows, rows))[:, None].clip(1e-9)

    def _look_up(self, numbers: "NDArray[np.intp]") -> "NDArray[np.float32]":
        """Each byte holds two numbers of 4 bits, the one in the lower bits first."""
        import numpy as np

        packed = self._pieces[numbers]
        pairs = np.stack((packed & 15, packed >> 4), axis=-1).reshape(*numbers.shape, -1)
        return (pairs.astype(np.float32) - _MIDDLE) * self._scales[numbers][..., None]

    def _run_layer(
        self, states: "NDArray[np.float32]", layer: _Layer, hidden: "NDArray[np.float32]"
    ) -> "NDArray[np.float32]":
        import numpy as np

        texts, length, width = states.shape
        flat = states.reshape(-1, width)
        mixed = (flat @ layer.attention + layer.attention_bias).reshape(texts, length, 3, self._heads, -1)
        query, key, value = mixed.transpose(2, 0, 3, 1, 4)
        near = query @ key.swapaxes(-1, -2) / np.float32(np.sqrt(width // self._heads)) + hidden
        near = np.exp(near - near.max(-1, keepdims=True))
        near /= near.sum(-1, keepdims=True)
        joined = (near @ value).swapaxes(1, 2).reshape(-1, width) @ layer.joined + layer.joined_bias
        flat = _normalize(np.asarray(flat + joined, np.float32), layer.attention_norm)
        inner = _bend(flat @ layer.inner + layer.inner_bias)
        outer = np.asarray(flat + inner @ layer.outer + layer.outer_bias, np.float32)
        return _normalize(outer, layer.outer_norm).reshape(states.shape)


def _unpack(weights: EncoderWeights, name: str) -> "NDArray[np.float32]":
    import numpy as np

    return weights.tensors[name].astype(np.float32) * weights.tensors[f"{name}.scale"][:, None]


def _read_layer(weights: EncoderWeights, prefix: str) -> _Layer:
    def matrix(name: str) -> "NDArray[np.float32]":
        return _unpack(weights, prefix + name).T.copy()

    def vector(name: str) -> "NDArray[np.float32]":
        return weights.tensors[prefix + name]

    return _Layer(
        *(matrix("attention"), vector("attention.bias"), matrix("joined"), vector("joined.bias")),
        vector("attention.norm"),
        *(matrix("inner"), vector("inner.bias"), matrix("outer"), vector("outer.bias")),
        vector("outer.norm"),
    )


def _normalize(states: "NDArray[np.float32]", norm: "NDArray[np.float32]") -> "NDArray[np.float32]":
    import numpy as np

    states = states - states.mean(-1, keepdims=True)
    deviation = np.sqrt(np.einsum("...w,...w->...", states, states) / states.shape[-1] + 1e-12)
    return states / deviation[..., None] * norm[0] + norm[1]


def _bend(values: "NDArray[np.float32]") -> "NDArray[np.float32]":
    """GELU, as tanh has it."""
    import numpy as np

    bent = values * values
    bent *= 0.044715 * 0.7978845608
    bent += 0.7978845608
    bent *= values
    np.tanh(bent, out=bent)
    bent += 1.0
    bent *= values
    bent *= 0.5
    return bent
