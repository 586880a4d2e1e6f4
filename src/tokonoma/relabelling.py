"""A new policy, a new class for some records: in the transaction that puts it in force, so that there is no moment in
which a record has the class of neither.

Documents know what was found in them: only their class is worked out anew. If the detectors have changed they are
looked at again. Records that the index does not hold (a trash) are read from their modules.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tokonoma.core.desk import Document, Label, Record, Row, Rows, Statements
from tokonoma.core.module import Module
from tokonoma.policy.force import InForce

PAGE = 500

_PAGE = """select id, address, space, label, declared, kinds, detectors, title, thread from document
where id > :after order by id limit :most"""
_FACTS = "select key, text from fact where document = :id and text is not null"
_LABEL = (
    "update document set label = :label, declared = :declared, kinds = :kinds, detectors = :detectors where id = :id"
)


@dataclass(slots=True)
class Changes:
    """How many records there are of each (old class, new class)."""

    pairs: Counter[tuple[Label, Label]] = field(default_factory=Counter[tuple[Label, Label]])

    @property
    def records(self) -> int:
        return self.pairs.total()

    @property
    def moves(self) -> dict[tuple[Label, Label], int]:
        return {pair: count for pair, count in self.pairs.items() if pair[0] != pair[1]}

    def counted(self, of: Callable[[Label, Label], bool]) -> int:
        return sum(count for pair, count in self.pairs.items() if of(*pair))


@dataclass(frozen=True, slots=True)
class Relabelled:
    """One document as the new policy has it."""

    id: int | None  # None: it is not in the index
    address: str
    old: Label
    new: Label
    declared: Label
    kinds: str
    marked: bool  # by other detectors than before


def foreseen(
    rows: Rows, policy: InForce, modules: Sequence[Module], record: Callable[[Rows, str], Record | None]
) -> Changes:
    """What a policy would change. Nothing is written."""
    changes = Changes()
    for each in _all(rows, policy, modules, record):
        changes.pairs[each.old, each.new] += 1
    return changes


def relabel_all(
    statements: Statements,
    policy: InForce,
    modules: Sequence[Module],
    record: Callable[[Rows, str], Record | None],
    relabel: Callable[[Statements, Mapping[str, Label]], None],
) -> Changes:
    changes, version = Changes(), policy.scanner.version
    page: list[Relabelled] = []

    def write() -> None:
        moved: dict[str, Label] = {each.address: each.new for each in page if each.new != each.old}
        rows = [
            {"id": each.id, "label": each.new, "declared": each.declared, "kinds": each.kinds, "detectors": version}
            for each in page
            if each.id is not None and (each.new != each.old or each.marked)
        ]
        if rows:
            statements.many(_LABEL, rows)
        if moved:
            relabel(statements, moved)
        page.clear()

    for each in _all(statements, policy, modules, record):
        changes.pairs[each.old, each.new] += 1
        if each.new != each.old or each.marked:
            page.append(each)
        if len(page) >= PAGE:
            write()
    write()
    return changes


def _all(
    rows: Rows, policy: InForce, modules: Sequence[Module], record: Callable[[Rows, str], Record | None]
) -> Iterator[Relabelled]:
    after = 0
    while found := rows.rows(_PAGE, after=after, most=PAGE):
        after = found[-1][0]
        yield from [_document(rows, policy, row, record) for row in found]
    for module in modules:
        if module.shelved is not None:
            yield from _shelved(rows, policy, module.shelved)


def _document(rows: Rows, policy: InForce, row: Row, record: Callable[[Rows, str], Record | None]) -> Relabelled:
    number, address, space, label, declared, kinds, detectors, title, thread = row
    said: Label = declared or label
    if detectors == policy.scanner.version:
        return Relabelled(number, address, label, policy.relabelled(address, space, said, kinds), said, kinds, False)
    held = record(rows, address)
    facts = [(key, text) for key, text in rows.rows(_FACTS, id=number)]
    mark = policy.mark(Document(address, space, held.text if held else "", title, said, facts, thread))
    return Relabelled(number, address, label, mark.label(said), said, mark.kinds, True)


def _shelved(
    rows: Rows, policy: InForce, listing: Callable[[Rows, str | None, int], Sequence[Document]]
) -> Iterator[Relabelled]:
    after: str | None = None
    while found := listing(rows, after, PAGE):
        after = found[-1].address
        for each in found:
            mark = policy.mark(each)
            # What its writer said was kept with the document, which is gone: it can only become stricter.
            yield Relabelled(None, each.address, each.label, mark.label(each.label), each.label, mark.kinds, False)
        if len(found) < PAGE:
            return


def modules_of(rows: Rows, module: Callable[[str], Module]) -> list[Module]:
    """The modules that have anything in the index."""
    return [module(name) for name in names_of(rows)]


def names_of(rows: Rows) -> list[str]:
    return [name for (name,) in rows.rows("select distinct module from document order by module")]
