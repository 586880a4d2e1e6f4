"""`python -m bench.recall` (part of `make eval`): notes among notes, corrected facts, times, dated questions, names.

The sets are in `bench/sets/recall`, written for this project by several hands, in both languages. All notes of all sets
lie in one namespace of one house, saved in the order of their dates: what stands around a note is other notes. Of each
set half of the questions is held back: ranking is tuned on the others, and of these only sums are ever printed.

notes         MRR and R@10 by direction: `ja→en` is a Japanese question for an English note
nothing       how well the best score tells questions without an answer from the others (area under the ROC curve)
corrections   the newest note of a fact before all older ones; older ones among the hits that are marked; wrong marks
marked        the same if the client marks (`supersedes`) the outdated note whenever `similar` lists it
dated         R@10 of questions whose answer needs their time, each asked at a time of its own
names         R@5 of questions that write a name in another script than the note does
times         expressions of time whose days are read right (no search: `tokonoma.search.times`; TZ=UTC)

`--paraphrases` asks the questions of training/paraphrases.jsonl, with their notes among these notes.
`--show SET`: the questions of the tuning half that went wrong.
"""

import argparse
import json
import sys
import tempfile
import zlib
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tokonoma.core import clock
from tokonoma.core.clock import parse_time

from .notes import compute_auc, fill
from .quality import MODES, House

_SETS = Path(__file__).parent / "sets" / "recall"
_NAMES = ("notes", "corrections", "dated", "names")
_PARTS = ("tuning", "held back")
_HITS = 10
_DAY = 86_400_000

Record = dict[str, Any]
Figures = dict[str, float]


def load(name: str) -> list[Record]:
    return [json.loads(line) for line in (_SETS / f"{name}.jsonl").read_text("utf-8").splitlines()]


def is_held_back(question: Record) -> bool:
    return zlib.crc32(question["id"].encode()) % 2 == 1


def split(questions: list[Record]) -> dict[str, list[Record]]:
    return dict(zip(_PARTS, ([q for q in questions if is_held_back(q) is held] for held in (False, True)), strict=True))


@contextmanager
def stand_at(moment: str | None) -> Generator[None]:
    """Within it, the present is this moment. Time does not pass."""
    if moment is None:
        yield
        return
    at = parse_time(moment + ("" if moment.endswith("Z") else ":00Z"))
    with patch.object(clock, "now", lambda: at), patch("tokonoma.search.find.now", lambda: at):
        yield


def ask(house: House, questions: list[Record], names: dict[str, str], mode: str) -> dict[str, list[Record]]:
    """Question id → its hits: the note's id, the score, and what it is marked as older than."""
    answers: dict[str, list[Record]] = {}
    for question in questions:
        with stand_at(question.get("now")):
            told = house.call("search", query=question["text"], k=_HITS, mode=mode)
        answers[question["id"]] = [
            {"id": names[hit["memo_id"]], "score": hit["score"], "newer": names.get(hit.get("superseded_by", ""))}
            for hit in told["items"]
        ]
    return answers


def find_rank(question: Record, hits: list[Record]) -> int:
    """From 1 on; 0: not among the hits."""
    return next((place for place, hit in enumerate(hits, 1) if hit["id"] in question["relevant"]), 0)


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else float("nan")


def score_notes(questions: list[Record], answers: dict[str, list[Record]], languages: dict[str, str]) -> Figures:
    figures: Figures = {}
    asked = [each for each in questions if each["relevant"]]
    for direction in ("en→en", "ja→ja", "ja→en", "en→ja"):
        chosen = [q for q in asked if f"{q['lang']}→{languages[q['relevant'][0]]}" == direction]
        ranks = [find_rank(each, answers[each["id"]]) for each in chosen]
        figures[f"{direction} MRR"] = mean([1 / rank if rank else 0.0 for rank in ranks])
        figures[f"{direction} R@10"] = mean([float(rank > 0) for rank in ranks])

    def best(each: Record) -> float:
        return max((hit["score"] for hit in answers[each["id"]]), default=0.0)

    figures["nothing AUC"] = compute_auc(
        [best(each) for each in asked], [best(each) for each in questions if not each["relevant"]]
    )
    return figures


