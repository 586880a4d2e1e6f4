"""Which policy is in force, what it makes of records, and how another one replaces it.

A process caches the policy for a second: within that time reads notice a policy applied by another process. A write
reads the policy inside its own transaction, so nothing is stored under a policy that is no longer in force.
"""

import base64
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

from tokonoma.core.desk import Classification, Document, Rows, Statements
from tokonoma.core.errors import Denied, Refusal, Unavailable, Unready
from tokonoma.core.log import log
from tokonoma.core.policy import DocumentScan, Policy, PolicyProposal, PolicyVersion, ReclassifyProgress
from tokonoma.policy import versions as store
from tokonoma.policy.active import ActivePolicy, ClosedPolicy, TransitionPolicy
from tokonoma.policy.reclassify import BATCH_SIZE, ClassificationPair, RecordSource, preview_changes, reclassify_batch
from tokonoma.policy.rules import PolicyRules

_CACHE_SECONDS = 1.0
_UNCACHED_SECONDS = 30.0  # the longest time that applying a policy may take

IndexDocument = Callable[[Statements, Document, DocumentScan, str | None], Classification]


class CurrentPolicy:
    """One object per process. `wake_reclassify` starts the background job that reclassifies records; `signers` are
    the names and keys of those who may approve a policy, if policies must be signed."""

    def __init__(
        self,
        reading: Callable[[], AbstractContextManager[Rows]],
        index_document: IndexDocument,
        records: RecordSource,
        wake_reclassify: Callable[[], None],
        signers: Sequence[str] = (),
    ) -> None:
        self.reading, self._index_document, self._records = reading, index_document, records
        self._wake_reclassify, self._signers = wake_reclassify, signers
        self._active: ActivePolicy = ClosedPolicy()
        self._head: store.PolicyHead | None = None
        self._cached_until = self._uncached_until = 0.0

    def get_version(self) -> str:
        return self.get_active().version

    def get_active(self) -> ActivePolicy:
        """The policy in force; one that allows nothing if none can be read."""
        if time.monotonic() >= self._cached_until:
            try:
                with self.reading() as rows:
                    head = store.read_head(rows)
                    if head.other is not None:
                        self._wake_reclassify()
                    self._active = self._build(rows, head)
            except Refusal as error:
                if not isinstance(self._active, ClosedPolicy) or self._active.problem is None:  # not with every try
                    log("error", "policy", reason=error.reason or error.kind)
                self._active = ClosedPolicy(error)
                if isinstance(error, Unavailable):  # asked again by the next call: the database may be back
                    return self._active
            at = time.monotonic()
            self._cached_until = at + _CACHE_SECONDS if at >= self._uncached_until else 0.0
        return self._active

    def describe_state(self) -> str:
        """Another text whenever something may be shown or hidden that was not before: after a change of policy, during
        one, and with other detectors."""
        policy, head = self.get_active(), self._head
        if head is None or isinstance(policy, ClosedPolicy):
            return "closed"
        return f"{head.number} {head.coming} {head.leaving} {policy.scanner.version}"

    def lock_active(self, statements: Statements) -> ActivePolicy:
        """The policy that binds a transaction: no other one comes into force before the transaction ends."""
        return self._build(statements, store.read_head(statements, "{for_share}"))

    def invalidate(self) -> None:
        """Read the policy with every call for a while: when an applied policy will be committed is not known here."""
        self._cached_until, self._uncached_until = 0.0, time.monotonic() + _UNCACHED_SECONDS

    def _build(self, rows: Rows, head: store.PolicyHead) -> ActivePolicy:
        if head == self._head and not isinstance(self._active, ClosedPolicy):
            return self._active
        policy = build_policy(store.read_version(rows, head.number), head.salt)
        if head.other is not None:
            other = build_policy(store.read_version(rows, head.other), head.salt)
            policy = TransitionPolicy(policy.rules, head.number, head.salt, other, coming=head.coming is not None)
        self._active, self._head = policy, head
        return policy

    # Versions

    def current_version(self) -> PolicyVersion:
        """The version in force, with its text."""
        with self.reading() as rows:
            return store.read_version(rows, store.read_head(rows).number)

    def preview(self, proposal: PolicyProposal) -> tuple[str, ActivePolicy, Counter[ClassificationPair]]:
        """The version that it would get, the policy, and the number of records by (old class, new class)."""
        rules = self._parse_proposal(proposal)
        policy = ActivePolicy(rules, -1, b"")
        self.prepare()
        with self.reading() as rows:
            store.check_expected(rows, store.read_head(rows), proposal.expected_version)
            return store.next_free_version(rows, rules.version), policy, preview_changes(rows, policy, self._records)

    def apply(self, statements: Statements, proposal: PolicyProposal, by: str) -> PolicyVersion:
        """Accept a policy. It comes into force when `step` has reclassified the records that it wants stricter."""
        rules = self._parse_proposal(proposal)
        store.check_expected(statements, store.read_head(statements, "{for_update}"), proposal.expected_version)
        self.invalidate()
        return store.save_version(statements, rules.version, proposal.yaml, by, proposal.approver)

    def rollback(self, statements: Statements, version: str, expected: str | None, by: str) -> PolicyVersion:
        """Accept the text of an earlier version again, under a new version."""
        store.check_expected(statements, store.read_head(statements, "{for_update}"), expected)
        target = store.find_version(statements, version)
        if target.number:
            from tokonoma.policy.parse import parse_policy

            parse_policy(target.yaml, proposed=True)
        self.invalidate()
        return store.save_version(statements, target.version, target.yaml, by, "", target.version)

    def _parse_proposal(self, proposal: PolicyProposal) -> PolicyRules:
        from tokonoma.policy.parse import parse_policy

        rules = parse_policy(proposal.yaml, proposed=True)
        if self._signers:
            check_signature(self._signers, proposal)
        return rules

    # Records that follow a policy

    def prepare(self) -> None:
        """Load every module and migrate its tables: this must not happen inside a transaction that reads records."""
        self._records.modules()

    def is_activating(self, rows: Rows) -> bool:
        """Whether the next step puts the coming policy in force."""
        state = store.read_state(rows)
        return state is not None and state.phase == "turn"

    def step(self, statements: Statements, most: int = BATCH_SIZE) -> bool:
        """One batch of the transition, in a transaction of its own. False: every record has its class."""
        state = store.read_state(statements, lock=True)
        if state is None:
            return False
        if state.phase == "turn":
            store.activate_coming(statements)
            self.invalidate()
            return True
        # Records that the index does not hold have no row there that keeps writers out.
        head = store.read_head(statements, "{for_update}" if state.stage else "")
        policy = build_policy(store.read_version(statements, head.newest), head.salt)
        after = reclassify_batch(statements, state, policy, self._records, most)
        if after is None and state.phase == "tighten":
            after = store.ReclassifyState("turn", done=state.done)
        if after is not None:
            store.save_state(statements, after)
        else:
            store.finish_transition(statements)
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

    def put_document(
        self, statements: Statements, document: Document, policy: Policy, author: str | None = None
    ) -> Classification:
        """Index a document with its class. If the policy is stricter than the writer, the module's row is updated."""
        classification = self._index_document(statements, document, policy.scan_document(document), author)
        if classification != document.classification:
            self._records.apply_classifications(statements, {document.address: classification})
        return classification


