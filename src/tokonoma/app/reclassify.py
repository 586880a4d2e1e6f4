"""A new policy, a new class for some records: a bounded piece at a time, each with how far it is in one transaction.

Documents know what was found in them: only their class is worked out anew. If the detectors have changed they are
looked at again. Records that the index does not hold (a trash) are read from their modules.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tokonoma.core.desk import Classification, Document, Record, Row, Rows, Statements
from tokonoma.core.module import Module
from tokonoma.policy.active import ActivePolicy
from tokonoma.policy.rules import strictest
from tokonoma.policy.versions import ReclassifyState

BATCH_SIZE = 500
"""Records a transaction: others wait for it on SQLite, and for its rows on PostgreSQL."""

_PAGE = """select id, address, space, label, declared, kinds, detectors, title, thread from document
where id > :after order by id limit :most"""
_FACTS = "select key, text from fact where document = :id and text is not null"
_LABEL = (
    "update document set label = :label, declared = :declared, kinds = :kinds, detectors = :detectors where id = :id"
)

RecordReader = Callable[[Rows, str], Record | None]
ReclassifyRecords = Callable[[Statements, Mapping[str, Classification]], None]


@dataclass(slots=True)
class ClassificationChanges:
    """How many records there are of each (old class, new class)."""

    pairs: Counter[tuple[Classification, Classification]] = field(
        default_factory=Counter[tuple[Classification, Classification]]
    )

    @property
    def records(self) -> int:
        return self.pairs.total()

    @property
    def moves(self) -> dict[tuple[Classification, Classification], int]:
        return {pair: count for pair, count in self.pairs.items() if pair[0] != pair[1]}

    def count(self, of: Callable[[Classification, Classification], bool]) -> int:
        return sum(count for pair, count in self.pairs.items() if of(*pair))


@dataclass(frozen=True, slots=True)
class ReclassifiedDocument:
    """One document as the new policy has it."""

    id: int | None  # None: it is not in the index
    address: str
    old: Classification
    new: Classification
    declared: Classification
    kinds: str
    rescanned: bool  # by other detectors than before


def preview_changes(
    rows: Rows, policy: ActivePolicy, modules: Sequence[Module], record: RecordReader
) -> ClassificationChanges:
    """What a policy would change. Nothing is written."""
    changes = ClassificationChanges()
    for each in _reclassify_all(rows, policy, modules, record):
        changes.pairs[each.old, each.new] += 1
    return changes


def reclassify_batch(
    statements: Statements,
    walk: ReclassifyState,
    policy: ActivePolicy,
    modules: Sequence[Module],
    record: RecordReader,
    relabel: ReclassifyRecords,
    most: int = BATCH_SIZE,
) -> ReclassifyState | None:
    """The next records on the way to a policy; how far it is then, None at the end of this phase."""
    tightens = walk.phase == "tighten"
    shelves = [module for module in modules if module.unindexed_documents is not None] if tightens else []
    if not walk.stage:
        rows = statements.rows(_PAGE + " {for_update}", after=int(walk.after or 0), most=most)
        page = [_reclassify_row(statements, policy, row, record) for row in rows]
        last = str(rows[-1][0]) if rows else ""
    else:
        shelf = next((each for each in shelves if each.name == walk.stage), None)
        found: Sequence[Document] = ()
        if shelf is not None and shelf.unindexed_documents is not None:
            found = shelf.unindexed_documents(statements, walk.after or None, most)
        page = [_reclassify_unindexed(policy, each) for each in found]
        last = found[-1].address if found else ""
    _write_batch(statements, [_tighten(each) for each in page] if tightens else page, policy.scanner.version, relabel)
    done = walk.done + len(page)
    if len(page) == most:
        return replace(walk, after=last, done=done)
    names = ["", *(each.name for each in shelves)]
    left = names[names.index(walk.stage) + 1 :] if walk.stage in names else names[1:]
    return ReclassifyState(walk.phase, left[0], "", done) if left else None


def _tighten(each: ReclassifiedDocument) -> ReclassifiedDocument:
    return replace(each, new=strictest([each.old, each.new]))


def _write_batch(
    statements: Statements, page: Sequence[ReclassifiedDocument], detectors: str, relabel: ReclassifyRecords
) -> None:
    rows = [
        {"id": each.id, "label": each.new, "declared": each.declared, "kinds": each.kinds, "detectors": detectors}
        for each in page
        if each.id is not None and (each.new != each.old or each.rescanned)
    ]
    if rows:
        statements.run_many(_LABEL, rows)
    moved: dict[str, Classification] = {each.address: each.new for each in page if each.new != each.old}
    if moved:
        relabel(statements, moved)


def _reclassify_all(
    rows: Rows, policy: ActivePolicy, modules: Sequence[Module], record: RecordReader
) -> Iterator[ReclassifiedDocument]:
    after = 0
    while found := rows.rows(_PAGE, after=after, most=BATCH_SIZE):
        after = found[-1][0]
        yield from [_reclassify_row(rows, policy, row, record) for row in found]
    for module in modules:
        last: str | None = None
        while module.unindexed_documents is not None and (listed := module.unindexed_documents(rows, last, BATCH_SIZE)):
            last = listed[-1].address
            yield from [_reclassify_unindexed(policy, each) for each in listed]


def _reclassify_row(rows: Rows, policy: ActivePolicy, row: Row, record: RecordReader) -> ReclassifiedDocument:
    number, address, space, label, declared, kinds, detectors, title, thread = row
    said: Classification = declared or label
    if detectors == policy.scanner.version:
        return ReclassifiedDocument(
            number, address, label, policy.reclassify(address, space, said, kinds), said, kinds, False
        )
    held = record(rows, address)
    facts = [(key, text) for key, text in rows.rows(_FACTS, id=number)]
    mark = policy.scan_document(Document(address, space, held.text if held else "", title, said, facts, thread))
    return ReclassifiedDocument(number, address, label, mark.classify(said), said, mark.kinds, True)


def _reclassify_unindexed(policy: ActivePolicy, each: Document) -> ReclassifiedDocument:
    mark = policy.scan_document(each)
    # What its writer said was kept with the document, which is gone: it can only become stricter.
    return ReclassifiedDocument(
        None,
        each.address,
        each.classification,
        mark.classify(each.classification),
        each.classification,
        mark.kinds,
        False,
    )
