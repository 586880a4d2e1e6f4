"""What public vectors of single words (training/wordvectors.py) add to the pairs.

Each word becomes a text of its own, whose vector is brought from the public space to the teacher's by a linear map,
learned from the words that the pairs know. In training, words that are used alike are also drawn together.
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

from tokonoma.embed.builtin import WORD_MARK, is_japanese
from training.sources import Pair, say
from training.student import Student
from training.wordvectors import WordVectors, stem

_RIDGE = 0.003  # of the number of words
_WIDTH = 8  # pieces of a word that are looked at
_SAMPLE = 2_048  # words compared in one step


def chosen_words(held: WordVectors, pieces: Iterable[str]) -> WordVectors:
    """Those with vectors of their own, and those that the vocabulary has whole; also stems (引っ越 of 引っ越す)."""
    whole, known = set(pieces), set(held.words)
    kept = [at for at, word in enumerate(held.words) if held.own[at] or word in whole or WORD_MARK + word in whole]
    words, places = [held.words[at] for at in kept], list(kept)
    for at in kept:
        form = stem(held.words[at])
        if form in whole and form not in known:
            known.add(form)
            words.append(form)
            places.append(at)
    own = np.arange(len(words)) < len(kept)
    return WordVectors(words, held.own[places] & own, held.vectors[places])


def mapped(held: WordVectors, pairs: list[Pair], taught: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """The teacher's vector as the public one lets it be guessed, for every word."""
    japanese = is_japanese(held.words[0])
    places = {word: at for at, word in enumerate(held.words) if held.own[at]}
    sums = np.zeros((len(held.words), vectors.shape[1]), np.float32)
    for pair, row in zip(pairs, taught, strict=True):
        at = places.get(pair.ja if japanese else pair.en.lower())
        if at is not None:
            sums[at] += vectors[row]
    lengths = np.linalg.norm(sums, axis=1)
    known = np.flatnonzero(lengths > 1e-6)
    x, y = held.vectors[known].astype(np.float64), sums[known] / lengths[known, None]
    test = np.arange(len(known)) % 10 == 0
    guess = x[test] @ _map(x[~test], y[~test])
    near = (guess * y[test]).sum(1) / np.linalg.norm(guess, axis=1).clip(1e-6)
    say(f"{len(held.words)} words, {len(known)} of them in pairs; cosine of the guess {near.mean():.3f}")
    found = held.vectors @ _map(x, y)
    return (found / np.linalg.norm(found, axis=1, keepdims=True).clip(1e-6)).astype(np.float16)


def _map(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.linalg.solve(x.T @ x + _RIDGE * len(x) * np.eye(x.shape[1]), x.T @ y)


def write(folder: Path, name: str, numbers: np.ndarray, held: WordVectors) -> None:
    own = held.own & (numbers[:, 0] >= 0)
    np.savez(folder / f"{name}.words.npz", numbers=numbers[own, :_WIDTH], vectors=held.vectors[own].astype(np.float16))


class Alike:
    """Words of one language: the student is to find those alike that the public vectors find alike."""

    def __init__(self, path: Path, pieces: int, device: str) -> None:
        held = np.load(path)
        self._numbers = torch.from_numpy(np.where(held["numbers"] < 0, pieces, held["numbers"])).to(device)
        self._vectors = torch.from_numpy(held["vectors"]).to(device).float()

    def loss(self, student: Student, scale: float, soft: float) -> torch.Tensor:
        some = torch.randint(len(self._numbers), (_SAMPLE,), device=self._numbers.device)
        numbers, vectors = self._numbers[some], self._vectors[some]
        found = student(numbers, torch.ones_like(numbers, dtype=torch.bool))
        return within(found, vectors @ vectors.T, scale, soft, same=some[:, None] == some[None, :])


def within(
    found: torch.Tensor, near: torch.Tensor, scale: float, soft: float, same: torch.Tensor | None = None
) -> torch.Tensor:
    """Each text but itself, by how near the teacher finds the others."""
    itself = torch.eye(len(found), dtype=torch.bool, device=found.device) if same is None else same
    with torch.no_grad():
        wanted = (soft * near).masked_fill(itself, -1e4).softmax(-1)
    return functional.cross_entropy((scale * found @ found.T).masked_fill(itself, -1e4), wanted)


def readers(folder: Path, weights: dict[str, float], pieces: int, device: str) -> list[tuple[Alike, float]]:
    """The words that the dataset holds, with how much each language's count."""
    wanted = [(folder / f"{name}.words.npz", weight) for name, weight in weights.items() if weight]
    return [(Alike(path, pieces, device), weight) for path, weight in wanted if path.exists()]
