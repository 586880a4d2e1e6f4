"""Two policies at once, while records follow from one to the other, in two steps.

First the new one is coming: whatever it wants to be stricter becomes so, and what is written gets the stricter class of
both. Then it is in force and the old one leaving: whatever may be milder becomes so. So no record is ever more open
than the policy in force wants it. What a caller sees is what both let it see: whatever a record's class is at that
moment, nothing is shown that neither of them would show.
"""

from collections.abc import Collection

from tokonoma.core.call import Principal
from tokonoma.core.desk import Document, Label
from tokonoma.core.policy import Mark, View
from tokonoma.core.policy_api import Decision, Effect, Layer
from tokonoma.policy.active import InForce
from tokonoma.policy.rules import Rules, strictest

_VERDICTS = ("allow", "redact", "deny")  # from open to closed


class Passing(InForce):
    """`other` is the policy that is coming or, unless `coming`, the one that is leaving."""

    def __init__(self, rules: Rules, number: int, salt: bytes, other: InForce, *, coming: bool) -> None:
        super().__init__(rules, number, salt)
        self._other, self._coming = other, coming

    def view(self, who: Principal) -> View:
        return _both(super().view(who), self._other.view(who))

    def masked(self, view: View) -> frozenset[str]:
        beside = view.beside or view
        return self.hidden(view.tags) | self._other.hidden(beside.tags)

    def decide(
        self, tags: Collection[str], label: str, scope: Layer | None = None, effect: Effect = "read"
    ) -> Decision:
        both = (super().decide(tags, label, scope, effect), self._other.decide(tags, label, scope, effect))
        return max(both, key=lambda each: _VERDICTS.index(each.verdict))

    def mark(self, document: Document) -> Mark:
        mine = super().mark(document)
        if not self._coming:
            return mine
        new = self._other.mark(document)
        return Mark(new.kinds, new.detectors, lambda said: strictest([mine.label(said), new.label(said)]))

    def label(self, label: Label, module: str, space: str, texts: Collection[str]) -> Label:
        mine = super().label(label, module, space, texts)
        return strictest([mine, self._other.label(label, module, space, texts)]) if self._coming else mine


def _both(one: View, other: View) -> View:
    labels: list[Label] = [label for label in one.labels if label in other.labels]
    plain: list[Label] = [label for label in one.plain if label in other.plain]
    return View(one.tags, tuple(labels), tuple(plain), other)