def build_policy(stored: PolicyVersion, salt: bytes) -> ActivePolicy:
    """Raises Invalid if this program cannot read the stored text: then nothing is allowed."""
    if stored.number == 0:
        return ActivePolicy(salt=salt)
    from tokonoma.policy.parse import parse_policy  # loads YAML: not needed for the default policy

    return ActivePolicy(replace(parse_policy(stored.yaml), version=stored.version), stored.number, salt)


def format_progress(progress: ReclassifyProgress) -> str:
    count = f"{progress.done} of about {progress.total} records checked"
    if progress.in_force:
        return f"{progress.version} is in force; records that may be milder are reclassified, {count}"
    return f"{progress.version} is coming: records that must be stricter are reclassified first, {count}"


def check_signature(signers: Sequence[str], proposal: PolicyProposal) -> None:
    """`signers` are `name:public key` (Ed25519, base64). Denied unless `approver` is one and has signed this text."""
    keys = {name: key for name, _, key in (each.rpartition(":") for each in signers)}
    if proposal.approver not in keys or not proposal.signature:
        raise Denied(
            "A policy must be signed on this server: give `approver` (one of policy_signers) and `signature`, the"
            " Ed25519 signature of the YAML text in base64.",
            reason="signature",
            approvers=sorted(keys),
        )
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        public = Ed25519PublicKey.from_public_bytes(base64.b64decode(keys[proposal.approver], validate=True))
    except ValueError:
        message = f"The public key of {proposal.approver!r} in policy_signers is not 32 bytes in base64."
        raise Unready(message, reason="policy_signers") from None
    try:
        public.verify(base64.b64decode(proposal.signature, validate=True), proposal.yaml.encode())
    except (InvalidSignature, ValueError):
        message = f"This is not a valid signature of {proposal.approver!r} for this text. Nothing was changed."
        raise Denied(message, reason="signature") from None
