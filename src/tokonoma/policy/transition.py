"""Two policies at once, while records follow from one to the other, in two steps.

First the new one is coming: whatever it wants to be stricter becomes so, and what is written gets the stricter class of
both. Then it is in force and the old one leaving: whatever may be milder becomes so. So no record is ever more open
than the policy in force wants it. What a caller sees is what both let it see: whatever a record's class is at that
moment, nothing is shown that neither of them would show.
"""

from collections.abc import Collection

from tokonoma.core.call import Principal
from tokonoma.core.desk import Classification, Document
from tokonoma.core.policy import AccessEffect, Decision, DocumentScan, Layer, PolicyView
from tokonoma.policy.active import ActivePolicy
from tokonoma.policy.rules import PolicyRules, strictest

_VERDICTS = ("allow", "redact", "deny")  # from open to closed


class TransitionPolicy(ActivePolicy):
    """`other` is the policy that is coming or, unless `coming`, the one that is leaving."""

    def __init__(self, rules: PolicyRules, number: int, salt: bytes, other: ActivePolicy, *, coming: bool) -> None:
        super().__init__(rules, number, salt)
        self._other, self._coming = other, coming

    def view_for(self, who: Principal) -> PolicyView:
        return _intersect_views(super().view_for(who), self._other.view_for(who))

    def masked_kinds(self, view: PolicyView) -> frozenset[str]:
        beside = view.other_view or view
        return self.hidden_kinds(view.tags) | self._other.hidden_kinds(beside.tags)

    def decide(
        self, tags: Collection[str], label: str, scope: Layer | None = None, effect: AccessEffect = "read"
    ) -> Decision:
        both = (super().decide(tags, label, scope, effect), self._other.decide(tags, label, scope, effect))
        return max(both, key=lambda each: _VERDICTS.index(each.verdict))

    def scan_document(self, document: Document) -> DocumentScan:
        mine = super().scan_document(document)
        if not self._coming:
            return mine
        new = self._other.scan_document(document)
        return DocumentScan(
            new.kinds, new.detectors_version, lambda said: strictest([mine.classify(said), new.classify(said)])
        )

    def classify(self, label: Classification, module: str, space: str, texts: Collection[str]) -> Classification:
        mine = super().classify(label, module, space, texts)
        return strictest([mine, self._other.classify(label, module, space, texts)]) if self._coming else mine


def _intersect_views(one: PolicyView, other: PolicyView) -> PolicyView:
    labels: list[Classification] = [label for label in one.classifications if label in other.classifications]
    plain: list[Classification] = [label for label in one.unmasked if label in other.unmasked]
    return PolicyView(one.tags, tuple(labels), tuple(plain), other)