def score_corrections(questions: list[Record], answers: dict[str, list[Record]], facts: dict[str, str]) -> Figures:
    newest: list[bool] = []
    older: list[bool] = []
    marks: list[bool] = []
    for each in questions:
        hits = answers[each["id"]]
        same = [hit["id"] for hit in hits if hit["id"] in {*each["relevant"], *each["older"]}]
        newest.append(bool(same) and same[0] in each["relevant"])
        older += [hit["newer"] is not None for hit in hits if hit["id"] in each["older"]]
        marks += [facts[hit["id"]] != facts[hit["newer"]] for hit in hits if hit["newer"]]
    return {
        "newest first": mean(newest),
        "MRR": mean([1 / rank if (rank := find_rank(q, answers[q["id"]])) else 0.0 for q in questions]),
        "older marked": mean(older),
        "wrong marks": mean(marks),
    }


def score_recall(questions: list[Record], answers: dict[str, list[Record]], most: int) -> Figures:
    shares = [
        len({hit["id"] for hit in answers[q["id"]][:most]} & set(q["relevant"])) / min(most, len(q["relevant"]))
        for q in questions
    ]
    return {f"R@{most}": mean(shares)}


def list_facts(notes: list[Record]) -> dict[str, str]:
    """Note id → the first note about the same fact."""
    first: dict[str, str] = {}
    for note in sorted(notes, key=lambda each: each["date"]):
        before = note.get("replaces")
        first[note["id"]] = first[before] if before else note["id"]
    return first


def read_times(expressions: list[Record]) -> dict[str, bool]:
    """Expression id → whether the days it means were read."""
    from tokonoma.search import times

    told: dict[str, bool] = {}
    for each in expressions:
        found = times.find_spans(each["text"], parse_time(each["now"] + ":00Z"))
        told[each["id"]] = is_read_right(each, found)
    return told


def is_read_right(wanted: Record, spans: Sequence[Any]) -> bool:
    """One of the readings must be among the first spans, to the day; an open side may end anywhere beyond. A vague one
    must overlap by half."""
    readings = [(wanted["from"], wanted["until"]), *map(tuple, wanted.get("also", ()))]
    if not spans:
        return (None, None) in readings
    found = [(to_day(span.begin), to_day(span.end - 1)) for span in spans]
    named = [each for each in readings if each != (None, None)]
    return any(_agree(reading, days, vague=bool(wanted.get("vague"))) for reading in named for days in found[:3])


def to_day(milliseconds: int) -> date:
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)).date()


def _agree(reading: tuple[str | None, str | None], days: tuple[date, date], *, vague: bool) -> bool:
    first, last = (None if each is None else date.fromisoformat(each) for each in reading)
    if vague and first is not None and last is not None:
        shared = (min(last, days[1]) - max(first, days[0])).days + 1
        return shared * 2 >= min((last - first).days, (days[1] - days[0]).days) + 1
    starts = days[0] <= date(1990, 1, 1) if first is None else days[0] == first
    return starts and (days[1] >= date(2030, 1, 1) if last is None else days[1] == last)


def load_notes() -> list[Record]:
    return [note for name in _NAMES for note in load(f"{name}.notes")]


def measure(house: House, modes: Sequence[str], show: str) -> list[str]:
    questions = {name: load(f"{name}.questions") for name in _NAMES}
    notes = load_notes()
    languages = {note["id"]: note["lang"] for note in notes}
    facts, names, rows = list_facts(notes), fill(house, notes), list[str]()
    print(f"{len(notes)} notes", file=sys.stderr)
    for name, asked in questions.items():
        for mode in modes:
            answers = ask(house, asked, names, MODES[mode])
            for part, chosen in split(asked).items():
                if name == "notes":
                    figures = score_notes(chosen, answers, languages)
                elif name == "corrections":
                    figures = score_corrections(chosen, answers, facts)
                else:
                    figures = score_recall(chosen, answers, 5 if name == "names" else 10)
                rows += to_rows(name, part, mode, len(chosen), figures)
                if show == name and part == "tuning":
                    show_wrong(chosen, answers, mode)
    return rows


def fill_marking(house: House, notes: list[Record]) -> tuple[dict[str, str], dict[str, bool]]:
    """Save the notes in their order, and mark what each one replaces if `similar` lists it. Memo id → note id, and of
    each note that replaces another whether it was listed."""
    names: dict[str, str] = {}
    listed: dict[str, bool] = {}
    for note in sorted(notes, key=lambda each: each["date"]):
        title = {"title": note["title"]} if "title" in note else {}
        kept = house.call("save", content=note["text"], metadata={"date": note["date"]}, **title)
        names[kept["memo_id"]] = note["id"]
        if "replaces" in note:
            similar = [each["memo_id"] for each in kept.get("similar", ())]
            outdated = [each for each in similar if names[each] == note["replaces"]]
            listed[note["id"]] = bool(outdated)
            if outdated:
                house.call("save", memo_id=kept["memo_id"], supersedes=outdated)
    house.settle()
    return names, listed


