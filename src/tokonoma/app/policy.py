"""The policy, joined: which one is in force, what it makes of records, and how another takes its place.

What a process has found is remembered for a second: within that time a policy applied by another process is felt by
reads. A write asks inside its own transaction, so nothing is ever stored under a policy that is no longer in force.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

from tokonoma.app.reclassify import BATCH_SIZE, ClassificationChanges, preview_changes, reclassify_batch
from tokonoma.core.addresses import parse_address
from tokonoma.core.desk import Classification, Document, Record, Rows, Statements
from tokonoma.core.errors import Refusal
from tokonoma.core.log import log
from tokonoma.core.module import Module
from tokonoma.core.policy import Policy
from tokonoma.core.policy_api import PolicyProposal, PolicyVersion, ReclassifyProgress
from tokonoma.policy import versions as store
from tokonoma.policy.active import ActivePolicy, ClosedPolicy
from tokonoma.policy.rules import PolicyRules
from tokonoma.policy.transition import TransitionPolicy
from tokonoma.policy.versions import PolicyHead
from tokonoma.search.index import SearchIndex

_REMEMBERED = 1.0  # seconds
_RESTLESS = 30.0  # seconds; the longest that a policy may take to be applied


class CurrentPolicy:
    """One a process. `module` gives a module by its name, `modules` all of them; `record` what an address leads to;
    `follow` is told that records have to follow a policy; `signers` are those who may approve one, if it has to be
    signed."""

    def __init__(
        self,
        reading: Callable[[], AbstractContextManager[Rows]],
        index: Callable[[], SearchIndex],
        module: Callable[[str], Module | None],
        modules: Callable[[], Sequence[Module]],
        record: Callable[[Rows, str], Record | None],
        follow: Callable[[], None],
        signers: Sequence[str] = (),
    ) -> None:
        self._reading, self._index, self._record = reading, index, record
        self._module, self._modules, self._wake_reclassify, self._signers = module, modules, follow, signers
        self._current: ActivePolicy = ClosedPolicy()
        self._head: PolicyHead | None = None
        self._cached_until = self._uncached_until = 0.0

    def get_version(self) -> str:
        return self.get_active().version

    def get_active(self) -> ActivePolicy:
        """The policy in force; one that allows nothing, where none can be read."""
        if time.monotonic() >= self._cached_until:
            try:
                with self._reading() as rows:
                    self._current = self._load(rows)
            except Refusal as error:
                if not isinstance(self._current, ClosedPolicy):
                    self._current = ClosedPolicy()
                log("error", "policy", reason=error.reason or error.kind)
            at = time.monotonic()
            self._cached_until = at + _REMEMBERED if at >= self._uncached_until else 0.0
        return self._current

    def lock_active(self, statements: Statements) -> ActivePolicy:
        """The policy that a transaction is bound by: nobody puts another in force before it ends."""
        return self._build(statements, store.lock_head_shared(statements))

    def invalidate(self) -> None:
        """Look again with every call for a while: when what was applied will be committed is not known here."""
        self._cached_until, self._uncached_until = 0.0, time.monotonic() + _RESTLESS

    def _load(self, rows: Rows) -> ActivePolicy:
        head = store.read_head(rows)
        if head.coming is not None or head.leaving is not None:
            self._wake_reclassify()
        return self._build(rows, head)

    def _build(self, rows: Rows, head: PolicyHead) -> ActivePolicy:
        """The policy, or both where records are on their way from one to another."""
        if head == self._head and not isinstance(self._current, ClosedPolicy):
            return self._current
        made = build_policy(store.read_version(rows, head.number), head.salt)
        beside = head.leaving if head.coming is None else head.coming
        if beside is not None:
            other = build_policy(store.read_version(rows, beside), head.salt)
            made = TransitionPolicy(made.rules, head.number, head.salt, other, coming=head.coming is not None)
        self._current, self._head = made, head
        return made

    # Versions

    def current_version(self) -> PolicyVersion:
        """The text of the policy in force."""
        with self._reading() as rows:
            return store.read_version(rows, store.read_head(rows).number)

    def list_versions(self, limit: int, before: int | None) -> list[PolicyVersion]:
        with self._reading() as rows:
            return store.list_versions(rows, limit, before)

    def find_version(self, version: str) -> PolicyVersion:
        with self._reading() as rows:
            return store.find_version(rows, version)

    def preview(self, proposal: PolicyProposal) -> tuple[str, ActivePolicy, ClassificationChanges]:
        """The version that it would get, the policy, and what it would change."""
        rules = self._parse_proposal(proposal)
        policy, modules = ActivePolicy(rules, -1, b""), self._modules()
        with self._reading() as rows:
            store.check_expected(store.read_version(rows, store.read_head(rows).newest), proposal.expected_version)
            changes = preview_changes(rows, policy, modules, self._record)
            return store.next_free_version(rows, rules.version), policy, changes

    def apply(self, statements: Statements, proposal: PolicyProposal, by: str) -> PolicyVersion:
        """Accepted: it is coming. `step` leads the records to it."""
        rules = self._parse_proposal(proposal)
        current = store.read_version(statements, store.lock_head(statements).newest)
        store.check_expected(current, proposal.expected_version)
        self.invalidate()
        return store.save_version(statements, rules.version, proposal.yaml, by, proposal.approver)

    def rollback(self, statements: Statements, version: str, expected: str | None, by: str) -> PolicyVersion:
        """The text of an earlier version, in force again under a version of its own."""
        current = store.read_version(statements, store.lock_head(statements).newest)
        store.check_expected(current, expected)
        target = store.find_version(statements, version)
        self.invalidate()
        return store.save_version(statements, target.version, target.yaml, by, "", target.version)

    def _parse_proposal(self, proposal: PolicyProposal) -> PolicyRules:
        from tokonoma.policy.parse import parse_policy
        from tokonoma.policy.signature import check_signature

        rules = parse_policy(proposal.yaml)
        check_signature(self._signers, proposal)
        return rules

    # Records that follow

    def prepare(self) -> None:
        """Every module is loaded, and its tables are as its code wants them: no transaction that does so may begin
        inside one that leads records to a policy."""
        self._modules()

    def is_activating(self, rows: Rows) -> bool:
        """Whether the next step puts the policy in force."""
        walk = store.read_state(rows)
        return walk is not None and walk.phase == "turn"

    def step(self, statements: Statements, most: int = BATCH_SIZE) -> bool:
        """A piece of the way to the newest policy, in a transaction of its own. False: every record is there."""
        walk = store.lock_state(statements)
        if walk is None:
            return False
        if walk.phase == "turn":
            store.activate_coming(statements)
            self.invalidate()
            return True
        if walk.stage:
            store.lock_head(statements)  # what the index does not hold has no row there that keeps writers off
        head, modules = store.read_head(statements), self._modules()
        policy = build_policy(store.read_version(statements, head.newest), head.salt)
        after = reclassify_batch(statements, walk, policy, modules, self._record, self.apply_classifications, most)
        if after is not None:
            store.save_state(statements, after)
        elif walk.phase == "tighten":
            store.save_state(statements, store.ReclassifyState("turn", done=walk.done))
        else:
            store.finish_transition(statements)
            self.invalidate()
        return True

    def progress(self) -> ReclassifyProgress | None:
        """How far the records are; None where they have arrived."""
        with self._reading() as rows:
            walk, head = store.read_state(rows), store.read_head(rows)
            if walk is None:
                return None
            total = rows.row("select count(*) from document")
            newest = store.read_version(rows, head.newest)
        assert total is not None
        return ReclassifyProgress(newest.version, walk.phase == "loosen", walk.done, max(walk.done, total[0]))

    def put_document(self, statements: Statements, document: Document, policy: Policy) -> Classification:
        """Into the index, with its class; the module's own row follows where the policy is stricter than its writer."""
        label = self._index().put(statements, document, policy.scan_document(document))
        if label != document.classification:
            self.apply_classifications(statements, {document.address: label})
        return label

    def apply_classifications(self, statements: Statements, labels: Mapping[str, Classification]) -> None:
        by_module: dict[str, dict[str, Classification]] = {}
        for address, label in labels.items():
            by_module.setdefault(parse_address(address)[0], {})[address] = label
        for name, changed in by_module.items():
            module = self._module(name)  # None: of a plugin that is no longer there
            if module is not None and module.reclassify is not None:
                module.reclassify(statements, changed)


def build_policy(kept: PolicyVersion, salt: bytes) -> ActivePolicy:
    """A stored policy, ready to be asked. Invalid where this program cannot read it: then nothing is allowed."""
    if kept.number == 0:
        return ActivePolicy(salt=salt)
    from tokonoma.policy.parse import parse_policy  # YAML: only for who has a policy of their own

    return ActivePolicy(replace(parse_policy(kept.yaml), version=kept.version), kept.number, salt)


def format_progress(progress: ReclassifyProgress) -> str:
    """How far the records are, for people."""
    count = f"{progress.done} of about {progress.total} records looked at"
    if progress.in_force:
        return f"{progress.version} is in force; what may be milder becomes so, {count}"
    return f"{progress.version} is coming: what must be stricter becomes so first, {count}"
