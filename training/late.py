"""Everyday words that found no room when the vocabulary was learned: they are added whole to a finished model.

A word's vector is the mean of the model's own vectors of its English glosses, as long as those of words like it.
"""

from collections import defaultdict
from pathlib import Path

import numpy as np

from tokonoma.embed.builtin import SubwordTokenizer, split_chunks
from training.sources import pairs

_BONUS = 1.0  # by which a word added whole is likelier than its parts
_LEAST = -18.0


def wanted(words: list[str], everyday: set[str], pieces: list[str], cutter: SubwordTokenizer, room: int) -> list[str]:
    """Words of both lists, in the order of the first, that are now cut into single letters."""
    found: dict[str, None] = {}
    for word in words:
        folded = split_chunks(word)
        if word in everyday and len(folded) == 1 and any("一" <= letter <= "鿿" for letter in word):
            numbers = cutter.tokenize(word)
            if len(numbers) > 1 and all(len(pieces[number]) == 1 for number in numbers):
                found.setdefault(folded[0])
    return list(found)[:room]


def glosses(folder: Path, words: set[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for pair in pairs(folder):
        if pair.src in ("edict", "sudachi") and pair.ja in words:
            found[pair.ja].append(pair.en)
    return found


def row_of(texts: list[str], rows: np.ndarray, cutter: SubwordTokenizer, length: float) -> np.ndarray:
    summed = np.stack([rows[cutter.tokenize(text)].sum(0) for text in texts])
    mean = (summed / np.linalg.norm(summed, axis=1, keepdims=True).clip(1e-6)).mean(0)
    return mean * (length / max(float(np.linalg.norm(mean)), 1e-6))


def with_words(
    rows: np.ndarray, pieces: list[str], scores: np.ndarray, chosen: list[str], meanings: dict[str, list[str]]
) -> tuple[np.ndarray, list[str], np.ndarray]:
    cutter = SubwordTokenizer(pieces, scores.tolist())
    alike = [
        number for number, piece in enumerate(pieces) if len(piece) > 1 and all("一" <= at <= "鿿" for at in piece)
    ]
    length = float(np.median(np.linalg.norm(rows[alike], axis=1)))
    added = [word for word in chosen if meanings.get(word)]
    fresh = np.stack([row_of(meanings[word], rows, cutter, length) for word in added])
    likely = [min(max(cutter.segment(word)[1] + _BONUS, _LEAST), -8.0) for word in added]
    return np.concatenate([rows, fresh]), pieces + added, np.append(scores, np.array(likely, np.float32))
