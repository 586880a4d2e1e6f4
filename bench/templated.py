"""Set *templated* of `python -m bench.quality`: texts that differ in a few characters, with ids as titles, as machines
write them. Their vectors are all about equally near, so that an index that only guesses which are the nearest loses
some. Recall of the first ten by vectors against exact search over all of them; and how often a memo comes first by both
if its own text is asked.
"""

import random
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from tokonoma.search.vectors import store

from .quality import House, say

MEMOS = 6_000
QUESTIONS = 150
TOP = 10
_ROOMS = ("kitchen", "garage", "cellar", "office", "attic", "hall", "garden", "workshop")
_THINGS = ("pump", "heater", "camera", "router", "printer", "sensor", "door", "lamp")
_STATES = ("was replaced", "is offline", "was cleaned", "reports an error", "is back", "was moved", "needs a part")


def memos(count: int) -> list[dict[str, Any]]:
    draw = random.Random(17)
    made: list[dict[str, Any]] = []
    for number in range(count):
        name = f"{draw.choice(('TKT', 'INC', 'REQ'))}-{100_000 + number * 7:d}"
        said = f"{name}: the {draw.choice(_THINGS)} in the {draw.choice(_ROOMS)} {draw.choice(_STATES)}"
        made.append({"title": name, "content": f"{said} (unit {draw.randrange(900)}).", "namespace": "all"})
    return made


def questions(some: Sequence[dict[str, Any]]) -> Iterator[str]:
    draw = random.Random(18)
    for number in range(QUESTIONS):
        memo = draw.choice(some)
        yield (memo["title"], memo["content"], memo["content"].partition(": ")[2])[number % 3]


def measure_recall(settings: dict[str, Any]) -> tuple[float, float]:
    """Recall of the first ten by vectors, and how often the memo that was asked for comes first by both."""
    made = memos(MEMOS)
    with tempfile.TemporaryDirectory(prefix="tokonoma-eval-") as folder:
        house = House(Path(folder) / "home", **settings)
        for start in range(0, len(made), 500):
            house.call("save", memos=made[start : start + 500])
        house.settle()
        exact = ExactSearch(house)
        found = [exact.compare(question) for question in questions(made)]
        first = [_is_first(house, memo) for memo in made[:: MEMOS // QUESTIONS]]
        house.app.close()
    return sum(found) / len(found), sum(first) / len(first)


class ExactSearch:
    """Over all vectors of a house."""

    def __init__(self, house: House) -> None:
        self._house, kind = house, house.app.database.kind
        with house.app.database.reading() as rows:
            # Ours, and no word of a caller's.
            found = rows.rows(f"select e.document_id, {store.data_column(kind)} from embedding e")
        self._vectors = store.decode_vectors(kind, [row[1] for row in found])
        _, self._documents = np.unique([row[0] for row in found], return_inverse=True)

    def compare(self, question: str) -> float:
        """The share of the ten nearest that the tool returns. Equals are as good as each other."""
        query = self._house.app.search.vectors.embed_query(question)
        assert query is not None
        best = np.full(self._documents.max() + 1, -1.0, np.float32)
        np.maximum.at(best, self._documents, self._vectors @ query.vector)
        least = float(np.sort(best)[-TOP]) - 1e-5
        told = self._house.call("search", query=question, namespace="all", k=TOP, mode="vector")
        return sum(item["similarity"] >= least for item in told["items"]) / TOP


def _is_first(house: House, memo: dict[str, Any]) -> bool:
    told = house.call("search", query=memo["content"], namespace="all", k=1)
    return told["items"][0]["title"] == memo["title"]


def measure(settings: dict[str, str]) -> list[str]:
    lines: list[str] = []
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="tokonoma-eval-"))
        url, _ = import_module("bench.search").own_server(stack, Path(folder))
        for database, more in (("SQLite", {}), ("PostgreSQL", {"database_url": url})):
            recall, first = measure_recall({**settings, **more})
            say(f"templated: {MEMOS} memos on {database}")
            lines += [f"| templated {database} | R@{TOP} of exact search |  | {recall:.3f} |  |"]
            lines += [f"| templated {database} own text | share |  |  | {first:.3f} |"]
    return lines


if __name__ == "__main__":
    print("\n".join(measure({})))
