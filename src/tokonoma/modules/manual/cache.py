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
from tokonoma.modules.manual.corpus import IndexedSection, ManualCorpus
from tokonoma.modules.manual.index import ManualsOnDisk, read_state, sync_manuals
from tokonoma.modules.manual.settings_file import Glossary, load_shipped_glossary
from tokonoma.modules.manual.variants import Variants

_MAX_CALLERS = 100  # kinds of callers, by what they may see
_MAX_GENERATIONS = 3  # generations: of this house, of another one in the same process, of the one just replaced


VisibleSections = Mapping[str, Mapping[str, Sequence[int]]]
"""manual → path → the sections that a caller sees"""


@dataclass(frozen=True, slots=True)
class Generation:
    """All sections as they are, whoever calls. What each kind of caller sees of them is worked out once."""

    corpus: ManualCorpus
    definitions: Variants
    problems: Mapping[tuple[str, str], str]
    visible: OrderedDict[tuple[Any, ...], VisibleSections]


@dataclass(frozen=True, slots=True)
class ManualLibrary:
    """What one call works with: the sections, which of them it may see, and the words of each manual."""

    corpus: ManualCorpus
    on_disk: ManualsOnDisk
    visible: VisibleSections
    problems: Mapping[tuple[str, str], str]
    definitions: Variants

    def positions(self, manual: str | None) -> list[int]:
        """The sections of one manual, or of all that the caller sees; Missing for a manual that it does not."""
        if manual is not None and manual not in self.visible:
            raise manual_missing_error(manual, self.visible)
        chosen = [manual] if manual is not None else sorted(self.visible)
        return [place for name in chosen for places in self.visible[name].values() for place in places]

    def glossary(self, manual: str | None) -> Glossary:
        own = tuple(found for name, found in sorted(self.on_disk.glossaries.items()) if manual in (None, name))
        return _merge_glossaries(own)[0]

    def glossary_variants(self, manual: str | None) -> Variants:
        """The words that the glossaries join."""
        own = tuple(found for name, found in sorted(self.on_disk.glossaries.items()) if manual in (None, name))
        return _merge_glossaries(own)[1]


@lru_cache(maxsize=32)
def _merge_glossaries(own: tuple[Glossary, ...]) -> tuple[Glossary, Variants]:
    total = reduce(Glossary.merge, own, load_shipped_glossary())
    return total, Variants(total.groups)


def load_library(desk: Desk) -> ManualLibrary:
    """Everything as the files are now."""
    shelved = sync_manuals(desk)
    held = _load_generation(desk)
    seen = _visible_sections(desk, held)
    problems = {file: problem for file, problem in held.problems.items() if file[1] in seen.get(file[0], ())}
    return ManualLibrary(held.corpus, shelved, seen, problems, held.definitions)


def _visible_sections(desk: Desk, held: Generation) -> VisibleSections:
    """Files and classes decide what a caller sees, and both say when they change. Still the desk is asked each time:
    it notes whether what it counts must be masked on its way out."""
    count = desk.row("select count(*) from manual_section where {visible}")
    key = desk.principal.root, desk.call.granted_view.classifications, read_state(desk, "classes"), count
    found = held.visible.get(key)
    if found is None:
        found = held.visible[key] = _query_visible(desk, held.corpus)
        while len(held.visible) > _MAX_CALLERS:
            held.visible.popitem(last=False)
    return found


def _query_visible(desk: Desk, stock: ManualCorpus) -> VisibleSections:
    seen: dict[str, dict[str, list[int]]] = {}
    sql = "select manual, path, line from manual_section where {visible} order by manual, path, line"
    for manual, path, line in desk.rows(sql):
        place = stock.positions.get((manual, path, line))
        if place is not None:
            seen.setdefault(manual, {}).setdefault(path, []).append(place)
    return seen


def manual_missing_error(manual: str, seen: Mapping[str, object]) -> Missing:
    named = ", ".join(sorted(seen)[:10])
    there = (
        f"There are: {named}." if named else "There is none yet: put a folder of .md files into the manuals' folder."
    )
    return Missing(f"There is no manual {manual!r}. {there}", manual_id=manual)


def manual_file_missing_error(manual: str, path: str) -> Missing:
    return Missing(f"Manual {manual!r} has no file {path!r}. manual_ls lists them.", manual_id=manual, path=path)


_generations: OrderedDict[str, Generation] = OrderedDict()
_lock = threading.Lock()


def _load_generation(desk: Desk) -> Generation:
    generation = read_state(desk, "generation")
    with _lock:
        found = _generations.get(generation)
        if found is not None:
            _generations.move_to_end(generation)
            return found
        made = _generations[generation] = _read_generation(desk)
        while len(_generations) > _MAX_GENERATIONS:
            _generations.popitem(last=False)
        return made


def _read_generation(desk: Desk) -> Generation:
    """All sections, whoever calls: which of them it may see is asked for each call anew."""
    with desk.write_derived() as tx:
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
                defined.add_group(pair)
    folded, tight, refers = ([row[column] for row in rows] for column in (10, 11, 12))
    stock = ManualCorpus([IndexedSection(*row[:10]) for row in rows], folded, tight, refers)
    return Generation(stock, defined, {(manual, path): told for manual, path, told in problems}, OrderedDict())
