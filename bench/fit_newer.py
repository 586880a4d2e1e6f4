"""`python -m bench.fit_newer`: fit the weights of VersionSigns in src/tokonoma/search/tuning.py, and print them.

The tuning halves of `bench.recall` and `bench.notes` are asked. Of each two hits that the rule may exchange the signs
are written down, and whether they are about the same fact. The weights are those of a logistic regression. From which
sum on the newer one is put first is chosen by what comes of it: the table has, for each threshold, the newest first
among corrections and the MRR of all other questions. It is cross-validated: a fifth of the questions is judged by what
the others say.
"""

import argparse
import math
import tempfile
import zlib
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from tokonoma.search import newer
from tokonoma.search.tuning import VersionSigns

from . import notes as old
from .quality import House
from .recall import fill, find_rank, list_facts, load, load_notes, mean, split

_CALM = 0.02  # keeps weights small that change nothing
_FOLDS = 5
_THRESHOLDS = (0.4, 0.35, 0.3, 0.27, 0.25, 0.22, 0.2, 0.15)

Floats = NDArray[np.float64]


class AskedVersions(NamedTuple):
    """A question, its hits as if nothing were exchanged, and of each pair of hits the signs and whether they are about
    the same."""

    kind: str
    question: dict[str, Any]
    hits: list[str]
    pairs: list[tuple[str, str, VersionSigns, bool]]


def ask_house(
    folder: Path, notes: list[dict[str, Any]], facts: dict[str, str], questions: Sequence[tuple[str, dict[str, Any]]]
) -> list[AskedVersions]:
    house, found = House(folder), list[tuple[int, int, VersionSigns]]()
    names, asked = fill(house, notes), list[AskedVersions]()
    with house.app.database.reading() as rows:
        ids = {row[0]: names[row[1].rpartition("/")[2]] for row in rows.rows("select id, address from document")}
    read = newer.PairReader.read

    def record(self: newer.PairReader, older: newer.NoteVersion, later: newer.NoteVersion) -> VersionSigns:
        signs = read(self, older, later)
        found.append((older.id, later.id, signs))
        return signs

    # Nothing is exchanged, and marked: the hits are as ranking alone has put them.
    with (
        patch.object(newer.PairReader, "read", record),
        patch.object(newer, "weigh_versions", lambda _: -1.0),  # type: ignore[reportUnknownLambdaType]
        patch.object(newer, "_says_so", lambda *_: False),  # type: ignore[reportUnknownLambdaType]
    ):
        for kind, question in questions:
            found.clear()
            told = house.call("search", query=question["text"], k=16, mode="hybrid")
            pairs = [(ids[o], ids[n], signs, facts[ids[o]] == facts[ids[n]]) for o, n, signs in found]
            asked.append(AskedVersions(kind, question, [names[hit["memo_id"]] for hit in told["items"]], pairs))
    house.app.close()
    return asked


def ask_all() -> list[AskedVersions]:
    sets = {name: split(load(f"{name}.questions"))["tuning"] for name in ("corrections", "notes", "names")}
    questions = [(name, each) for name, many in sets.items() for each in many if each["relevant"]]
    others = [("old", each) for each in old.load("questions") if each["part"] == "tuning" and each["relevant"]]
    with tempfile.TemporaryDirectory(prefix="tokonoma-fit-") as name:
        recall, notes = load_notes(), old.load("notes")
        asked = ask_house(Path(name) / "recall", recall, list_facts(recall), questions)
        return asked + ask_house(Path(name) / "old", notes, old.list_groups(notes), others)


def fit(signs: Floats, same: Floats, steps: int = 60) -> Floats:
    """By Newton's method, on signs that are brought to one scale around 0; the constant is the last one."""
    middle, spread = signs.mean(0), signs.std(0)
    middle[-1], spread[-1] = 0.0, 1.0
    scaled, weights = (signs - middle) / spread, np.zeros(signs.shape[1])
    calm = np.full(len(weights), _CALM)
    for _ in range(steps):
        likely = 1.0 / (1.0 + np.exp(-scaled @ weights))
        slope = scaled.T @ (likely - same) / len(same) + calm * weights
        bend = (scaled * (likely * (1 - likely) / len(same))[:, None]).T @ scaled + np.diag(calm)
        weights = weights - np.linalg.solve(bend, slope)
    weights = weights / spread
    weights[-1] -= weights[:-1] @ middle[:-1]
    return weights


def exchange(each: AskedVersions, sums: Sequence[float], least: float) -> list[str]:
    """The hits with the newer ones first."""
    hits, best = list(each.hits), dict[str, tuple[float, str]]()
    for (older, later, *_), value in zip(each.pairs, sums, strict=True):
        if value >= least:
            best[older] = max(best.get(older, (value, later)), (value, later))
    for older, (_, later) in sorted(best.items(), key=lambda pair: -pair[1][0]):
        one, other = hits.index(older), hits.index(later)
        if one < other:
            hits[one], hits[other] = later, older
    return hits


def report(asked: Sequence[AskedVersions], sums: Sequence[Sequence[float]]) -> None:
    for threshold in _THRESHOLDS:
        least, figures = math.log(threshold / (1 - threshold)), defaultdict[str, list[float]](list)
        for each, values in zip(asked, sums, strict=True):
            hits, question = exchange(each, values, least), each.question
            rank = find_rank(question, [{"id": name} for name in hits[:10]])
            figures[f"{each.kind} MRR"].append(1 / rank if rank else 0.0)
            if question.get("older"):
                same = [name for name in hits if name in {*question["relevant"], *question["older"]}]
                figures[f"{each.kind} newest first"].append(float(bool(same) and same[0] in question["relevant"]))
        told = ", ".join(f"{name} {mean(many):.3f}" for name, many in figures.items())
        print(f"{threshold}: {told}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.fit_newer", description=__doc__)
    parser.add_argument("--threshold", type=float, default=0.3, help="of the table; it becomes part of the constant")
    options = parser.parse_args()
    asked = ask_all()
    folds = np.array([zlib.crc32(each.question["id"].encode()) % _FOLDS for each in asked for _ in each.pairs])
    signs = np.array([pair[2] for each in asked for pair in each.pairs], float)
    same = np.array([pair[3] for each in asked for pair in each.pairs], float)
    sums = np.zeros(len(same))
    for fold in range(_FOLDS):
        sums[folds == fold] = signs[folds == fold] @ fit(signs[folds != fold], same[folds != fold])
    ends = np.cumsum([len(each.pairs) for each in asked]).tolist()
    report(asked, [sums[end - len(each.pairs) : end].tolist() for each, end in zip(asked, ends, strict=True)])
    weights = fit(signs, same)
    weights[-1] -= math.log(options.threshold / (1 - options.threshold))
    told = ", ".join(f"{name}={value:.2f}" for name, value in zip(VersionSigns._fields, weights.tolist(), strict=True))
    print(f"version_signs: VersionSigns({told})")


if __name__ == "__main__":
    main()
