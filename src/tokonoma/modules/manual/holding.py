"""The sections of all manuals, held by this process for as long as the files stay as they are."""

import json
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

from tokonoma.core.desk import Desk, Row
from tokonoma.core.errors import Missing
from tokonoma.modules.manual.index import Shelved, refresh
from tokonoma.modules.manual.settings_file import Glossary, shipped
from tokonoma.modules.manual.stock import Held, Stock
from tokonoma.modules.manual.variants import Variants

_KEPT = 3  # generations: of this house, of another one in the same process, of the one just replaced


@dataclass(frozen=True, slots=True)
class Library:
    """What one call works with: the sections, which of them it may see, and the words of each manual."""

    stock: Stock
    shelved: Shelved
    seen: dict[str, dict[str, list[int]]]  # manual → path → the sections that this caller sees
    problems: dict[tuple[str, str], str]
    defined: Variants

    def places(self, manual: str | None) -> list[int]:
        """The sections of one manual, or of all that the caller sees; Missing for a manual that it does not."""
        if manual is not None and manual not in self.seen:
            raise missing_manual(manual, self.seen)
        chosen = [manual] if manual is not None else sorted(self.seen)
        return [place for name in chosen for places in self.seen[name].values() for place in places]

    def glossary(self, manual: str | None) -> Glossary:
        own = [found for name, found in sorted(self.shelved.glossaries.items()) if manual in (None, name)]
        total = shipped()
        for each in own:
            total = total.joined(each)
        return total


def library(desk: Desk) -> Library:
    """Everything as the files are now."""
    shelved = refresh(desk)
    stock, defined = _held(desk)
    seen: dict[str, dict[str, list[int]]] = {}
    for manual, path, line in visible(desk):
        place = stock.places.get((manual, path, line))
        if place is not None:
            seen.setdefault(manual, {}).setdefault(path, []).append(place)
    problems = desk.rows("select manual, path, problem from manual_file where problem <> ''")
    told = {(manual, path): problem for manual, path, problem in problems if path in seen.get(manual, ())}
    return Library(stock, shelved, seen, told, defined)


def visible(desk: Desk) -> list[Row]:
    """manual, path and line of every section that this caller may see, in order."""
    return desk.rows("select manual, path, line from manual_section where {visible} order by manual, path, line")


def missing_manual(manual: str, seen: Mapping[str, object]) -> Missing:
    named = ", ".join(sorted(seen)[:10])
    there = (
        f"There are: {named}." if named else "There is none yet: put a folder of .md files into the manuals' folder."
    )
    return Missing(f"There is no manual {manual!r}. {there}", manual_id=manual)


def missing_file(manual: str, path: str) -> Missing:
    return Missing(f"Manual {manual!r} has no file {path!r}. manual_ls lists them.", manual_id=manual, path=path)


_stocks: OrderedDict[str, tuple[Stock, Variants]] = OrderedDict()
_lock = threading.Lock()


def _held(desk: Desk) -> tuple[Stock, Variants]:
    row = desk.row("select value from manual_state where name = 'generation'")
    generation = row[0] if row else ""
    with _lock:
        found = _stocks.get(generation)
        if found is not None:
            _stocks.move_to_end(generation)
            return found
        made = _read(desk)
        _stocks[generation] = made
        while len(_stocks) > _KEPT:
            _stocks.popitem(last=False)
        return made


def _read(desk: Desk) -> tuple[Stock, Variants]:
    """All sections, whoever calls: which of them it may see is asked for each call anew."""
    with desk.upkeep() as tx:
        rows = tx.rows(
            """select manual, path, line, own_end, end_line, level, title, anchor, parent, size, folded, tight, defines
            from manual_section order by manual, path, line"""
        )
    defined = Variants()
    for row in rows:
        if row[12] != "[]":
            for pair in json.loads(row[12]):
                defined.join(pair)
    return Stock([Held(*row[:10]) for row in rows], [row[10] for row in rows], [row[11] for row in rows]), defined
