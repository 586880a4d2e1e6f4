"""Everyday questions and notes in other words, found among texts that have nothing to do with them."""

import json
import random
from collections import defaultdict
from pathlib import Path

import numpy as np

from tokonoma.embed.builtin import BuiltinEmbedder
from training.sources import pairs

PATH = Path(__file__).parent / "paraphrases.jsonl"
DEV = Path(__file__).parent / "paraphrases-dev.jsonl"
"""Others to choose by, so that those above stay a test."""

_COUNT = 2_000
_NO_TEXTS = frozenset({"edict", "names", "wordnet", "sudachi"})  # words and glosses, not texts


def distractors(folder: Path, seed: int = 4) -> dict[str, list[str]]:
    """Drawn from both sides of the pairs."""
    chosen = random.Random(seed)  # noqa: S311 - not a secret
    kept: dict[str, list[str]] = {"en": [], "ja": []}
    seen = 0
    for pair in pairs(folder):
        if pair.src in _NO_TEXTS or not 8 <= len(pair.ja) <= 200:
            continue
        seen += 1
        place = len(kept["en"]) if len(kept["en"]) < _COUNT else chosen.randrange(seen)
        if place < _COUNT:
            for name, text in (("en", pair.en), ("ja", pair.ja)):
                kept[name][place : place + 1] = [text]
    return kept


def mrr_by_languages(embedder: BuiltinEmbedder, others: dict[str, list[str]], path: Path = PATH) -> dict[str, float]:
    groups: dict[str, list[dict[str, str]]] = defaultdict(list)
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        groups[f"{row['query_lang']}-{row['note_lang']}"].append(row)
    found: dict[str, float] = {}
    for name, rows in groups.items():
        texts = [row["note"] for row in rows] + others[rows[0]["note_lang"]]
        near = embedder.embed([row["query"] for row in rows], "query") @ embedder.embed(texts, "document").T
        right = np.diagonal(near)
        ranks = (near > right[:, None]).sum(1) + 1
        found[name] = float((1.0 / ranks).mean())
    found["all"] = sum(found.values()) / len(found)
    return found
