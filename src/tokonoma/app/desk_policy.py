"""The boundary that a desk offers: the policy in force as one caller meets it, and the way to another."""

import difflib
from collections.abc import Collection

from tokonoma.app.policy import CurrentPolicy
from tokonoma.app.reclassify_job import ReclassifyJob
from tokonoma.core.call import Call
from tokonoma.core.desk import Classification, Tx
from tokonoma.core.errors import Denied
from tokonoma.core.policy import (
    AccessEffect,
    Decision,
    Layer,
    LayerRule,
    PolicyPreview,
    PolicyProposal,
    PolicyVersion,
    ReclassifyProgress,
    RetrievalSettings,
)
from tokonoma.pipeline.desk import DeskTx
from tokonoma.policy.decide import find_tags_not_held

_DIFF_LINES = 200
_PATIENCE = 5.0  # seconds: half of what the tool may take


class CallDeskPolicy:
    def __init__(self, policing: CurrentPolicy, relabeller: ReclassifyJob, call: Call) -> None:
        self._current_policy, self._reclassify_job, self._call = policing, relabeller, call
        self._policy = policing.get_active()

    @property
    def version(self) -> str:
        return self._policy.version

    @property
    def tags(self) -> tuple[str, ...]:
        return self._call.granted_view.tags

    @property
    def retrieval(self) -> RetrievalSettings:
        return self._policy.rules.retrieval

    def layer_rule(self, layer: Layer) -> LayerRule:
        return self._policy.rules.layers[layer]

    def find_tags_not_held(self, tags: Collection[str]) -> list[str]:
        return find_tags_not_held(self.tags, tags)

    def decide(
        self, tags: Collection[str], label: str, scope: Layer | None = None, effect: AccessEffect = "read"
    ) -> Decision:
        return self._policy.decide(tags, label, scope, effect)

    def redact(self, text: str) -> tuple[str, dict[str, int], Classification]:
        return self._policy.redact(text)

    def check(self, yaml: str) -> str:
        from tokonoma.policy.parse import parse_policy

        return parse_policy(yaml).version

    def preview(self, proposal: PolicyProposal) -> PolicyPreview:
        version, policy, changes = self._current_policy.preview(proposal)
        before, after = (
            self._policy.view_for_tags(self.tags).classifications,
            policy.view_for(self._call.principal).classifications,
        )
        old, new = (text.splitlines() for text in (self._current_policy.current_version().yaml, proposal.yaml))
        diff = difflib.unified_diff(old, new, "in force", "proposed", lineterm="", n=1)
        return PolicyPreview(
            version,
            [line for line, _ in zip(diff, range(_DIFF_LINES), strict=False)],
            changes.records,
            {f"{old} → {new}": count for (old, new), count in sorted(changes.moves.items())},
            changes.count(lambda old, new: old not in before and new in after),
            changes.count(lambda old, new: old in before and new not in after),
        )

    def prepare(self) -> None:
        self._current_policy.prepare()

    def apply(self, tx: Tx, proposal: PolicyProposal) -> PolicyVersion:
        self._require_owner()
        assert isinstance(tx, DeskTx)
        return self._current_policy.apply(tx.statements, proposal, self._call.principal.name)

    def rollback(self, tx: Tx, version: str, expected: str | None) -> PolicyVersion:
        self._require_owner()
        assert isinstance(tx, DeskTx)
        return self._current_policy.rollback(tx.statements, version, expected, self._call.principal.name)

    def reclassify_records(self) -> ReclassifyProgress | None:
        self._reclassify_job.run_until_done(_PATIENCE)
        return self._current_policy.progress()

    def progress(self) -> ReclassifyProgress | None:
        return self._current_policy.progress()

    def current_version(self) -> PolicyVersion:
        return self._current_policy.current_version()

    def find_version(self, version: str) -> PolicyVersion:
        return self._current_policy.find_version(version)

    def list_versions(self, limit: int, before: int | None) -> list[PolicyVersion]:
        return self._current_policy.list_versions(limit, before)

    def _require_owner(self) -> None:
        if self._call.principal.kind != "owner":
            raise Denied("Only the owner of the server changes its policy.", reason="owner")