def measure_marked(house: House, modes: Sequence[str]) -> list[str]:
    notes, questions, rows = load_notes(), load("corrections.questions"), list[str]()
    facts = list_facts(notes)
    names, listed = fill_marking(house, notes)
    for part, held in zip(_PARTS, (False, True), strict=True):
        chosen = [found for number, found in listed.items() if is_held_back({"id": number}) is held]
        rows += to_rows("marked", part, "–", len(chosen), {"listed in similar": mean(chosen)})
    for mode in modes:
        answers = ask(house, questions, names, MODES[mode])
        for part, asked in split(questions).items():
            rows += to_rows("marked", part, mode, len(asked), score_corrections(asked, answers, facts))
    return rows


def measure_paraphrases(folder: Path, modes: Sequence[str], settings: dict[str, str]) -> list[str]:
    """Each pair of languages in a house of its own: the notes of another pair say the same."""
    training = import_module("training.paraphrases")  # outside of the wheel, and of what is checked
    rows = [json.loads(line) for line in training.PATH.read_text("utf-8").splitlines()]
    told: list[str] = []
    for pair in dict.fromkeys((row["query_lang"], row["note_lang"]) for row in rows):
        chosen = [row for row in rows if (row["query_lang"], row["note_lang"]) == pair]
        house = House(folder / "-".join(pair), **settings)
        own = [{"id": row["id"], "text": row["note"], "date": "2026-01-01"} for row in chosen]
        names = fill(house, [*load_notes(), *own])
        questions: list[Record] = [{"id": row["id"], "text": row["query"], "relevant": [row["id"]]} for row in chosen]
        for mode in modes:
            answers = ask(house, questions, names, MODES[mode])
            ranks = [find_rank(each, answers[each["id"]]) for each in questions]
            figures = {
                f"{pair[0]}→{pair[1]} MRR": mean([1 / rank if rank else 0.0 for rank in ranks]),
                f"{pair[0]}→{pair[1]} R@10": mean([float(rank > 0) for rank in ranks]),
            }
            told += to_rows("paraphrases", "all", mode, len(questions), figures)
        house.app.close()
    return told


def measure_times(show: bool) -> list[str]:
    expressions = load("times")
    told = read_times(expressions)
    if show:
        for each in split(expressions)["tuning"]:
            if not told[each["id"]]:
                print(json.dumps(each, ensure_ascii=False), file=sys.stderr)
    return [
        row
        for part, chosen in split(expressions).items()
        for row in to_rows("times", part, "–", len(chosen), {"read right": mean([told[each["id"]] for each in chosen])})
    ]


def to_rows(name: str, part: str, mode: str, count: int, figures: Figures) -> list[str]:
    return [f"| {name} | {part} | {mode} | {count} | {key} | {value:.3f} |" for key, value in figures.items()]


def show_wrong(questions: list[Record], answers: dict[str, list[Record]], mode: str) -> None:
    print(f"-- {mode}", file=sys.stderr)
    for each in questions:
        hits = answers[each["id"]]
        if each["relevant"] and find_rank(each, hits) != 1:
            best = ", ".join(f"{hit['id']} {hit['score']:.3f}" for hit in hits[:5])
            print(f"{each['id']} {each['text']} {each['relevant']}: {best}", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.recall", description=__doc__)
    parser.add_argument("--modes", default="words,vectors,both")
    parser.add_argument("--paraphrases", action="store_true")
    parser.add_argument("--show", default="", metavar="SET")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of the house")
    options = parser.parse_args()
    settings = dict(each.split("=", 1) for each in options.set)
    print("| set | half | by | questions | figure | |\n|---|---|---|---|---|---|")
    print("\n".join(measure_times(options.show == "times")), flush=True)
    with tempfile.TemporaryDirectory(prefix="tokonoma-recall-") as name:
        house, modes = House(Path(name) / "home", **settings), options.modes.split(",")
        print("\n".join(measure(house, modes, options.show)), flush=True)
        house.app.close()
        house = House(Path(name) / "marked", **settings)
        print("\n".join(measure_marked(house, modes)), flush=True)
        house.app.close()
        if options.paraphrases:
            print("\n".join(measure_paraphrases(Path(name), modes, settings)))


if __name__ == "__main__":
    main()
