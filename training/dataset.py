"""Step 3: pairs as numbers of pieces, with the teacher's vector that each is to learn.

    python -m training.dataset PAIRS VOCABULARY.tsv TEACHER OUT [--words japanese.npz english.npz] [--attribution-only]

The teacher's 384 numbers are brought to 256 by the directions in which they vary most (PCA without centring). Words
with public vectors (training/wordvectors.py) are added as texts of their own.
"""

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from tokonoma.embed.builtin import SubwordTokenizer, is_japanese
from training.neighbours import chosen_words, mapped, write
from training.parallel import over
from training.sources import Pair, pairs, say
from training.wordvectors import WordVectors

WIDTH = 56  # pieces of a text that training looks at
DIMENSION = 256

_cutter: SubwordTokenizer | None = None


def read_vocabulary(path: Path) -> tuple[list[str], list[float]]:
    rows = [line.split("\t") for line in path.read_text("utf-8").splitlines()]
    # As float32, which is how the shipped file keeps them: a tie must be decided alike.
    scores = np.array([float(score) for _, score in rows], np.float32)
    return [piece for piece, _ in rows], scores.tolist()


def prepare(path: Path) -> None:
    global _cutter  # one for each process
    _cutter = SubwordTokenizer(*read_vocabulary(path))


def numbered(batch: list[Pair]) -> tuple[np.ndarray, np.ndarray]:
    assert _cutter is not None
    return tuple(_table([_cutter.tokenize(text) for text in texts]) for texts in zip(*_sides(batch), strict=True))  # type: ignore[return-value]


def _sides(batch: list[Pair]) -> list[tuple[str, str]]:
    return [(pair.en, pair.ja or pair.en) for pair in batch]


def _table(cuts: list[list[int]]) -> np.ndarray:
    """−1 where there is no more piece."""
    table = np.full((len(cuts), WIDTH), -1, np.int32)
    for row, cut in zip(table, cuts, strict=True):
        row[: min(len(cut), WIDTH)] = cut[:WIDTH]
    return table


def reduced(vectors: np.ndarray) -> np.ndarray:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    whole = torch.from_numpy(vectors).to(device).float()
    _, directions = torch.linalg.eigh(whole.T @ whole)
    kept = torch.nn.functional.normalize(whole @ directions[:, -DIMENSION:], dim=-1)
    return kept.half().cpu().numpy()


@dataclass(frozen=True, slots=True)
class Dataset:
    en: np.ndarray
    ja: np.ndarray
    taught: np.ndarray  # row of `vectors` for each pair
    source: np.ndarray  # place in `sources`
    vectors: np.ndarray
    sources: list[str]

    @classmethod
    def read(cls, folder: Path) -> "Dataset":
        names = ("en", "ja", "taught", "source", "vectors")
        tables = [np.load(folder / f"{name}.npy", mmap_mode="r") for name in names]
        return cls(*tables, json.loads((folder / "sources.json").read_text("utf-8")))

    def without(self, sources: Sequence[str]) -> "Dataset":
        left = ~np.isin(self.source, [at for at, name in enumerate(self.sources) if name in sources])
        return Dataset(self.en[left], self.ja[left], self.taught[left], self.source[left], self.vectors, self.sources)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("pairs", type=Path)
    arguments.add_argument("vocabulary", type=Path)
    arguments.add_argument("teacher", type=Path)
    arguments.add_argument("out", type=Path)
    arguments.add_argument("--words", type=Path, nargs="*", default=())
    arguments.add_argument("--attribution-only", action="store_true")
    given = arguments.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    chosen = list(pairs(given.pairs, attribution_only=given.attribution_only))
    places = {text: at for at, text in enumerate(json.loads((given.teacher / "texts.json").read_text("utf-8")))}
    used, taught = np.unique(np.array([places[pair.en] for pair in chosen]), return_inverse=True)
    vectors = reduced(np.load(given.teacher / "vectors.npy", mmap_mode="r")[used])

    count, held, guessed = len(chosen), list[WordVectors](), [vectors]
    for path in given.words:
        words = chosen_words(WordVectors.read(path), read_vocabulary(given.vocabulary)[0])
        guessed.append(mapped(words, chosen[:count], taught[:count], vectors))
        held.append(words)
        source = "chive" if is_japanese(words.words[0]) else "glove"
        chosen += [Pair(word, "", source) for word in words.words]
    vectors = np.concatenate(guessed)
    taught = np.concatenate([taught, np.arange(len(used), len(vectors))])

    counts = Counter(pair.src for pair in chosen)
    sources = sorted(counts)
    say(f"{len(chosen)} pairs: {dict(counts)}")
    np.save(given.out / "vectors.npy", vectors)
    np.save(given.out / "taught.npy", taught.astype(np.int64))
    np.save(given.out / "source.npy", np.array([sources.index(pair.src) for pair in chosen], np.int8))
    (given.out / "sources.json").write_text(json.dumps(sources), "utf-8")
    (given.out / "counts.json").write_text(json.dumps(counts), "utf-8")
    both = list(over(numbered, chosen, prepare, (given.vocabulary,)))
    en, ja = (np.concatenate(tables) for tables in zip(*both, strict=True))
    np.save(given.out / "en.npy", en)
    np.save(given.out / "ja.npy", ja)
    for words in held:
        source = "chive" if is_japanese(words.words[0]) else "glove"
        write(given.out, source, en[count : count + len(words.words)], words)
        count += len(words.words)
    say("dataset written")


if __name__ == "__main__":
    main()
