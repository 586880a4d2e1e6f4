"""A new policy, a new class for some records: a bounded piece at a time, each with how far it is in one transaction.

Documents know what was found in them: only their class is worked out anew. If the detectors have changed they are
looked at again. Records that the index does not hold (a trash) are read from their modules.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tokonoma.core.desk import Document, Label, Record, Row, Rows, Statements
from tokonoma.core.module import Module
from tokonoma.policy.active import InForce
from tokonoma.policy.rules import strictest
from tokonoma.policy.versions import Walk

PIECE = 500
"""Records a transaction: others wait for it on SQLite, and for its rows on PostgreSQL."""

_PAGE = """select id, address, space, label, declared, kinds, detectors, title, thread from document
where id > :after order by id limit :most"""
_FACTS = "select key, text from fact where document = :id and text is not null"
_LABEL = (
    "update document set label = :label, declared = :declared, kinds = :kinds, detectors = :detectors where id = :id"
)

Reader = Callable[[Rows, str], Record | None]
Relabel = Callable[[Statements, Mapping[str, Label]], None]


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


def foreseen(rows: Rows, policy: InForce, modules: Sequence[Module], record: Reader) -> Changes:
    """What a policy would change. Nothing is written."""
    changes = Changes()
    for each in _all(rows, policy, modules, record):
        changes.pairs[each.old, each.new] += 1
    return changes


def piece(
    statements: Statements, walk: Walk, policy: InForce, modules: Sequence[Module], record: Reader, relabel: Relabel,
    most: int = PIECE,
) -> Walk | None:  # fmt: skip
    """The next records on the way to a policy; how far it is then, None at the end of this phase."""
    tightens = walk.phase == "tighten"
    shelves = [module for module in modules if module.shelved is not None] if tightens else []
    if not walk.stage:
        rows = statements.rows(_PAGE + " {for_update}", after=int(walk.after or 0), most=most)
        page = [_document(statements, policy, row, record) for row in rows]
        last = str(rows[-1][0]) if rows else ""
    else:
        shelf = next((each for each in shelves if each.name == walk.stage), None)
        found: Sequence[Document] = ()
        if shelf is not None and shelf.shelved is not None:
            found = shelf.shelved(statements, walk.after or None, most)
        page = [_shelved(policy, each) for each in found]
        last = found[-1].address if found else ""
    _write(statements, [_tightened(each) for each in page] if tightens else page, policy.scanner.version, relabel)
    done = walk.done + len(page)
    if len(page) == most:
        return replace(walk, after=last, done=done)
    names = ["", *(each.name for each in shelves)]
    left = names[names.index(walk.stage) + 1 :] if walk.stage in names else names[1:]
    return Walk(walk.phase, left[0], "", done) if left else None


def _tightened(each: Relabelled) -> Relabelled:
    return replace(each, new=strictest([each.old, each.new]))


def _write(statements: Statements, page: Sequence[Relabelled], detectors: str, relabel: Relabel) -> None:
    rows = [
        {"id": each.id, "label": each.new, "declared": each.declared, "kinds": each.kinds, "detectors": detectors}
        for each in page
        if each.id is not None and (each.new != each.old or each.marked)
    ]
    if rows:
        statements.many(_LABEL, rows)
    moved: dict[str, Label] = {each.address: each.new for each in page if each.new != each.old}
    if moved:
        relabel(statements, moved)


def _all(rows: Rows, policy: InForce, modules: Sequence[Module], record: Reader) -> Iterator[Relabelled]:
    after = 0
    while found := rows.rows(_PAGE, after=after, most=PIECE):
        after = found[-1][0]
        yield from [_document(rows, policy, row, record) for row in found]
    for module in modules:
        last: str | None = None
        while module.shelved is not None and (listed := module.shelved(rows, last, PIECE)):
            last = listed[-1].address
            yield from [_shelved(policy, each) for each in listed]


def _document(rows: Rows, policy: InForce, row: Row, record: Reader) -> Relabelled:
    number, address, space, label, declared, kinds, detectors, title, thread = row
    said: Label = declared or label
    if detectors == policy.scanner.version:
        return Relabelled(number, address, label, policy.relabelled(address, space, said, kinds), said, kinds, False)
    held = record(rows, address)
    facts = [(key, text) for key, text in rows.rows(_FACTS, id=number)]
    mark = policy.mark(Document(address, space, held.text if held else "", title, said, facts, thread))
    return Relabelled(number, address, label, mark.label(said), said, mark.kinds, True)


def _shelved(policy: InForce, each: Document) -> Relabelled:
    mark = policy.mark(each)
    # What its writer said was kept with the document, which is gone: it can only become stricter.
    return Relabelled(None, each.address, each.label, mark.label(each.label), each.label, mark.kinds, False)
