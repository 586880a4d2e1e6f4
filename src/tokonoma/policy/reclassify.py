"""Reclassifying records for a new policy: in bounded batches, each in one transaction with the position it reached.

The index stores what was detected in each document, so only the class is computed anew. If the detectors have changed,
the documents are scanned again. Records that the index does not hold (such as a trash) are read from their modules.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from tokonoma.core.desk import Classification, Document, Record, Row, Rows, Statements, parse_address
from tokonoma.core.module import Module
from tokonoma.policy.active import ActivePolicy
from tokonoma.policy.rules import strictest
from tokonoma.policy.versions import ReclassifyState

BATCH_SIZE = 500
"""Records per transaction: other writers wait for it on SQLite, and for its rows on PostgreSQL."""

_PAGE = """select id, address, space, label, declared, kinds, detectors, title, thread from document
where id > :after order by id limit :most"""
_FACTS = "select key, text from fact where document = :id and text is not null"
_UPDATE = (
    "update document set label = :label, declared = :declared, kinds = :kinds, detectors = :detectors where id = :id"
)

ClassificationPair = tuple[Classification, Classification]


@dataclass(frozen=True, slots=True)
class RecordSource:
    """How to reach records: every module, one module by its name, the record at an address."""

    modules: Callable[[], Sequence[Module]]
    find_module: Callable[[str], Module | None]
    read_record: Callable[[Rows, str], Record | None]

    def apply_classifications(self, statements: Statements, classes: Mapping[str, Classification]) -> None:
        """Address → class, for the modules' own rows. Records of a plugin that is not installed are left out."""
        by_module: dict[str, dict[str, Classification]] = {}
        for address, classification in classes.items():
            by_module.setdefault(parse_address(address)[0], {})[address] = classification
        for name, changed in by_module.items():
            module = self.find_module(name)
            if module is not None and module.reclassify is not None:
                module.reclassify(statements, changed)


@dataclass(frozen=True, slots=True)
class ReclassifiedDocument:
    id: int | None  # None: it is not in the index
    address: str
    old: Classification
    new: Classification
    declared: Classification
    kinds: str
    rescanned: bool = False  # with other detectors than before


def preview_changes(rows: Rows, policy: ActivePolicy, records: RecordSource) -> Counter[ClassificationPair]:
    """How many records would change from one class to another, or keep theirs. Writes nothing."""
    changes: Counter[ClassificationPair] = Counter()
    after = 0
    while page := rows.rows(_PAGE, after=after, most=BATCH_SIZE):
        after = page[-1][0]
        batch = [_reclassify_row(rows, policy, row, records) for row in page]
        changes.update((each.old, each.new) for each in batch)
    for list_unindexed in filter(None, (module.unindexed_documents for module in records.modules())):
        last = None
        while documents := list_unindexed(rows, last, BATCH_SIZE):
            last = documents[-1].address
            batch = [_reclassify_unindexed(policy, each) for each in documents]
            changes.update((each.old, each.new) for each in batch)
    return changes


def reclassify_batch(
    statements: Statements, state: ReclassifyState, policy: ActivePolicy, records: RecordSource, most: int
) -> ReclassifyState | None:
    """Reclassify the next records; returns the new position, None at the end of this phase."""
    tightens, detectors = state.phase == "tighten", policy.scanner.version
    modules = records.modules() if tightens else ()
    unindexed = {each.name: each.unindexed_documents for each in modules if each.unindexed_documents is not None}
    if not state.stage:
        rows = statements.rows(_PAGE + " {for_update}", after=int(state.after or 0), most=most)
        batch = [_reclassify_row(statements, policy, row, records) for row in rows]
        last = str(rows[-1][0]) if rows else ""
    else:
        list_unindexed = unindexed.get(state.stage)
        documents = list_unindexed(statements, state.after or None, most) if list_unindexed is not None else ()
        batch = [_reclassify_unindexed(policy, each) for each in documents]
        last = documents[-1].address if documents else ""
    if tightens:
        batch = [replace(each, new=strictest(each.old, each.new)) for each in batch]
    updates = [
        {"id": each.id, "label": each.new, "declared": each.declared, "kinds": each.kinds, "detectors": detectors}
        for each in batch
        if each.id is not None and (each.new != each.old or each.rescanned)
    ]
    if updates:
        statements.run_many(_UPDATE, updates)
    records.apply_classifications(statements, {each.address: each.new for each in batch if each.new != each.old})
    done = state.done + len(batch)
    if len(batch) == most:
        return replace(state, after=last, done=done)
    stages = ["", *unindexed]
    left = stages[stages.index(state.stage) + 1 :] if state.stage in stages else stages[1:]
    return ReclassifyState(state.phase, left[0], "", done) if left else None


def _reclassify_row(rows: Rows, policy: ActivePolicy, row: Row, records: RecordSource) -> ReclassifiedDocument:
    number, address, namespace, old, stored, kinds, detectors, title, thread = row
    declared: Classification = stored or old
    if detectors == policy.scanner.version:
        new = policy.reclassify(address, namespace, declared, kinds)
        return ReclassifiedDocument(number, address, old, new, declared, kinds)
    record = records.read_record(rows, address)
    facts = [(key, text) for key, text in rows.rows(_FACTS, id=number)]
    text = record.text if record else ""
    scan = policy.scan_document(Document(address, namespace, text, title, declared, facts, thread))
    return ReclassifiedDocument(number, address, old, scan.classify(declared), declared, scan.kinds, rescanned=True)


def _reclassify_unindexed(policy: ActivePolicy, document: Document) -> ReclassifiedDocument:
    # The declared class was stored in the index and is gone with it: the record can only become stricter.
    scan, old = policy.scan_document(document), document.classification
    return ReclassifiedDocument(None, document.address, old, scan.classify(old), old, scan.kinds)
