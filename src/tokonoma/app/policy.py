"""The policy, joined: which one is in force, what it makes of records, and how another takes its place.

What a process has found is remembered for a second: within that time a policy applied by another process is felt by
reads. A write asks inside its own transaction, so nothing is ever stored under a policy that is no longer in force.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

from tokonoma.app.reclassify import PIECE, Changes, foreseen, piece
from tokonoma.core.addresses import parts_of
from tokonoma.core.desk import Document, Label, Record, Rows, Statements
from tokonoma.core.errors import Refusal
from tokonoma.core.log import log
from tokonoma.core.module import Module
from tokonoma.core.policy import Policy
from tokonoma.core.policy_api import PolicyVersion, Progress, Proposal
from tokonoma.policy import versions as store
from tokonoma.policy.active import Closed, InForce
from tokonoma.policy.rules import Rules
from tokonoma.policy.transition import Passing
from tokonoma.policy.versions import Head
from tokonoma.search.index import Index

_REMEMBERED = 1.0  # seconds
_RESTLESS = 30.0  # seconds; the longest that a policy may take to be applied


class Policing:
    """One a process. `module` gives a module by its name, `modules` all of them; `record` what an address leads to;
    `follow` is told that records have to follow a policy; `signers` are those who may approve one, if it has to be
    signed."""

    def __init__(
        self,
        reading: Callable[[], AbstractContextManager[Rows]],
        index: Callable[[], Index],
        module: Callable[[str], Module | None],
        modules: Callable[[], Sequence[Module]],
        record: Callable[[Rows, str], Record | None],
        follow: Callable[[], None],
        signers: Sequence[str] = (),
    ) -> None:
        self._reading, self._index, self._record = reading, index, record
        self._module, self._modules, self._follow, self._signers = module, modules, follow, signers
        self._current: InForce = Closed()
        self._head: Head | None = None
        self._until = self._restless = 0.0

    def current(self) -> InForce:
        """The policy in force; one that allows nothing, where none can be read."""
        if time.monotonic() >= self._until:
            try:
                with self._reading() as rows:
                    self._current = self._of(rows)
            except Refusal as error:
                if not isinstance(self._current, Closed):
                    self._current = Closed()
                log("error", "policy", reason=error.reason or error.word)
            at = time.monotonic()
            self._until = at + _REMEMBERED if at >= self._restless else 0.0
        return self._current

    def fresh(self, statements: Statements) -> InForce:
        """The policy that a transaction is bound by: nobody puts another in force before it ends."""
        return self._made(statements, store.held(statements))

    def forget(self) -> None:
        """Look again with every call for a while: when what was applied will be committed is not known here."""
        self._until, self._restless = 0.0, time.monotonic() + _RESTLESS

    def _of(self, rows: Rows) -> InForce:
        head = store.head(rows)
        if head.coming is not None or head.leaving is not None:
            self._follow()
        return self._made(rows, head)

    def _made(self, rows: Rows, head: Head) -> InForce:
        """The policy, or both where records are on their way from one to another."""
        if head == self._head and not isinstance(self._current, Closed):
            return self._current
        made = in_force(store.version(rows, head.number), head.salt)
        beside = head.leaving if head.coming is None else head.coming
        if beside is not None:
            other = in_force(store.version(rows, beside), head.salt)
            made = Passing(made.rules, head.number, head.salt, other, coming=head.coming is not None)
        self._current, self._head = made, head
        return made

    # Versions

    def kept(self) -> PolicyVersion:
        """The text of the policy in force."""
        with self._reading() as rows:
            return store.version(rows, store.head(rows).number)

    def history(self, limit: int, before: int | None) -> list[PolicyVersion]:
        with self._reading() as rows:
            return store.history(rows, limit, before)

    def named(self, version: str) -> PolicyVersion:
        with self._reading() as rows:
            return store.named(rows, version)

    def foreseen(self, proposal: Proposal) -> tuple[str, InForce, Changes]:
        """The version that it would get, the policy, and what it would change."""
        rules = self._checked(proposal)
        policy, modules = InForce(rules, -1, b""), self._modules()
        with self._reading() as rows:
            store.check_expected(store.version(rows, store.head(rows).newest), proposal.expected)
            changes = foreseen(rows, policy, modules, self._record)
            return store.free(rows, rules.version), policy, changes

    def apply(self, statements: Statements, proposal: Proposal, by: str) -> PolicyVersion:
        """Accepted: it is coming. `step` leads the records to it."""
        rules = self._checked(proposal)
        current = store.version(statements, store.locked(statements).newest)
        store.check_expected(current, proposal.expected)
        self.forget()
        return store.keep(statements, rules.version, proposal.yaml, by, proposal.approver)

    def rollback(self, statements: Statements, version: str, expected: str | None, by: str) -> PolicyVersion:
        """The text of an earlier version, in force again under a version of its own."""
        current = store.version(statements, store.locked(statements).newest)
        store.check_expected(current, expected)
        target = store.named(statements, version)
        self.forget()
        return store.keep(statements, target.version, target.yaml, by, "", target.version)

    def _checked(self, proposal: Proposal) -> Rules:
        from tokonoma.policy.parse import parsed
        from tokonoma.policy.signature import check_signature

        rules = parsed(proposal.yaml)
        check_signature(self._signers, proposal)
        return rules

    # Records that follow

    def prepare(self) -> None:
        """Every module is loaded, and its tables are as its code wants them: no transaction that does so may begin
        inside one that leads records to a policy."""
        self._modules()

    def turning(self, rows: Rows) -> bool:
        """Whether the next step puts the policy in force."""
        walk = store.walk(rows)
        return walk is not None and walk.phase == "turn"

    def step(self, statements: Statements, most: int = PIECE) -> bool:
        """A piece of the way to the newest policy, in a transaction of its own. False: every record is there."""
        walk = store.walking(statements)
        if walk is None:
            return False
        if walk.phase == "turn":
            store.turn(statements)
            self.forget()
            return True
        if walk.stage:
            store.locked(statements)  # what the index does not hold has no row there that keeps writers off
        head, modules = store.head(statements), self._modules()
        policy = in_force(store.version(statements, head.newest), head.salt)
        after = piece(statements, walk, policy, modules, self._record, self.relabel, most)
        if after is not None:
            store.follow(statements, after)
        elif walk.phase == "tighten":
            store.follow(statements, store.Walk("turn", done=walk.done))
        else:
            store.arrived(statements)
            self.forget()
        return True

    def progress(self) -> Progress | None:
        """How far the records are; None where they have arrived."""
        with self._reading() as rows:
            walk, head = store.walk(rows), store.head(rows)
            if walk is None:
                return None
            total = rows.row("select count(*) from document")
            newest = store.version(rows, head.newest)
        assert total is not None
        return Progress(newest.version, walk.phase == "loosen", walk.done, max(walk.done, total[0]))

    def put(self, statements: Statements, document: Document, policy: Policy) -> Label:
        """Into the index, with its class; the module's own row follows where the policy is stricter than its writer."""
        label = self._index().put(statements, document, policy.mark(document))
        if label != document.label:
            self.relabel(statements, {document.address: label})
        return label

    def relabel(self, statements: Statements, labels: Mapping[str, Label]) -> None:
        by_module: dict[str, dict[str, Label]] = {}
        for address, label in labels.items():
            by_module.setdefault(parts_of(address)[0], {})[address] = label
        for name, changed in by_module.items():
            module = self._module(name)  # None: of a plugin that is no longer there
            if module is not None and module.relabel is not None:
                module.relabel(statements, changed)


def in_force(kept: PolicyVersion, salt: bytes) -> InForce:
    """A stored policy, ready to be asked. Invalid where this program cannot read it: then nothing is allowed."""
    if kept.number == 0:
        return InForce(salt=salt)
    from tokonoma.policy.parse import parsed  # YAML: only for who has a policy of their own

    return InForce(replace(parsed(kept.yaml), version=kept.version), kept.number, salt)


def told_progress(progress: Progress) -> str:
    """How far the records are, for people."""
    count = f"{progress.done} of about {progress.total} records looked at"
    if progress.in_force:
        return f"{progress.version} is in force; what may be milder becomes so, {count}"
    return f"{progress.version} is coming: what must be stricter becomes so first, {count}"
