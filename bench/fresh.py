"""`python -m bench.fresh` (part of `make eval`): 90 notes and 96 questions that nothing was ever tuned on.

They were written after the last change of ranking that they were to judge, as people ask an agent: in words of the note
as often as in others. Nothing of them is ever shown but sums, and ranking must not be changed for them: run this to
report a figure, not to choose. Each house has these notes alone, or among the 1 555 of `bench.recall`:

guessed   saved one by one in the order of their dates; search knows nothing of which replaces which
marked    the client marks (`supersedes`) the outdated note whenever `similar` lists it, as the guide advises
"""

import argparse
import tempfile
from pathlib import Path

from .notes import ask, fill, list_groups, load, score
from .quality import MODES, House
from .recall import fill_marking, load_notes, mean

_COLUMNS = ("hit@1", "MRR", "R@10", "newer first", "older marked", "wrong marks", "nothing there", "listed in similar")


def measure(home: Path, *, among: bool, marked: bool) -> str:
    own, questions = load("fresh.notes"), load("fresh.questions")
    notes = [*own, *(load_notes() if among else ())]
    house, listed = House(home), dict[str, bool]()
    if marked:
        names, listed = fill_marking(house, notes)
    else:
        names = fill(house, notes)
    figures = score(questions, answers := ask(house, questions, names, MODES["both"]), list_groups(notes))
    house.app.close()
    asked = [each for each in questions if each["relevant"]]
    places = [next((n for n, h in enumerate(answers[q["id"]], 1) if h["id"] in q["relevant"]), 0) for q in asked]
    figures["MRR"] = mean([1 / place if place else 0.0 for place in places])
    if marked:
        figures["listed in similar"] = mean([listed[each["id"]] for each in own if "replaces" in each])
    shown = [f"{figures[name]:.3f}" if name in figures else "–" for name in _COLUMNS]
    return f"| {'among others' if among else 'alone'} | {'marked' if marked else 'guessed'} | {' | '.join(shown)} |"


def main() -> None:
    argparse.ArgumentParser(prog="bench.fresh", description=__doc__).parse_args()
    print(f"| fresh | | {' | '.join(_COLUMNS)} |\n|---|---|{'---|' * len(_COLUMNS)}", flush=True)
    with tempfile.TemporaryDirectory(prefix="tokonoma-fresh-") as name:
        for among in (False, True):
            for marked in (False, True):
                print(measure(Path(name) / f"{among}-{marked}", among=among, marked=marked), flush=True)


if __name__ == "__main__":
    main()
