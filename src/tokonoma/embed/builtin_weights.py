"""The file of the built-in model: a line of JSON, the pieces, their scores, a matrix of 8-bit numbers. One file, read
without being copied.

    {"name", "dimension", "pieces", "bytes", …}\\n   padded with spaces to a multiple of 64
    pieces     UTF-8, one a line, `bytes` long, padded likewise
    scores     float32, one a piece: the logarithm of how often it is used; what the cut is decided by
    scales     float32, one a piece
    matrix     int8, a row a piece: row · scale is the piece's vector; how long it is says how much the piece counts
"""

import json
import mmap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ALIGNED = 64


@dataclass(frozen=True, slots=True)
class ModelWeights:
    metadata: dict[str, Any]
    pieces: list[str]
    scores: "NDArray[np.float32]"
    scales: "NDArray[np.float32]"
    matrix: "NDArray[np.int8]"


def read_weights(path: Path) -> ModelWeights:
    """The matrix stays on disk until a row of it is needed."""
    import numpy as np

    with path.open("rb") as file:
        first = file.readline()
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    about: dict[str, Any] = json.loads(first)
    count, dimension = int(about["pieces"]), int(about["dimension"])
    at = len(first)
    pieces = data[at : at + about["bytes"]].decode("utf-8").split("\n")
    at += _pad_size(about["bytes"])
    scores = np.frombuffer(data, np.dtype("<f4"), count, at)
    at += _pad_size(4 * count)
    scales = np.frombuffer(data, np.dtype("<f4"), count, at)
    at += _pad_size(4 * count)
    matrix = np.frombuffer(data, np.int8, count * dimension, at).reshape(count, dimension)
    return ModelWeights(about, pieces, scores, scales, matrix)


def write_weights(path: Path, weights: ModelWeights) -> None:
    text = "\n".join(weights.pieces).encode("utf-8")
    count, dimension = weights.matrix.shape
    about = {**weights.metadata, "pieces": count, "dimension": dimension, "bytes": len(text)}
    first = json.dumps(about, ensure_ascii=False).encode("utf-8")
    first += b" " * (_pad_size(len(first) + 1) - len(first) - 1) + b"\n"
    blocks = (text, weights.scores.astype("<f4").tobytes(), weights.scales.astype("<f4").tobytes())
    with path.open("wb") as file:
        file.write(first)
        for block in blocks:
            file.write(block.ljust(_pad_size(len(block)), b"\0"))
        file.write(weights.matrix.tobytes())


def _pad_size(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED
