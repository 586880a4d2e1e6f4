"""`python -m bench.fit_ranking`: fit the weights of signs in src/tokonoma/search/tuning.py, and print them.

Every set is asked through the real tool, and the signs of all candidates are written down. Weights are then chosen so
that the sum of a relevant record's signs is the largest of its question: the likelihood of the relevant ones, if a
record is chosen with e^sum. Within and across languages are fitted together, turns of conversations by themselves, on
every second conversation; the other ones show what that is worth, and then all are used. The constant of turns brings
their usual best sum to that of notes.

Only what ranking may be tuned on is asked: the tuning halves of the notes, the part of the pairs that is not
reported, training/paraphrases-dev.jsonl, and the development sets beside the project (EVAL=folder, PAIRS=folder).
"""

import argparse
import json
import pickle
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from tokonoma.search import hybrid
from tokonoma.search.tuning import TUNING, Signs

from .both_languages import questions_of_pairs
from .notes import fill
from .notes import load as load_old
from .quality import TASKS, House, filled, read, space_of
from .recall import load, split

_WITHIN = ("vector", "subwords", "words", "coverage", "length", "title", "one_word", "word_share")
_LONGER = ("vector", "subwords", "words", "coverage", "title", "word_share")
_ACROSS = ("vector", "subwords", "coverage", "length", "word_share", "constant")  # `name` is set by hand
_TURN = (
    *_WITHIN[:5],
    "level",
    "own_coverage",
    "around",
    "thread",
    "thread_vector",
    "speaker",
    "asks",
    "reply",
    "when",
    "date",
)
_COUNTS = {"jsquad": 4.0, "jaquad": 4.0, "k8s": 1.5, "pairs": 3.0, "old": 0.5, "dev": 0.15}
"""How much a set counts. Those where words know best have few wrong answers, and would be forgotten."""

Floats = NDArray[np.float64]


@dataclass
class Asked:
    """A question with the signs of its candidates: a row for each, and whether it is in another language."""

    group: tuple[str, str]
    scope: str
    signs: Floats
    crosses: NDArray[np.bool_]
    relevant: NDArray[np.bool_]


class Recorder:
    """A house whose searches write down the signs of all candidates."""

    def __init__(self, folder: Path) -> None:
        self.house, self._found = House(folder), list[tuple[int, Signs, float, bool]]()

    def ask(self, question: dict[str, Any], names: dict[str, str], group: tuple[str, str], **params: Any) -> Asked:
        self._found = []
        fuse = hybrid.fuse_signs

        def record(evidence: Any, signs: Signs, *rest: Any, crosses: bool) -> Any:
            self._found.append((evidence.id, signs, evidence.date_factor, crosses))
            return fuse(evidence, signs, *rest, crosses=crosses)

        with patch.object(hybrid, "fuse_signs", record):
            self.house.call("search", query=question["text"], mode="hybrid", **params)
        with self.house.app.database.reading() as rows:
            listed = json.dumps([each[0] for each in self._found])
            found = dict(rows.rows("select id, address from document where id in ({numbers})", numbers=listed))
        pairs = [(_name(question, names[found[each[0]].rpartition("/")[2]]), each) for each in self._found]
        pairs = [(name, each) for name, each in pairs if name not in question.get("exclude", ())]
        rows = [(*each[1], np.log(each[2])) for _, each in pairs]
        return Asked(
            group,
            question.get("scope", ""),
            np.array(rows, float).reshape(len(rows), len(Signs._fields) + 1),
            np.array([each[3] for _, each in pairs], bool),
            np.array([name in question["relevant"] for name, _ in pairs], bool),
        )


def _name(question: dict[str, Any], name: str) -> str:
    return name.partition("#")[0] if question.get("level") == "page" else name


def ask_notes(folder: Path) -> list[Asked]:
    """Notes among notes, and paraphrases among them; the notes of `bench.notes`."""
    recorder = Recorder(folder / "notes")
    text = (Path(__file__).parents[1] / "training" / "paraphrases-dev.jsonl").read_text("utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    notes = [note for name in ("notes", "corrections", "dated", "names") for note in load(f"{name}.notes")]
    languages = {note["id"]: note["lang"] for note in notes}
    names = fill(recorder.house, notes)
    chosen = [each for each in split(load("notes.questions"))["tuning"] if each["relevant"]]
    asked = [
        recorder.ask(each, names, ("notes", each["lang"] + languages[each["relevant"][0]]), k=10) for each in chosen
    ]
    more = [{"id": row["id"], "text": row["note"], "date": "2026-01-01"} for row in rows]
    names |= fill(recorder.house, more)
    for row in rows:
        question = {"text": row["query"], "relevant": [row["id"]]}
        asked.append(recorder.ask(question, names, ("dev", row["query_lang"]), k=10))
    recorder.house.app.close()
    recorder = Recorder(folder / "old")
    names = fill(recorder.house, load_old("notes"))
    chosen = [each for each in load_old("questions") if each["part"] == "tuning" and each["relevant"]]
    asked += [recorder.ask(each, names, ("old", each["lang"]), k=10) for each in chosen]
    recorder.house.app.close()
    return asked


def ask_pairs(folder: Path) -> list[Asked]:
    recorder = Recorder(folder)
    texts, questions = questions_of_pairs("tune")
    names = filled(recorder.house, [{"id": name, "text": text, "lang": ""} for name, text in texts.items()], embed=True)
    asked: list[Asked] = []
    for each in questions[::2]:
        if each.kind != "translation":  # its own text is to stand before it
            relevant = [name for name in texts if each.is_right([name])]
            question = {"text": each.text, "relevant": relevant}
            asked.append(recorder.ask(question, names, ("pairs", each.kind), namespace="all", k=10))
    recorder.house.app.close()
    return asked


def ask_task(name: str, folder: Path, most: int | None) -> list[Asked]:
    corpus, queries = read(next(task for task in TASKS if task.name == name), most)
    recorder = Recorder(folder)
    names = filled(recorder.house, corpus, embed=True)
    asked: list[Asked] = []
    for each in queries:
        space = space_of(each) if each.get("scope") or each.get("corpus_lang") else "all"
        group = (name, each["kind"] if name == "k8s" else "")
        asked.append(recorder.ask(each, names, group, namespace=space, k=100))
    recorder.house.app.close()
    return asked


def ask_all(most: int) -> tuple[list[Asked], list[Asked]]:
    """All sets; turns of conversations by themselves."""
    with tempfile.TemporaryDirectory(prefix="tokonoma-fit-") as name:
        folder = Path(name)
        asked = ask_notes(folder) + ask_pairs(folder / "pairs")
        for task in ("jsquad", "jaquad", "k8s"):
            asked += ask_task(task, folder / task, most)
        return asked, ask_task("locomo", folder / "locomo", None)


def fit(asked: Sequence[Asked], matrices: Sequence[Floats], steps: int = 300, calm: float = 0.001) -> Floats:
    """By the gradient of the likelihood (Adam); `calm` keeps weights small that change nothing."""
    pairs = [(a, m) for a, m in zip(asked, matrices, strict=True) if a.relevant.any() and not a.relevant.all()]
    sizes = np.array([len(m) for _, m in pairs])
    starts = np.append(0, np.cumsum(sizes)[:-1])
    features, right = np.concatenate([m for _, m in pairs]), np.concatenate([a.relevant for a, _ in pairs])
    counted = Counter(a.group for a, _ in pairs)
    worth = np.array([_COUNTS.get(a.group[0], 1.0) / counted[a.group] for a, _ in pairs])
    worth = np.repeat(worth / worth.sum(), sizes)
    spread = features.std(0) + 1e-9
    features = features / spread
    weights, mean, square = (np.zeros(features.shape[1]) for _ in range(3))
    for step in range(1, steps + 1):
        sums = features @ weights
        powers = np.exp(sums - np.repeat(np.maximum.reduceat(sums, starts), sizes))
        chosen = powers / np.repeat(np.add.reduceat(powers, starts), sizes)
        wanted = powers * right
        wanted = wanted / np.repeat(np.maximum(np.add.reduceat(wanted, starts), 1e-12), sizes)
        gradient = ((wanted - chosen) * worth) @ features - calm * weights
        mean, square = 0.9 * mean + 0.1 * gradient, 0.99 * square + 0.01 * gradient**2
        rate = 0.05 * (1 - step / steps) ** 0.5
        weights += rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-9)
    return weights / spread


