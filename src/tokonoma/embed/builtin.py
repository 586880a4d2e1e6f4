"""The model that comes with the program: Japanese and English, without network, key or further packages.

A text's vector is the sum of the vectors of its pieces, scaled to length 1. docs/reference/embedder.md tells how the
model was made. Training uses this very code to split texts.

Latin words begin with a mark (`▁`), so that `api` is one piece in 「APIサーバー」 and in "the API server". Runs of
Japanese are split as a whole, into the likeliest sequence of pieces (Viterbi over a unigram vocabulary). Spaces and
punctuation are dropped.

The model is one file, which is read without being copied:

    {"name", "dimension", "pieces", "bytes", …}\\n   padded with spaces to a multiple of 64
    pieces     UTF-8, one per line, `bytes` long, padded likewise
    scores     float32, one per piece: the logarithm of how often it is used, which decides how texts are split
    scales     float32, one per piece
    matrix     int8, a row per piece: row · scale is the piece's vector; its length says how much the piece counts
"""

import json
import mmap
import re
import threading
import unicodedata
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokonoma.embed.embedder import TextKind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tokonoma.embed.embedder import Vectors

MODEL_NAME = "tokonoma-ja-en-2"
DIMENSION = 256
CHUNK_LENGTH = 400
"""Characters that one vector represents: on passages and manuals alike, longer texts are found better in pieces."""

_FILE = Path(__file__).parent / "data" / f"{MODEL_NAME}.bin"
_KEPT, _KEPT_LENGTH = 256, 2_000  # texts whose vectors are kept, and characters of each
_ALIGNED = 64

WORD_MARK = "▁"

_JAPANESE = "ぁ-ゖァ-ヺー々〆〇一-鿿㐀-䶿豈-﫿\U00020000-\U0003134f"
_CHUNK = re.compile(rf"[{_JAPANESE}]+|[0-9A-Za-zÀ-ÖØ-öø-ɏ]+[+#]*|(?:(?![{_JAPANESE}])[^\W_])++")
_FIRST_JAPANESE = re.compile(rf"[{_JAPANESE}]")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
_LONG_VOWEL = re.compile(r"(?<=[ァ-ヺー]{3})ー(?![ァ-ヺー])")  # サーバー is written サーバ as often
_UNKNOWN = -25.0  # below any piece: an unknown letter is skipped only where nothing else fits
_NUMBER, _NUMBER_SIZE = "<u2", 2  # of a piece, as it is stored
_MAX_CACHED = 20_000  # words whose pieces are cached; when there are more, all are dropped


def split_chunks(text: str) -> list[str]:
    """The parts that are split separately: words in Latin letters as they are written, and runs of Japanese."""
    return _CHUNK.findall(_LONG_VOWEL.sub("", unicodedata.normalize("NFKC", text)))


def is_japanese(chunk: str) -> bool:
    return _FIRST_JAPANESE.match(chunk) is not None


def split_camel_case(word: str) -> list[str]:
    """`JSONResponse` → `json`, `response`."""
    return [part.lower() for part in _HUMP.split(word)]


class SubwordTokenizer:
    """Texts → numbers of pieces. Safe for several threads: cached entries are only ever replaced."""

    def __init__(self, pieces: Sequence[str], scores: Sequence[float]) -> None:
        self._numbers = {piece: number for number, piece in enumerate(pieces)}
        self._scores = dict(zip(pieces, scores, strict=True))
        self._longest = {piece[:2]: len(piece) for piece in sorted(pieces, key=len)}  # by the first two letters
        self._cached: dict[str, tuple[int, ...]] = {}

    def tokenize(self, text: str) -> list[int]:
        found: list[int] = []
        for chunk in split_chunks(text):
            cached = self._cached.get(chunk)
            found += self._tokenize_chunk(chunk) if cached is None else cached
        return found

    def segment(self, run: str) -> tuple[list[int], float]:
        """The pieces of a run, and the logarithm of how likely they are together."""
        size = len(run)
        best = [0.0] + [float("-inf")] * size
        back = [0] * (size + 1)
        scores, longest = self._scores, self._longest
        for start in range(size):
            here, end = best[start], start + 1
            alone = here + scores.get(run[start], _UNKNOWN)
            if alone > best[end]:
                best[end], back[end] = alone, start
            # Most pairs of letters begin no piece, or only short ones.
            most = start + longest.get(run[start : start + 2], 0)
            for end in range(start + 2, (most if most < size else size) + 1):
                score = scores.get(run[start:end])
                if score is not None and here + score > best[end]:
                    best[end], back[end] = here + score, start
        found: list[int] = []
        end = size
        while end:
            number = self._numbers.get(run[back[end] : end])
            if number is not None:
                found.append(number)
            end = back[end]
        return found[::-1], best[size]

    def _tokenize_chunk(self, chunk: str) -> tuple[int, ...]:
        if is_japanese(chunk):
            found = tuple(self.segment(chunk)[0])
            if len(chunk) > 12:  # whole clauses do not come back
                return found
        else:
            found = self._tokenize_word(chunk)
        if len(self._cached) >= _MAX_CACHED:
            self._cached = {}
        self._cached[chunk] = found
        return found

    def _tokenize_word(self, word: str) -> tuple[int, ...]:
        whole = self._numbers.get(WORD_MARK + word.lower())
        if whole is not None:
            return (whole,)
        return tuple(number for part in split_camel_case(word) for number in self.segment(WORD_MARK + part)[0])


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
    pieces = data[len(first) : len(first) + about["bytes"]].decode("utf-8").split("\n")
    at, size = len(first) + _pad_size(about["bytes"]), _pad_size(4 * count)
    scores, scales = (np.frombuffer(data, np.dtype("<f4"), count, start) for start in (at, at + size))
    matrix = np.frombuffer(data, np.int8, count * dimension, at + 2 * size).reshape(count, dimension)
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


