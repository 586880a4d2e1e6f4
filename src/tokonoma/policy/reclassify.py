"""Reclassifying records for a new policy: in bounded batches, each in one transaction with the position it reached.

The index stores what was detected in each document, so mostly only the class is computed anew. If the detectors have
changed, or what the index may hold of a document, the record is read from its module and indexed again. So are records
that the index does not hold, such as a trash.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from tokonoma.core.desk import Classification, Document, Row, Rows, Statements, parse_address
from tokonoma.core.module import Module
from tokonoma.core.policy import DocumentScan
from tokonoma.policy.active import ActivePolicy
from tokonoma.policy.rules import strictest
from tokonoma.policy.versions import ReclassifyState

BATCH_SIZE = 500
"""Records per transaction: other writers wait for it on SQLite, and for its rows on PostgreSQL."""

_PAGE = """select id, address, space, label, declared, kinds, detectors, masked, author from document
where id > :after order by id limit :most"""
_UPDATE = "update document set label = :label, declared = :declared where id = :id"

ClassificationPair = tuple[Classification, Classification]


ScannedDocument = tuple[Document, DocumentScan, str | None]
"""A document, what was found in it, and who wrote it."""


class RecordModules(Protocol):
    def load_all(self) -> Sequence[Module]: ...
    def find_module(self, name: str) -> Module | None: ...


@dataclass(frozen=True, slots=True)
class RecordSource:
    """How to reach records: through their modules, and in the index."""

    modules: RecordModules
    index_document: Callable[[Statements, Document, DocumentScan, str | None], Classification]
    index_documents: Callable[[Statements, Sequence[ScannedDocument]], list[Classification]]

    def load_modules(self) -> Sequence[Module]:
        return self.modules.load_all()

    def read_document(self, rows: Rows, address: str) -> Document | None:
        """The record at an address, as it is indexed."""
        module = self.modules.find_module(parse_address(address)[0])
        if module is None:
            return None
        if module.read_document is not None:
            return module.read_document(rows, address)
        record = module.read(rows, address) if module.read is not None else None
        return record and Document(address, record.namespace, record.text, record.title, record.classification)

    def apply_classifications(self, statements: Statements, classes: Mapping[str, Classification]) -> None:
        """Address → class, for the modules' own rows. Records of a plugin that is not installed are left out."""
        by_module: dict[str, dict[str, Classification]] = {}
        for address, classification in classes.items():
            by_module.setdefault(parse_address(address)[0], {})[address] = classification
        for name, changed in by_module.items():
            module = self.modules.find_module(name)
            if module is not None and module.reclassify is not None:
                module.reclassify(statements, changed)


@dataclass(frozen=True, slots=True)
class ReclassifiedDocument:
    id: int | None  # None: it is not in the index
    address: str
    old: Classification
    new: Classification
    declared: Classification
    document: Document | None = None  # its row in the index has to be written again
    author: str = ""


def preview_changes(rows: Rows, policy: ActivePolicy, records: RecordSource) -> Counter[ClassificationPair]:
    """How many records would change from one class to another, or keep theirs. Writes nothing."""
    changes: Counter[ClassificationPair] = Counter()
    after = 0
    while page := rows.rows(_PAGE, after=after, most=BATCH_SIZE):
        after = page[-1][0]
        batch = [_reclassify_row(rows, policy, policy, row, records) for row in page]
        changes.update((each.old, each.new) for each in batch)
    for list_unindexed in filter(None, (module.unindexed_documents for module in records.load_modules())):
        last = None
        while documents := list_unindexed(rows, last, BATCH_SIZE):
            last = documents[-1].address
            batch = [_reclassify_unindexed(policy, each) for each in documents]
            changes.update((each.old, each.new) for each in batch)
    return changes


def reclassify_batch(
    statements: Statements,
    state: ReclassifyState,
    policy: ActivePolicy,
    in_force: ActivePolicy,
    records: RecordSource,
    most: int,
) -> ReclassifyState | None:
    """Reclassify the next records for a new policy; returns the new position, None at the end of this phase. As long as
    records only become stricter, the index holds what neither policy hides: `in_force` is both."""
    tightens = state.phase == "tighten"
    shows = in_force if tightens else policy
    modules = records.load_modules() if tightens else ()
    unindexed = {each.name: each.unindexed_documents for each in modules if each.unindexed_documents is not None}
    if not state.stage:
        rows = statements.rows(_PAGE + " {for_update}", after=int(state.after or 0), most=most)
        batch = [_reclassify_row(statements, policy, shows, row, records) for row in rows]
        last = str(rows[-1][0]) if rows else ""
    else:
        list_unindexed = unindexed.get(state.stage)
        documents = list_unindexed(statements, state.after or None, most) if list_unindexed is not None else ()
        batch = [_reclassify_unindexed(policy, each) for each in documents]
        last = documents[-1].address if documents else ""
    if tightens:
        batch = [replace(each, new=strictest(each.old, each.new)) for each in batch]
    for each in batch:
        if each.document is not None:
            _rewrite_document(statements, each, shows, policy, records)
    updates = [
        {"id": each.id, "label": each.new, "declared": each.declared}
        for each in batch
        if each.id is not None and each.new != each.old
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


def _reclassify_row(
    rows: Rows, policy: ActivePolicy, shows: ActivePolicy, row: Row, records: RecordSource
) -> ReclassifiedDocument:
    number, address, namespace, old, stored, kinds, detectors, masked, author = row
    declared: Classification = stored or old
    is_current = detectors == policy.scanner.version
    if is_current and masked == shows.list_masked(address, namespace, kinds):
        new = policy.reclassify(address, namespace, declared, kinds)
        return ReclassifiedDocument(number, address, old, new, declared)
    document = records.read_document(rows, address)
    if document is None:  # its module is not installed, or its file is gone: it keeps what is known of it
        return ReclassifiedDocument(number, address, old, strictest(old, declared), declared)
    new = policy.scan_document(document).classify(declared)
    return ReclassifiedDocument(number, address, old, new, declared, replace(document, classification=declared), author)


def _rewrite_document(
    statements: Statements,
    found: ReclassifiedDocument,
    shows: ActivePolicy,
    policy: ActivePolicy,
    records: RecordSource,
) -> None:
    """Index a document again, with what the policies show of it and what the newer one detects in it."""
    assert found.document is not None
    scan, new = shows.scan_document(found.document), policy.scan_document(found.document)

    def classify(_declared: Classification) -> Classification:
        return found.new

    marks = replace(scan, kinds=new.kinds, detectors_version=new.detectors_version, classify=classify)
    records.index_document(statements, found.document, marks, found.author)


def _reclassify_unindexed(policy: ActivePolicy, document: Document) -> ReclassifiedDocument:
    # The declared class was stored in the index and is gone with it: the record can only become stricter.
    old = document.classification
    return ReclassifiedDocument(None, document.address, old, policy.scan_document(document).classify(old), old)