def _columns(names: Sequence[str]) -> list[int]:
    return [len(Signs._fields) if name == "date" else Signs._fields.index(name) for name in names]


def build_matrix(asked: Asked) -> Floats:
    """The signs within a language, the same by how long a record is, then those across: a record has the ones or the
    others."""
    crosses = asked.crosses[:, None]
    within, across = asked.signs[:, _columns(_WITHIN)], asked.signs[:, _columns(_ACROSS)]
    longer = asked.signs[:, _columns(_LONGER)] * (asked.signs[:, _columns(["length"])] - TUNING.usual_length)
    return np.concatenate([within * ~crosses, longer * ~crosses, across * crosses], axis=1)


def find_best(matrices: Sequence[Floats], weights: Floats) -> float:
    return float(np.median([float((each @ weights).max()) for each in matrices if len(each)]))


def count_recall(asked: Sequence[Asked], matrices: Sequence[Floats], weights: Floats) -> float:
    shares: list[float] = []
    for each, matrix in zip(asked, matrices, strict=True):
        first = np.argsort(-(matrix @ weights), kind="stable")[:10]
        if each.relevant.any():
            shares.append(float(each.relevant[first].sum() / each.relevant.sum()))
    return float(np.mean(shares))


def fit_turns(asked: Sequence[Asked], usual: float) -> None:
    matrices = [each.signs[:, _columns(_TURN)] for each in asked]
    scopes = sorted({each.scope for each in asked})
    for part in (scopes[::2], scopes[1::2]):
        chosen = [each.scope in part for each in asked]
        weights = fit(*_select(asked, matrices, chosen), steps=200, calm=0.002)
        others = _select(asked, matrices, [not each for each in chosen])
        print(f"turns, fitted on {', '.join(part)}: R@10 of the others {count_recall(*others, weights):.3f}")
    weights = fit(asked, matrices, steps=200, calm=0.002)
    constant = usual - find_best(matrices, weights)
    show("turn_signs", (*_TURN, "constant"), np.append(weights, constant))


def _select(
    asked: Sequence[Asked], matrices: Sequence[Floats], chosen: Sequence[bool]
) -> tuple[list[Asked], list[Floats]]:
    kept = [pair for pair, wanted in zip(zip(asked, matrices, strict=True), chosen, strict=True) if wanted]
    return [each for each, _ in kept], [each for _, each in kept]


def show(name: str, signs: Sequence[str], weights: Floats) -> None:
    told = ", ".join(
        f"{sign}={weight:.2f}" for sign, weight in zip(signs, cast(list[float], weights.tolist()), strict=True)
    )
    print(f"{name}: Signs({told})", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.fit_ranking", description=__doc__)
    parser.add_argument("--most", type=int, default=250, help="questions of a set of passages or manuals")
    parser.add_argument("--signs", type=Path, help="a file to which signs are written, or from which they are read")
    options = parser.parse_args()
    if options.signs is not None and options.signs.exists():
        asked, turns = pickle.loads(options.signs.read_bytes())
    else:
        asked, turns = ask_all(options.most)
        if options.signs is not None:
            options.signs.write_bytes(pickle.dumps((asked, turns)))
    matrices = [build_matrix(each) for each in asked]
    weights = fit(asked, matrices)
    show("within_signs", _WITHIN, weights[: len(_WITHIN)])
    show("within_longer", _LONGER, weights[len(_WITHIN) : -len(_ACROSS)])
    show("across_signs", _ACROSS, weights[-len(_ACROSS) :])
    notes = _select(asked, matrices, [each.group[0] == "notes" for each in asked])
    fit_turns(turns, find_best(notes[1], weights))


if __name__ == "__main__":
    main()