class BuiltinEmbedder:
    dimension = DIMENSION
    batch_size = 256
    chunk_length = CHUNK_LENGTH

    def __init__(self, model: str = f"builtin:{MODEL_NAME}", path: Path = _FILE) -> None:
        self.model = model
        self._path = path
        self._loaded: tuple[SubwordTokenizer, ModelWeights] | None = None
        self._lock = threading.Lock()
        self._recent: dict[str, Vectors] = {}  # what is saved is compared first, and then embedded to be stored
        self._split: dict[str, list[int]] = {}  # the pieces of the texts that were embedded last: they are listed next

    def embed(self, texts: Sequence[str], kind: TextKind, timeout: float | None = None) -> "Vectors":
        import numpy as np

        tokenizer, weights = self._loaded or self._load()
        rows = np.empty((len(texts), DIMENSION), np.float32)
        split: dict[str, list[int]] = {}
        for place, text in enumerate(texts):
            if (known := self._recent.get(text)) is not None:
                rows[place] = known
                continue
            numbers = split[text] = tokenizer.tokenize(text)
            row = weights.scales[numbers] @ weights.matrix[numbers].astype(np.float32)
            length = float(np.sqrt(row @ row))
            rows[place] = row / length if length > 1e-6 else _build_fallback_vector(text)
        self._split = split
        if len(texts) == 1 and len(texts[0]) <= _KEPT_LENGTH:
            if len(self._recent) >= _KEPT:
                self._recent = {}
            self._recent[texts[0]] = rows[0].copy()
        return rows

    def list_subwords(self, texts: Sequence[str]) -> list[bytes]:
        """The numbers of each text's pieces, none twice, two bytes each: enough to compare it with `match_subwords`."""
        import numpy as np

        tokenizer, _ = self._loaded or self._load()
        split = self._split
        numbers = (split[text] if text in split else tokenizer.tokenize(text) for text in texts)
        return [np.array(sorted(set(each)), _NUMBER).tobytes() for each in numbers]

    def match_subwords(self, query: str, listed: Sequence[bytes]) -> list[float]:
        """For each list of pieces how well it holds the query's, one by one: the cosine of each of them with the
        nearest piece of the list. Rare pieces, and those with long vectors, count more."""
        import numpy as np

        tokenizer, weights = self._loaded or self._load()
        asked = list(dict.fromkeys(tokenizer.tokenize(query)))
        sizes = np.array([len(each) // _NUMBER_SIZE for each in listed])
        levels = np.zeros(len(listed))
        if asked and sizes.any():
            held, places = np.unique(np.frombuffer(b"".join(listed), _NUMBER), return_inverse=True)
            # Sums of products of whole numbers below 2²⁴ are exact in any order: a level does not depend on the others.
            rows, wanted = (weights.matrix[numbers].astype(np.float32) for numbers in (held, asked))
            lengths, own = (np.sqrt(np.einsum("ij,ij->i", each, each)).clip(1e-6) for each in (rows, wanted))
            cosines = ((rows @ wanted.T) / lengths[:, None] / own)[places]
            starts = np.append(0, np.cumsum(sizes[sizes > 0])[:-1])
            worth = own.astype(np.float64) * weights.scales[asked] * -weights.scores[asked]
            best = np.maximum.reduceat(cosines, starts, axis=0)
            levels[sizes > 0] = np.einsum("ij,j->i", best, worth / worth.sum())
        return levels.tolist()

    def close(self) -> None:
        self._loaded = None
        self._recent, self._split = {}, {}

    def _load(self) -> tuple[SubwordTokenizer, ModelWeights]:
        with self._lock:
            if self._loaded is None:
                weights = read_weights(self._path)
                self._loaded = SubwordTokenizer(weights.pieces, weights.scores.tolist()), weights
            return self._loaded


def _build_fallback_vector(text: str) -> "Vectors":
    """For a text without a known piece: similar to itself and to nothing else."""
    import numpy as np

    row = np.random.default_rng(zlib.crc32(text.encode("utf-8", "surrogatepass"))).standard_normal(DIMENSION)
    return (row / np.sqrt(row @ row)).astype(np.float32)
