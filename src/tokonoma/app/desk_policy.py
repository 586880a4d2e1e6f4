"""The boundary that a desk offers: the policy in force as one caller meets it, and the way to another."""

import difflib
from collections.abc import Collection

from tokonoma.app.policy import Policing
from tokonoma.app.reclassify_job import Relabeller
from tokonoma.core.call import Call
from tokonoma.core.desk import Label, Tx
from tokonoma.core.errors import Denied
from tokonoma.core.policy_api import (
    Decision,
    Effect,
    Foreseen,
    Layer,
    LayerRule,
    PolicyVersion,
    Progress,
    Proposal,
    Retrieval,
)
from tokonoma.pipeline.desk import DeskTx
from tokonoma.policy.decide import within

_DIFF_LINES = 200
_PATIENCE = 5.0  # seconds: half of what the tool may take


class DeskBoundary:
    def __init__(self, policing: Policing, relabeller: Relabeller, call: Call) -> None:
        self._policing, self._relabeller, self._call = policing, relabeller, call
        self._policy = policing.current()

    @property
    def version(self) -> str:
        return self._policy.version

    @property
    def tags(self) -> tuple[str, ...]:
        return self._call.seen.tags

    @property
    def retrieval(self) -> Retrieval:
        return self._policy.rules.retrieval

    def layer(self, layer: Layer) -> LayerRule:
        return self._policy.rules.layers[layer]

    def beyond(self, tags: Collection[str]) -> list[str]:
        return within(self.tags, tags)

    def decide(
        self, tags: Collection[str], label: str, scope: Layer | None = None, effect: Effect = "read"
    ) -> Decision:
        return self._policy.decide(tags, label, scope, effect)

    def redacted(self, text: str) -> tuple[str, dict[str, int], Label]:
        return self._policy.redacted(text)

    def check(self, yaml: str) -> str:
        from tokonoma.policy.parse import parsed

        return parsed(yaml).version

    def foreseen(self, proposal: Proposal) -> Foreseen:
        version, policy, changes = self._policing.foreseen(proposal)
        before, after = self._policy.view_of(self.tags).labels, policy.view(self._call.who).labels
        old, new = (text.splitlines() for text in (self._policing.kept().yaml, proposal.yaml))
        diff = difflib.unified_diff(old, new, "in force", "proposed", lineterm="", n=1)
        return Foreseen(
            version,
            [line for line, _ in zip(diff, range(_DIFF_LINES), strict=False)],
            changes.records,
            {f"{old} → {new}": count for (old, new), count in sorted(changes.moves.items())},
            changes.counted(lambda old, new: old not in before and new in after),
            changes.counted(lambda old, new: old in before and new not in after),
        )

    def prepare(self) -> None:
        self._policing.prepare()

    def apply(self, tx: Tx, proposal: Proposal) -> PolicyVersion:
        self._owner()
        assert isinstance(tx, DeskTx)
        return self._policing.apply(tx.statements, proposal, self._call.who.name)

    def rollback(self, tx: Tx, version: str, expected: str | None) -> PolicyVersion:
        self._owner()
        assert isinstance(tx, DeskTx)
        return self._policing.rollback(tx.statements, version, expected, self._call.who.name)

    def settle(self) -> Progress | None:
        self._relabeller.settle(_PATIENCE)
        return self._policing.progress()

    def progress(self) -> Progress | None:
        return self._policing.progress()

    def current(self) -> PolicyVersion:
        return self._policing.kept()

    def named(self, version: str) -> PolicyVersion:
        return self._policing.named(version)

    def history(self, limit: int, before: int | None) -> list[PolicyVersion]:
        return self._policing.history(limit, before)

    def _owner(self) -> None:
        if self._call.who.kind != "owner":
            raise Denied("Only the owner of the server changes its policy.", reason="owner")
