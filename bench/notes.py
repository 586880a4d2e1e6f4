"""`python -m bench.notes` (part of `make eval`): a house of 120 personal notes, asked 150 questions.

The notes and the questions are in `bench/sets`, written for this project: two languages, several hands, facts that are
corrected later, notes that say the same twice, and questions that no note answers. They are saved one by one in the
order of their dates with `memory.save` and asked with `memory.search`. Figures, each for the questions that ranking may
be tuned on and for those that are held back:

hit@1, R@10     of the questions with an answer; of a corrected fact only the newest note is right
newer first     of the questions about a corrected fact: the newest note comes before all older ones
older marked    of the older notes among the ten hits of these questions, those that name a newer one
wrong marks     of all marked hits, those that are not an older note about the same
nothing there   how well the best score tells questions without an answer from the others (area under the ROC curve)

`--turns` also saves conversations beside the notes and asks for both: does one kind push the other out?
`--postgres [URL]`: on PostgreSQL instead of SQLite; without a URL on a server of the tests' own.
`--show`: the questions of the tuning part that went wrong. The held-back ones are never shown.
"""

import argparse
import json
import math
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from .quality import MODES, House
from .search import own_server

_SETS = Path(__file__).parent / "sets"
_PARTS = {"tuning": "tuning", "held": "held back"}
_HITS = 10

Record = dict[str, Any]


def load(name: str) -> list[Record]:
    return [json.loads(line) for line in (_SETS / f"{name}.jsonl").read_text("utf-8").splitlines()]


def fill(house: House, records: list[Record]) -> dict[str, str]:
    """Save the records in the order of their dates, one call each; memo id → the record's own id."""
    names: dict[str, str] = {}
    for record in sorted(records, key=lambda each: each["date"]):
        memo = {key: record[key] for key in ("title", "thread") if key in record}
        kept = house.call("save", content=record["text"], metadata={"date": record["date"]}, **memo)
        names[kept["memo_id"]] = record["id"]
    house.settle()
    return names


def ask(house: House, questions: list[Record], names: dict[str, str], mode: str) -> dict[str, list[Record]]:
    """Question id → its hits: the record's id, the score, and what it is marked as older than."""
    answers: dict[str, list[Record]] = {}
    for question in questions:
        told = house.call("search", query=question["text"], k=_HITS, mode=mode)
        answers[question["id"]] = [
            {"id": names[hit["memo_id"]], "score": hit["score"], "newer": names.get(hit.get("superseded_by", ""))}
            for hit in told["items"]
        ]
    return answers


def list_groups(notes: list[Record]) -> dict[str, str]:
    """Note id → the first note about the same."""
    first: dict[str, str] = {}
    for note in sorted(notes, key=lambda each: each["date"]):
        before = note.get("replaces") or note.get("repeats")
        first[note["id"]] = first[before] if before else note["id"]
    return first


def is_first(question: Record, hits: list[Record]) -> bool:
    return bool(hits) and hits[0]["id"] in question["relevant"]


def is_newer_first(question: Record, hits: list[Record]) -> bool:
    same = [hit["id"] for hit in hits if hit["id"] in {*question["relevant"], *question["older"]}]
    return bool(same) and same[0] in question["relevant"]


def compute_auc(answered: list[float], nothing: list[float]) -> float:
    """How often a question with an answer has the better score; equal scores count half."""
    wins = sum(1.0 if a > b else 0.5 if a == b else 0.0 for a in answered for b in nothing)
    return wins / max(1, len(answered) * len(nothing))


