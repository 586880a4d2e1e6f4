"""The policy, joined: which one is in force, what it makes of records, and how another takes its place.

What a process has found is remembered for a second: within that time a policy applied by another process is felt by
reads. A write asks inside its own transaction, so nothing is ever stored under a policy that is no longer in force.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

from tokonoma.core.boundary import PolicyVersion, Proposal
from tokonoma.core.desk import Document, Label, Record, Rows, Statements
from tokonoma.core.directory import parts_of
from tokonoma.core.errors import Refusal
from tokonoma.core.log import log
from tokonoma.core.module import Module
from tokonoma.core.policy import Policy
from tokonoma.policy import store
from tokonoma.policy.force import Closed, InForce
from tokonoma.policy.rules import Rules
from tokonoma.relabelling import Changes, foreseen, modules_of, names_of, relabel_all
from tokonoma.search.index import Index

_REMEMBERED = 1.0  # seconds
_RESTLESS = 30.0  # seconds; the longest that a policy may take to be applied


class Policing:
    """One a process. `module` gives a loaded module by its name, `record` what an address leads to; `signers` are those
    who may approve a policy, if it has to be signed."""

    def __init__(
        self,
        reading: Callable[[], AbstractContextManager[Rows]],
        index: Callable[[], Index],
        module: Callable[[str], Module],
        record: Callable[[Rows, str], Record | None],
        signers: Sequence[str] = (),
    ) -> None:
        self._reading, self._index, self._module, self._record = reading, index, module, record
        self._signers = signers
        self._current: InForce = Closed()
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
        found = store.held(statements)
        if found != self._current.number or isinstance(self._current, Closed):
            self._current = self._of(statements)
        return self._current

    def forget(self) -> None:
        """Look again with every call for a while: when what was applied will be committed is not known here."""
        self._until, self._restless = 0.0, time.monotonic() + _RESTLESS

    def _of(self, rows: Rows) -> InForce:
        head = store.head(rows)
        if head.number == self._current.number and not isinstance(self._current, Closed):
            return self._current
        return in_force(store.version(rows, head.number), head.salt)

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
        policy = InForce(rules, -1, b"")
        with self._reading() as rows:
            store.check_expected(store.version(rows, store.head(rows).number), proposal.expected)
            modules = modules_of(rows, self._module)
            return store.free(rows, rules.version), policy, foreseen(rows, policy, modules, self._record)

    def prepare(self) -> None:
        """Every module that has anything in the index is loaded, and its tables are as its code wants them: a policy
        comes into force in one transaction, and no other may begin inside it."""
        with self._reading() as rows:
            names = names_of(rows)
        for name in names:
            self._module(name)

    def apply(self, statements: Statements, proposal: Proposal, by: str) -> PolicyVersion:
        rules = self._checked(proposal)
        current = store.version(statements, store.locked(statements))
        store.check_expected(current, proposal.expected)
        kept = store.keep(statements, rules.version, proposal.yaml, by, proposal.approver)
        return self._enforced(statements, kept)

    def rollback(self, statements: Statements, version: str, expected: str | None, by: str) -> PolicyVersion:
        """The text of an earlier version, in force again under a version of its own."""
        current = store.version(statements, store.locked(statements))
        store.check_expected(current, expected)
        target = store.named(statements, version)
        kept = store.keep(statements, target.version, target.yaml, by, "", target.version)
        return self._enforced(statements, kept)

    def _enforced(self, statements: Statements, kept: PolicyVersion) -> PolicyVersion:
        policy = in_force(kept, store.head(statements).salt)
        modules = modules_of(statements, self._module)
        relabel_all(statements, policy, modules, self._record, self.relabel)
        self.forget()
        return kept

    def _checked(self, proposal: Proposal) -> Rules:
        from tokonoma.policy.read import parsed
        from tokonoma.policy.sign import check_signature

        rules = parsed(proposal.yaml)
        check_signature(self._signers, proposal)
        return rules

    # Records

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
            relabel = self._module(name).relabel
            if relabel is not None:
                relabel(statements, changed)


def in_force(kept: PolicyVersion, salt: bytes) -> InForce:
    """A stored policy, ready to be asked. Invalid where this program cannot read it: then nothing is allowed."""
    if kept.number == 0:
        return InForce(salt=salt)
    from tokonoma.policy.read import parsed  # YAML: only for who has a policy of their own

    return InForce(replace(parsed(kept.yaml), version=kept.version), kept.number, salt)
