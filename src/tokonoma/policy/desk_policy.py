"""The policy that a desk offers to tools: the one in force for one call, and the way to change it."""

import difflib
from collections.abc import Callable, Collection, Mapping
from itertools import islice
from typing import Any

from tokonoma.core import policy as api
from tokonoma.core.call import Call
from tokonoma.core.desk import Classification, Document, Statements, Tx, parse_address
from tokonoma.core.errors import Denied, Missing
from tokonoma.core.module import ToolInfo
from tokonoma.policy import versions as store
from tokonoma.policy.current import CurrentPolicy
from tokonoma.policy.rules import find_tags_not_held
from tokonoma.policy.screen_writes import screen_edit, screen_record

_DIFF_LINES = 200
_RECLASSIFY_SECONDS = 5.0  # half of the time limit of the tool


class CallDeskPolicy:
    """`reclassify` works on a transition for so many seconds; `unfiltered` gives the statements of a desk's
    transaction without the row filter."""

    def __init__(
        self,
        current: CurrentPolicy,
        reclassify: Callable[[float], object],
        unfiltered: Callable[[Tx], Statements],
        call: Call,
    ) -> None:
        self._current, self._reclassify, self._unfiltered, self._call = current, reclassify, unfiltered, call
        self._policy = current.get_active()
        self._policy.check_allowed(call.principal, call.chosen_tool)
        self.decide, self.redact = self._policy.decide, self._policy.redact
        self.masks_key = self._policy.masks_key
        self.prepare, self.progress, self.current_version = current.prepare, current.progress, current.current_version

    @property
    def version(self) -> str:
        return self._policy.version

    @property
    def state(self) -> str:
        return self._current.describe_state()

    @property
    def tags(self) -> tuple[str, ...]:
        return self._call.granted_view.tags

    @property
    def retrieval(self) -> api.RetrievalSettings:
        return self._policy.rules.retrieval

    def layer_rule(self, layer: api.Layer) -> api.LayerRule:
        return self._policy.rules.layers[layer]

    def find_tags_not_held(self, tags: Collection[str]) -> list[str]:
        return find_tags_not_held(self.tags, tags)

    def judge_tool(self, tool: ToolInfo) -> api.ToolVerdict:
        if self._call.caller.is_owner_at_work:
            return "allow"
        return self._policy.judge_tool(self._call.principal, tool, None)

    def classify_document(self, document: Document) -> Classification:
        return self._policy.scan_document(document).classify(document.classification)

    def mask_text(self, text: str, address: str, namespace: str) -> str:
        module, path = parse_address(address)
        return self._call.record_masks.mask_text(text, module, namespace, path)

    def find_hidden(self, text: str, address: str, namespace: str) -> list[tuple[int, int]]:
        module, path = parse_address(address)
        return self._call.record_masks.find_hidden(text, module, namespace, path)

    def screen_record(self, fields: Mapping[str, Any]) -> api.ScreenedRecord:
        return screen_record(self._policy, fields)

    def screen_edit(self, name: str, before: str, after: str) -> str:
        return screen_edit(self._policy, name, before, after)

    def check(self, yaml: str) -> str:
        return self._current.check(yaml).version

    def preview(self, proposal: api.PolicyProposal) -> api.PolicyPreview:
        version, policy, loosens, changes = self._current.preview(proposal)
        before = self._policy.view_for_tags(self.tags).classifications
        after = policy.view_for(self._call.principal).classifications
        texts = (self._read_current_text().splitlines(), proposal.yaml.splitlines())
        diff = difflib.unified_diff(*texts, "in force", "proposed", lineterm="", n=1)
        moves = {f"{old} → {new}": count for (old, new), count in sorted(changes.items()) if old != new}
        return api.PolicyPreview(
            version,
            list(islice(diff, _DIFF_LINES)),
            loosens,
            changes.total(),
            moves,
            appear=sum(count for (old, new), count in changes.items() if old not in before and new in after),
            vanish=sum(count for (old, new), count in changes.items() if old in before and new not in after),
        )

    def _read_current_text(self) -> str:
        try:
            return self.current_version().yaml
        except Missing:  # its row is lost: what would replace it can still be shown
            return ""

    def apply(self, tx: Tx, proposal: api.PolicyProposal) -> api.PolicyVersion | api.PendingPolicy:
        by, may_loosen = self._require_owner(), self._may_loosen()
        return self._current.apply(self._unfiltered(tx), proposal, by, may_loosen=may_loosen)

    def rollback(self, tx: Tx, version: str, expected: str | None) -> api.PolicyVersion | api.PendingPolicy:
        by, may_loosen = self._require_owner(), self._may_loosen()
        return self._current.rollback(self._unfiltered(tx), version, expected, by, may_loosen=may_loosen)

    def reclassify_records(self) -> api.ReclassifyProgress | None:
        self._reclassify(_RECLASSIFY_SECONDS)
        return self.progress()

    def find_version(self, version: str) -> api.PolicyVersion:
        with self._current.reading() as rows:
            return store.find_version(rows, version)

    def list_versions(self, limit: int, before: int | None) -> list[api.PolicyVersion]:
        with self._current.reading() as rows:
            return store.list_versions(rows, limit, before)

    def _require_owner(self) -> str:
        """The name of the caller; Denied unless it is the owner."""
        if self._call.principal.kind != "owner":
            raise Denied("Only the owner of the server can change its policy.", reason="owner")
        return self._call.principal.name

    def _may_loosen(self) -> bool:
        """Over MCP it is an agent that speaks, also where it speaks as the owner."""
        if self._call.caller.is_owner_at_work:
            return True
        if self._current.control.over_mcp == "none":
            raise Denied(
                "This server takes a policy only at the terminal (`tokonoma policy apply FILE`) or on its page."
                " Nothing was changed.",
                reason="owner",
            )
        return self._current.control.over_mcp == "all"