def score(questions: list[Record], answers: dict[str, list[Record]], groups: dict[str, str]) -> dict[str, float]:
    def share(found: list[bool]) -> float:
        return sum(found) / len(found) if found else float("nan")

    def best(each: Record) -> float:
        return max((hit["score"] for hit in answers[each["id"]]), default=0.0)

    answerable = [each for each in questions if each["relevant"]]
    updates = [each for each in questions if each["kind"] == "update"]
    older = [hit for each in updates for hit in answers[each["id"]] if hit["id"] in each["older"]]
    marked = [hit for each in questions for hit in answers[each["id"]] if hit["newer"]]
    nothing = [best(each) for each in questions if not each["relevant"]]
    return {
        "hit@1": share([is_first(each, answers[each["id"]]) for each in answerable]),
        "R@10": share([any(h["id"] in each["relevant"] for h in answers[each["id"]]) for each in answerable]),
        "newer first": share([is_newer_first(each, answers[each["id"]]) for each in updates]),
        "older marked": share([hit["newer"] is not None for hit in older]),
        "wrong marks": share([groups[hit["id"]] != groups[hit["newer"]] for hit in marked]),
        "nothing there": compute_auc([best(each) for each in answerable], nothing) if nothing else float("nan"),
    }


def show_wrong(questions: list[Record], answers: dict[str, list[Record]]) -> None:
    for each in questions:
        hits = answers[each["id"]]
        if each["part"] == "tuning" and each["relevant"] and not is_first(each, hits):
            first = [f"{hit['id']} {hit['score']:.3f}" for hit in hits[:4]]
            print(f"{each['id']} {each['text']} {each['relevant']}: {', '.join(first)}", file=sys.stderr)


def measure_notes(home: Path, settings: dict[str, str], *, show: bool = False) -> list[str]:
    notes, questions, rows = load("notes"), load("questions"), list[str]()
    groups, house = list_groups(notes), House(home, **settings)
    names = fill(house, notes)
    for mode, meant in MODES.items():
        answers = ask(house, questions, names, meant)
        for part, called in _PARTS.items():
            chosen = [each for each in questions if each["part"] == part]
            rows.append(to_row(f"notes, {called}", mode, score(chosen, answers, groups)))
        if show:
            print(f"-- {mode}", file=sys.stderr)
            show_wrong(questions, answers)
    house.app.close()
    return rows


def measure_turns(folder: Path, *, show: bool = False) -> list[str]:
    """Conversations by themselves, and in one house with the notes: the same questions."""
    notes, turns, rows = load("notes"), load("turns"), list[str]()
    questions = {"turns": load("turn_questions"), "notes": [q for q in load("questions") if q["part"] == "tuning"]}
    groups = list_groups([*notes, *turns])
    for place, records, asked in (
        ("alone", turns, ["turns"]),
        ("alone", notes, ["notes"]),
        ("together", [*notes, *turns], ["turns", "notes"]),
    ):
        house = House(folder / f"{place}-{asked[0]}")
        names = fill(house, records)
        for kind in asked:
            for mode, meant in MODES.items():
                answers = ask(house, questions[kind], names, meant)
                rows.append(to_row(f"{kind}, {place}", mode, score(questions[kind], answers, groups)))
                if show and kind == "turns":
                    print(f"-- {place}, {mode}", file=sys.stderr)
                    show_wrong(questions[kind], answers)
        house.app.close()
    return rows


def to_row(name: str, mode: str, figures: dict[str, float]) -> str:
    shown = ["–" if math.isnan(each) else f"{each:.3f}" for each in figures.values()]
    return f"| {name} | {mode} | {' | '.join(shown)} |"


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.notes", description=__doc__)
    parser.add_argument("--postgres", nargs="?", const="own", metavar="URL")
    parser.add_argument("--turns", action="store_true")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of the house")
    options = parser.parse_args()
    settings = dict(each.split("=", 1) for each in options.set)
    with tempfile.TemporaryDirectory(prefix="tokonoma-notes-") as name, ExitStack() as stack:
        folder = Path(name)
        if options.postgres:
            own = options.postgres == "own"
            settings["database_url"] = own_server(stack, folder / "server")[0] if own else options.postgres
        rows = measure_notes(folder / "home", settings, show=options.show)
        rows += measure_turns(folder, show=options.show) if options.turns else []
    columns = ("hit@1", "R@10", "newer first", "older marked", "wrong marks", "nothing there")
    print(f"| set | by | {' | '.join(columns)} |\n|---|---|{'---|' * len(columns)}")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
