"""Step 5: how well the right record comes back, by words, by vectors and by both.

    python -m training.evaluate MODEL.bin… --dev DIR [--pairs PAIRS] [--jsts FILE --clinc FILE] [--reach 800] …

DIR holds `NAME.corpus.jsonl` and `NAME.queries.jsonl` (see training/README.md); what is not there is passed over. Both
legs are joined as the program joins them; the weights for a pair of languages are given as words,vectors.
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from tokonoma.embed.batches import split_text
from tokonoma.embed.builtin import BuiltinEmbedder
from training.everyday import captions, requests
from training.measure import Figures, figures, mean
from training.paraphrases import DEV, PATH, distractors, mrr_by_languages
from training.sources import say
from training.words import Words

SETS = ("k8s", "fastapi", "locomo", "jsquad", "jaquad")
_SPREAD = (0.4, 0.2)  # what a turn of a conversation lends to its neighbours, one and two away


class Corpus:
    """The documents of one language, or one conversation."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.ids = [row["id"] for row in rows]
        self.texts = [f"{row.get('title') or ''}\n{row['text']}".strip() for row in rows]
        self.words = Words(self.texts)
        self.spread = "scope" in rows[0]["meta"]

    def vectors(self, embedder: BuiltinEmbedder, reach: int) -> tuple[np.ndarray, np.ndarray]:
        """The vectors of all pieces, and where each document's begin."""
        cut = [split_text(text, reach) or [""] for text in self.texts]
        starts = np.cumsum([0] + [len(each) for each in cut])[:-1]
        return embedder.embed([piece for each in cut for piece in each], "document"), starts


def spread(scores: np.ndarray) -> np.ndarray:
    """Turns of a conversation are understood with what was said around them."""
    found = scores.copy()
    for away, share in enumerate(_SPREAD, 1):
        found[:, away:] += share * scores[:, :-away]
        found[:, :-away] += share * scores[:, away:]
    return found / (1.0 + 2.0 * sum(_SPREAD))


def calibrated(similarity: np.ndarray, low: float, high: float) -> np.ndarray:
    return ((similarity - low) / (high - low)).clip(0.0, 1.0)


def corpora(rows: list[dict[str, Any]]) -> dict[str, Corpus]:
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row["meta"].get("scope") or row["lang"]].append(row)
    return {name: Corpus(group) for name, group in groups.items()}


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


class Bench:
    """One set; what does not depend on the model is made once."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self.corpora = corpora(read(folder / f"{name}.corpus.jsonl"))
        self.asked: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for query in read(folder / f"{name}.queries.jsonl"):
            if not query["kind"].startswith("exhaustive"):
                self.asked[query.get("scope") or query.get("corpus_lang") or query["lang"]].append(query)
        self.words: dict[str, np.ndarray] = {}
        for group, queries in self.asked.items():
            corpus = self.corpora[group]
            found = np.stack([corpus.words.scores(query["text"]) for query in queries])
            self.words[group] = spread(found) if corpus.spread else found

    def kind(self, query: dict[str, Any]) -> str:
        return query["kind"] if self.name in ("k8s", "fastapi") else "all"

    def similarities(self, embedder: BuiltinEmbedder, reach: int) -> dict[str, np.ndarray]:
        found: dict[str, np.ndarray] = {}
        for group, queries in self.asked.items():
            vectors, starts = self.corpora[group].vectors(embedder, reach)
            near = embedder.embed([query["text"] for query in queries], "query") @ vectors.T
            near = np.maximum.reduceat(near, starts, axis=1)
            found[group] = spread(near) if self.corpora[group].spread else near
        return found

    def figures(self, scores: dict[str, np.ndarray]) -> dict[str, Figures]:
        kinds: dict[str, list[Figures]] = defaultdict(list)
        for group, queries in self.asked.items():
            for query, row in zip(queries, scores[group], strict=True):
                kinds[self.kind(query)].append(figures(query, self.corpora[group].ids, row))
        return {kind: mean(each) for kind, each in kinds.items()}

    def joined(self, near: dict[str, np.ndarray], given: argparse.Namespace) -> dict[str, np.ndarray]:
        found: dict[str, np.ndarray] = {}
        for group, queries in self.asked.items():
            languages = [query["lang"] == query.get("corpus_lang", query["lang"]) for query in queries]
            weights = np.array([given.same if same else given.other for same in languages], np.float32)
            vector = calibrated(near[group], given.low, given.high)
            found[group] = 1.0 - (1.0 - weights[:, :1] * self.words[group]) * (1.0 - weights[:, 1:] * vector)
        return found


def _line(bench: str, kind: str, columns: list[Figures]) -> str:
    main = "MRR" if bench.endswith("quad") else "R@10"
    return f"{bench + ' ' + kind:28}{main:>5} " + " ".join(f"{column[main]:7.4f}" for column in columns)


def _weights(text: str) -> tuple[float, float]:
    words, vectors = text.split(",")
    return float(words), float(vectors)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("models", type=Path, nargs="+")
    arguments.add_argument("--dev", type=Path, required=True)
    arguments.add_argument("--pairs", type=Path)
    arguments.add_argument("--test", action="store_true", help="the paraphrases that nothing is chosen by, too")
    arguments.add_argument("--jsts", type=Path)
    arguments.add_argument("--clinc", type=Path)
    arguments.add_argument("--out", type=Path)
    arguments.add_argument("--sets", nargs="*", default=SETS)
    arguments.add_argument("--reach", type=int, default=800)
    arguments.add_argument("--same", type=_weights, default=(1.0, 0.6))
    arguments.add_argument("--other", type=_weights, default=(0.3, 0.9))
    arguments.add_argument("--low", type=float, default=0.1)
    arguments.add_argument("--high", type=float, default=0.9)
    given = arguments.parse_args()
    benches = [Bench(given.dev, name) for name in given.sets if (given.dev / f"{name}.corpus.jsonl").exists()]
    others = distractors(given.pairs) if given.pairs else None
    told: dict[str, Any] = {}
    for path in given.models:
        embedder = BuiltinEmbedder(path=path)
        say(f"{path.name}: words, vectors, both")
        for bench in benches:
            near = bench.similarities(embedder, given.reach)
            legs = [bench.figures(scores) for scores in (bench.words, near, bench.joined(near, given))]
            for kind in sorted(legs[0]):
                say(_line(bench.name, kind, [leg[kind] for leg in legs]))
                told[f"{path.stem} {bench.name} {kind}"] = [leg[kind] for leg in legs]
        for name, judge, file in (("JSTS MRR", captions, given.jsts), ("CLINC150 alike", requests, given.clinc)):
            if file:
                told[f"{path.stem} {name}"] = value = judge(embedder, file)
                say(f"{name:33} {value:7.4f}")
        if others:
            for name, pairs in (("paraphrases dev", DEV), ("paraphrases", PATH))[: 1 + given.test]:
                told[f"{path.stem} {name}"] = found = mrr_by_languages(embedder, others, pairs)
                say(f"{name} MRR " + " ".join(f"{kind} {value:.3f}" for kind, value in found.items()))
    if given.out:
        given.out.write_text(json.dumps(told, indent=1), "utf-8")


if __name__ == "__main__":
    main()
