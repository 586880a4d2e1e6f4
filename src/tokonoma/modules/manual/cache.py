"""The sections of all manuals, held by this process for as long as the files stay as they are."""

import json
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Any

from tokonoma.core.desk import Desk
from tokonoma.core.errors import Missing
from tokonoma.modules.manual.corpus import Held, Stock
from tokonoma.modules.manual.index import Shelved, refresh, state
from tokonoma.modules.manual.settings_file import Glossary, shipped
from tokonoma.modules.manual.variants import Variants

_CALLERS = 100  # kinds of callers, by what they may see
_KEPT = 3  # generations: of this house, of another one in the same process, of the one just replaced


Seen = Mapping[str, Mapping[str, Sequence[int]]]
"""manual → path → the sections that a caller sees"""


@dataclass(frozen=True, slots=True)
class Generation:
    """All sections as they are, whoever calls. What each kind of caller sees of them is worked out once."""

    stock: Stock
    defined: Variants
    problems: Mapping[tuple[str, str], str]
    seen: OrderedDict[tuple[Any, ...], Seen]


@dataclass(frozen=True, slots=True)
class Library:
    """What one call works with: the sections, which of them it may see, and the words of each manual."""

    stock: Stock
    shelved: Shelved
    seen: Seen
    problems: Mapping[tuple[str, str], str]
    defined: Variants

    def places(self, manual: str | None) -> list[int]:
        """The sections of one manual, or of all that the caller sees; Missing for a manual that it does not."""
        if manual is not None and manual not in self.seen:
            raise missing_manual(manual, self.seen)
        chosen = [manual] if manual is not None else sorted(self.seen)
        return [place for name in chosen for places in self.seen[name].values() for place in places]

    def glossary(self, manual: str | None) -> Glossary:
        own = tuple(found for name, found in sorted(self.shelved.glossaries.items()) if manual in (None, name))
        return _glossary(own)[0]

    def known(self, manual: str | None) -> Variants:
        """The words that the glossaries join."""
        own = tuple(found for name, found in sorted(self.shelved.glossaries.items()) if manual in (None, name))
        return _glossary(own)[1]


@lru_cache(maxsize=32)
def _glossary(own: tuple[Glossary, ...]) -> tuple[Glossary, Variants]:
    total = reduce(Glossary.joined, own, shipped())
    return total, Variants(total.groups)


def library(desk: Desk) -> Library:
    """Everything as the files are now."""
    shelved = refresh(desk)
    held = _held(desk)
    seen = _seen(desk, held)
    problems = {file: problem for file, problem in held.problems.items() if file[1] in seen.get(file[0], ())}
    return Library(held.stock, shelved, seen, problems, held.defined)


def _seen(desk: Desk, held: Generation) -> Seen:
    """Files and classes decide what a caller sees, and both say when they change. Still the desk is asked each time:
    it notes whether what it counts must be masked on its way out."""
    count = desk.row("select count(*) from manual_section where {visible}")
    key = desk.principal.root, desk.call.seen.labels, state(desk, "classes"), count
    found = held.seen.get(key)
    if found is None:
        found = held.seen[key] = _asked(desk, held.stock)
        while len(held.seen) > _CALLERS:
            held.seen.popitem(last=False)
    return found


def _asked(desk: Desk, stock: Stock) -> Seen:
    seen: dict[str, dict[str, list[int]]] = {}
    sql = "select manual, path, line from manual_section where {visible} order by manual, path, line"
    for manual, path, line in desk.rows(sql):
        place = stock.places.get((manual, path, line))
        if place is not None:
            seen.setdefault(manual, {}).setdefault(path, []).append(place)
    return seen


def missing_manual(manual: str, seen: Mapping[str, object]) -> Missing:
    named = ", ".join(sorted(seen)[:10])
    there = (
        f"There are: {named}." if named else "There is none yet: put a folder of .md files into the manuals' folder."
    )
    return Missing(f"There is no manual {manual!r}. {there}", manual_id=manual)


def missing_file(manual: str, path: str) -> Missing:
    return Missing(f"Manual {manual!r} has no file {path!r}. manual_ls lists them.", manual_id=manual, path=path)


_generations: OrderedDict[str, Generation] = OrderedDict()
_lock = threading.Lock()


def _held(desk: Desk) -> Generation:
    generation = state(desk, "generation")
    with _lock:
        found = _generations.get(generation)
        if found is not None:
            _generations.move_to_end(generation)
            return found
        made = _generations[generation] = _read(desk)
        while len(_generations) > _KEPT:
            _generations.popitem(last=False)
        return made


def _read(desk: Desk) -> Generation:
    """All sections, whoever calls: which of them it may see is asked for each call anew."""
    with desk.upkeep() as tx:
        rows = tx.rows(
            """select manual, path, line, own_end, end_line, level, title, anchor, parent, size, folded, tight, refers,
                defines
            from manual_section order by manual, path, line"""
        )
        problems = tx.rows("select manual, path, problem from manual_file where problem <> '' order by manual, path")
    defined = Variants()
    for row in rows:
        if row[13] != "[]":
            for pair in json.loads(row[13]):
                defined.join(pair)
    folded, tight, refers = ([row[column] for row in rows] for column in (10, 11, 12))
    stock = Stock([Held(*row[:10]) for row in rows], folded, tight, refers)
    return Generation(stock, defined, {(manual, path): told for manual, path, told in problems}, OrderedDict())
