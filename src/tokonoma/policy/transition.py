"""Two policies at once, during the transition from one to the next.

First the new policy is coming: records that it wants stricter become so, and what is written gets the stricter class of
both. Then it is in force and the old one is leaving: records that may be milder become so. So no record is ever more
open than the policy in force allows, and a caller sees only what both policies let it see.
"""

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from tokonoma.core.call import Principal
from tokonoma.core.desk import Classification, Document
from tokonoma.core.module import ToolInfo
from tokonoma.core.policy import (
    TOOL_VERDICTS,
    AccessEffect,
    Decision,
    DocumentScan,
    Layer,
    PolicyView,
    ToolVerdict,
)
from tokonoma.policy.active import ActivePolicy
from tokonoma.policy.rules import PolicyRules, strictest

if TYPE_CHECKING:
    from tokonoma.policy.scan import Scanner

_VERDICTS = ("allow", "redact", "deny")  # from open to closed


class TransitionPolicy(ActivePolicy):
    """`other` is the coming policy or, unless `coming`, the leaving one."""

    def __init__(self, rules: PolicyRules, number: int, salt: bytes, other: ActivePolicy, *, coming: bool) -> None:
        super().__init__(rules, number, salt)
        self._mine, self._other, self._coming = ActivePolicy(rules, number, salt), other, coming
        self.judges_tools = self._mine.judges_tools or other.judges_tools

    @cached_property
    def scanner(self) -> "Scanner":
        """Finds what either policy finds."""
        from tokonoma.policy.scan import Scanner

        return Scanner(tuple(dict.fromkeys((*self.rules.detectors, *self._other.rules.detectors))))

    def view_for(self, who: Principal) -> PolicyView:
        mine, other = super().view_for(who), self._other.view_for(who)
        readable: list[Classification] = [each for each in mine.classifications if each in other.classifications]
        return PolicyView(mine.tags, tuple(readable), other)

    def judge_tool(self, who: Principal, tool: ToolInfo, account: Callable[[], str] | None) -> ToolVerdict:
        verdicts = (self._mine.judge_tool(who, tool, account), self._other.judge_tool(who, tool, account))
        return max(verdicts, key=TOOL_VERDICTS.index)

    def hidden_at(self, view: PolicyView, module: str, namespace: str | None, path: str | None) -> frozenset[str]:
        other = self._other.hidden_at(view.other_view or view, module, namespace, path)
        return super().hidden_at(view, module, namespace, path) | other

    def hidden_in(self, view: PolicyView, module: str) -> frozenset[str]:
        return super().hidden_in(view, module) | self._other.hidden_in(view.other_view or view, module)

    def hidden_anywhere(self, view: PolicyView) -> frozenset[str]:
        return super().hidden_anywhere(view) | self._other.hidden_anywhere(view.other_view or view)

    def hidden_from_any(self, module: str, namespace: str, path: str) -> frozenset[str]:
        return super().hidden_from_any(module, namespace, path) | self._other.hidden_from_any(module, namespace, path)

    @property
    def masks_key(self) -> str:
        keys = dict.fromkeys((self._mine.masks_key, self._other.masks_key))
        return "+".join(keys)

    def sees_private(self, view: PolicyView) -> bool:
        return super().sees_private(view) and self._other.sees_private(view.other_view or view)

    def masks_records(self, view: PolicyView, module: str) -> bool:
        return super().masks_records(view, module) or self._other.masks_records(view.other_view or view, module)

    def decide(
        self, tags: Collection[str], label: str, scope: Layer | None = None, effect: AccessEffect = "read"
    ) -> Decision:
        both = (super().decide(tags, label, scope, effect), self._other.decide(tags, label, scope, effect))
        return max(both, key=lambda each: _VERDICTS.index(each.verdict))

    def scan_document(self, document: Document) -> DocumentScan:
        """The index stores what the newer policy finds, and holds what neither of them hides."""
        mine = self._mine.scan_document(document)
        new = self._other.scan_document(document) if self._coming else mine

        def classify(declared: Classification) -> Classification:
            return strictest(mine.classify(declared), new.classify(declared))

        scan, version = super().scan_document(document), new.detectors_version
        return replace(scan, kinds=new.kinds, detectors_version=version, classify=classify)

    def classify(self, label: Classification, module: str, space: str, texts: Collection[str]) -> Classification:
        mine = self._mine.classify(label, module, space, texts)
        return strictest(mine, self._other.classify(label, module, space, texts)) if self._coming else mine
