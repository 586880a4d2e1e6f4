"""Which policy is in force, what it makes of records, and how another one replaces it.

A process caches the policy for a second: within that time reads notice a policy applied by another process. A write
reads the policy inside its own transaction, so nothing is stored under a policy that is no longer in force.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from tokonoma.core.desk import Classification, Document, Record, Rows, Statements
from tokonoma.core.errors import Refusal, Unavailable
from tokonoma.core.log import log
from tokonoma.core.policy import PendingPolicy, Policy, PolicyProposal, PolicyVersion, ReclassifyProgress
from tokonoma.policy import changes
from tokonoma.policy import versions as store
from tokonoma.policy.active import ActivePolicy, ClosedPolicy
from tokonoma.policy.changes import PolicyControl, build_policy
from tokonoma.policy.reclassify import (
    BATCH_SIZE,
    ClassificationPair,
    RecordSource,
    preview_changes,
    reclassify_batch,
)
from tokonoma.policy.rules import PolicyRules
from tokonoma.policy.transition import TransitionPolicy

_CACHE_SECONDS = 1.0
_UNCACHED_SECONDS = 30.0  # the longest time that applying a policy may take


class CurrentPolicy:
    """One object per process. `wake_reclassify` starts the background job that reclassifies records."""

    def __init__(
        self,
        reading: Callable[[], AbstractContextManager[Rows]],
        records: RecordSource,
        wake_reclassify: Callable[[], None],
        control: PolicyControl | None = None,
    ) -> None:
        self.reading, self._records = reading, records
        self._wake_reclassify, self.control = wake_reclassify, control or PolicyControl()
        # Each pair is replaced as a whole: a head beside another head's policy would stay until the next change.
        self._current: tuple[store.PolicyHead | None, ActivePolicy] = (None, ClosedPolicy())
        self._built: tuple[store.PolicyHead, ActivePolicy] | None = None
        self._cached_until = self._uncached_until = 0.0
        self._lock = threading.Lock()

    def get_version(self) -> str:
        return self.get_active().version

    def get_active(self) -> ActivePolicy:
        """The policy in force; one that allows nothing if none can be read."""
        return self._read_current()[1]

    def describe_state(self) -> str:
        """Another text whenever something may be shown or hidden that was not before: after a change of policy, during
        one, and with other detectors."""
        head, policy = self._read_current()
        if head is None:
            return "closed"
        return f"{head.number} {head.coming} {head.leaving} {policy.scanner.version}"

    def _read_current(self) -> tuple[store.PolicyHead | None, ActivePolicy]:
        """A policy, and its head unless none can be read."""
        if time.monotonic() < self._cached_until:
            return self._current
        try:
            with self.reading() as rows:
                head = store.read_head(rows)
                policy = self._build(rows, head)
                if head.other is not None or store.needs_rescan(rows, head, policy.masks_key):
                    self._wake_reclassify()
                current = head, policy
        except Refusal as error:
            before = self._current[1]
            if not isinstance(before, ClosedPolicy) or before.problem is None:  # not with every try
                log("error", "policy", reason=error.reason or error.kind)
            current = None, ClosedPolicy(error)
            if isinstance(error, Unavailable):  # asked again by the next call: the database may be back
                self._current = current
                return current
        with self._lock:
            at = time.monotonic()
            self._current, self._cached_until = current, at + _CACHE_SECONDS if at >= self._uncached_until else 0.0
        return current

    def lock_active(self, statements: Statements) -> ActivePolicy:
        """The policy that binds a transaction: no other one comes into force before the transaction ends."""
        try:
            head = store.read_head(statements, "{for_share}")
            policy = self._build(statements, head)
        except Refusal as error:
            raise ClosedPolicy(error).build_refusal() from error
        if head.masks is None:
            store.note_masks(statements, policy.masks_key)
        return policy

    def invalidate(self) -> None:
        """Read the policy with every call for a while: when an applied policy will be committed is not known here."""
        with self._lock:
            self._cached_until, self._uncached_until = 0.0, time.monotonic() + _UNCACHED_SECONDS

    def _build(self, rows: Rows, head: store.PolicyHead) -> ActivePolicy:
        if (built := self._built) is not None and built[0] == head:
            return built[1]
        policy = build_policy(store.read_version(rows, head.number), head.salt)
        if head.other is not None:
            other = build_policy(store.read_version(rows, head.other), head.salt)
            policy = TransitionPolicy(policy.rules, head.number, head.salt, other, coming=head.coming is not None)
        self._built = head, policy
        return policy

    # Versions

    def current_version(self) -> PolicyVersion:
        """The version in force, with its text."""
        with self.reading() as rows:
            return store.read_version(rows, store.read_head(rows).number)

    def check(self, yaml: str) -> PolicyRules:
        """The rules of a policy that is to be applied; Invalid lists every problem."""
        return changes.parse_proposed(self.control, yaml)

    def preview(self, proposal: PolicyProposal) -> tuple[str, ActivePolicy, Sequence[str], Counter[ClassificationPair]]:
        """The version that it would get, the policy, what it loosens, and the number of records by (old class, new
        class)."""
        rules = self.check(proposal.yaml)
        policy = ActivePolicy(rules, -1, b"")
        self.prepare()
        with self.reading() as rows:
            head = store.read_head(rows)
            store.check_expected(rows, head, proposal.expected_version)
            if proposal.signature:
                changes.check_signed(rows, head, self.control, proposal, rules.version)
            version, loosens = store.next_free_version(rows, rules.version), changes.compare(rows, head, rules)
            return version, policy, loosens, preview_changes(rows, policy, self._records)

    def apply(
        self, statements: Statements, proposal: PolicyProposal, by: str, *, may_loosen: bool = True
    ) -> PolicyVersion | PendingPolicy:
        """Accept a policy. It comes into force when `step` has reclassified the records that it wants stricter. One
        that loosens the newest policy becomes a proposal, unless it `may_loosen` or is signed."""
        self.invalidate()
        return changes.apply_policy(statements, self.control, proposal, by, may_loosen)

    def rollback(
        self, statements: Statements, version: str, expected: str | None, by: str, *, may_loosen: bool = True
    ) -> PolicyVersion | PendingPolicy:
        """Accept the text of an earlier version again, under a new version."""
        self.invalidate()
        return changes.roll_back(statements, self.control, version, expected, by, may_loosen)

    def approve(self, statements: Statements, id: str, by: str) -> PolicyVersion:
        """Accept a proposal."""
        self.invalidate()
        return changes.approve(statements, self.control, id, by)

    # Records that follow a policy

    def prepare(self) -> None:
        """Load every module and migrate its tables: this must not happen inside a transaction that reads records."""
        self._records.load_modules()

    def is_activating(self, rows: Rows) -> bool:
        """Whether the next step puts the coming policy in force."""
        state = store.read_state(rows)
        return state is not None and state.phase == "turn"

    def step(self, statements: Statements, most: int = BATCH_SIZE) -> bool:
        """One batch of the transition, in a transaction of its own. False: every record has its class."""
        state = store.read_state(statements, lock=True)
        if state is None:
            return self._begin_rescan(statements)
        if state.phase == "turn":
            store.activate_coming(statements)
            self.invalidate()
            return True
        # Records that the index does not hold have no row there that keeps writers out.
        head = store.read_head(statements, "{for_update}" if state.stage else "")
        policy = build_policy(store.read_version(statements, head.newest), head.salt)
        try:
            in_force = self._build(statements, head)
        except Refusal:  # the one that is replaced cannot be read: nothing is visible under it
            in_force = policy
        after = reclassify_batch(statements, state, policy, in_force, self._records, most)
        if after is None and state.phase == "tighten":
            after = store.ReclassifyState("turn", done=state.done)
        if after is not None:
            store.save_state(statements, after)
        else:
            store.finish_transition(statements, policy.masks_key)
            self.invalidate()
        return True

    def _begin_rescan(self, statements: Statements) -> bool:
        """Whether the records have to be scanned again, since this program finds other things than the one before."""
        head = store.read_head(statements, "{for_update}")
        policy = build_policy(store.read_version(statements, head.number), head.salt)
        if not store.needs_rescan(statements, head, policy.masks_key):
            return False
        store.begin_rescan(statements)
        self.invalidate()
        return True

    def progress(self) -> ReclassifyProgress | None:
        """How many records are reclassified; None if no transition is under way."""
        with self.reading() as rows:
            state, head = store.read_state(rows), store.read_head(rows)
            if state is None:
                return None
            ((total,),) = rows.rows("select count(*) from document")
            newest = store.read_version(rows, head.newest)
        return ReclassifyProgress(newest.version, state.phase == "loosen", state.done, max(state.done, total))

    def read_active(self, rows: Rows) -> ActivePolicy:
        """The policy in force in this transaction."""
        return self._build(rows, store.read_head(rows))

    def put_document(
        self, statements: Statements, document: Document, policy: Policy, author: str | None = None
    ) -> Classification:
        """Index a document with its class. If the policy is stricter than the writer, the module's row is updated."""
        classification = self._records.index_document(statements, document, policy.scan_document(document), author)
        if classification != document.classification:
            self._records.apply_classifications(statements, {document.address: classification})
        return classification

    def put_documents(
        self, statements: Statements, documents: Sequence[tuple[Document, str | None]], policy: Policy
    ) -> list[Classification]:
        """The same for many documents with their authors."""
        scanned = [(each, policy.scan_document(each), author) for each, author in documents]
        classes = self._records.index_documents(statements, scanned)
        both = zip(documents, classes, strict=True)
        changed: dict[str, Classification] = {
            each.address: new for (each, _), new in both if new != each.classification
        }
        if changed:
            self._records.apply_classifications(statements, changed)
        return classes


def format_progress(progress: ReclassifyProgress) -> str:
    count = f"{progress.done} of about {progress.total} records checked"
    if progress.in_force:
        return f"{progress.version} is in force; records that may be milder are reclassified, {count}"
    return f"{progress.version} is coming: records that must be stricter are reclassified first, {count}"


def read_for_index(
    policies: Callable[[], CurrentPolicy], read: Callable[[Rows, str], Record | None], rows: Rows, address: str
) -> Record | None:
    """A record as the index may hold it: without what is hidden from any caller."""
    record = read(rows, address)
    return record and policies().read_active(rows).mask_record_for_index(record)
