"""The policy in force, as every call asks it; and two policies at once, during the transition from one to the next.

A transition has two phases. First the new policy is coming: records that it wants stricter become so, and what is
written gets the stricter class of both. Then it is in force and the old one is leaving: records that may be milder
become so. So no record is ever more open than the policy in force allows, and a caller sees only what both policies
let it see.
"""

import os
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tokonoma.core.call import Principal
from tokonoma.core.desk import CLASSIFICATIONS, Classification, Document, parse_address
from tokonoma.core.errors import Conflict, Denied, Refusal, Unavailable, Unready
from tokonoma.core.module import ToolInfo
from tokonoma.core.policy import AccessEffect, Decision, DocumentScan, Layer, PolicyView, ScreenedValue
from tokonoma.policy import rules as decisions
from tokonoma.policy.detections import Masker, Nature, WriteScreen, count_by_kind, format_mask, mask_text
from tokonoma.policy.rules import DEFAULT_RULES, PolicyRules, WriteAction, strictest

if TYPE_CHECKING:
    from tokonoma.policy.scan import Scanner

RECORDLESS_MODULES = frozenset({"system", "gateway"})
"""Modules that hold no records: they answer even if no policy can be read."""

REPAIR_TOOLS = frozenset(f"claims.policy.{name}" for name in ("apply", "get", "history", "rollback"))
"""By these the owner replaces a policy, also one that cannot be read."""

_VERDICTS = ("allow", "redact", "deny")  # from open to closed
_MAX_VIEWS = 10_000


class ActivePolicy:
    """`salt` makes the hashes of detections in the journal specific to this server."""

    def __init__(self, rules: PolicyRules = DEFAULT_RULES, number: int = 0, salt: bytes | None = None) -> None:
        self.rules, self.number = rules, number
        self._salt = os.urandom(16) if salt is None else salt
        self._views: dict[str, PolicyView] = {}
        self._hidden: dict[tuple[str, ...], frozenset[str]] = {}

    @property
    def version(self) -> str:
        return self.rules.version

    @cached_property
    def scanner(self) -> "Scanner":
        from tokonoma.policy.scan import Scanner, builtin_scanner

        return Scanner(self.rules.detectors) if self.rules.detectors else builtin_scanner()

    # What a caller may see

    def check_allowed(self, who: Principal, entry: ToolInfo) -> None:
        """Raise if no policy lets this caller use the tool at all."""

    def for_tool(self, who: Principal, entry: ToolInfo) -> "ActivePolicy":
        repairs = who.kind == "owner" and entry.path in REPAIR_TOOLS and bool(self.rules.detectors)
        return self._without_own_detectors if repairs else self

    @cached_property
    def _without_own_detectors(self) -> "ActivePolicy":
        return ActivePolicy(replace(self.rules, detectors=()), self.number, self._salt)

    def view_for(self, who: Principal) -> PolicyView:
        view = self._views.get(who.name)
        if view is None:
            view = self.view_for_tags(decisions.find_tags(self.rules, who))
            if len(self._views) > _MAX_VIEWS:
                self._views.clear()
            self._views[who.name] = view
        return view

    def view_for_tags(self, tags: tuple[str, ...]) -> PolicyView:
        verdicts = {each: decisions.decide(self.rules, tags, each).verdict for each in CLASSIFICATIONS}
        readable: list[Classification] = [each for each in CLASSIFICATIONS if verdicts[each] != "deny"]
        unmasked: list[Classification] = [each for each in readable if verdicts[each] == "allow"]
        return PolicyView(tags, tuple(readable), tuple(unmasked))

    def hidden_kinds(self, tags: tuple[str, ...]) -> frozenset[str]:
        """The kinds of detections that are masked for these tags."""
        kinds = self._hidden.get(tags)
        if kinds is None:
            kinds = self._hidden[tags] = decisions.find_hidden_kinds(self.rules, tags, self.scanner.natures.items())
        return kinds

    def masked_kinds(self, view: PolicyView) -> frozenset[str]:
        """The kinds of detections that are masked for a caller with this view."""
        return self.hidden_kinds(view.tags)

    def decide(
        self, tags: Collection[str], label: str, scope: Layer | None = None, effect: AccessEffect = "read"
    ) -> Decision:
        return decisions.decide(self.rules, tags, label, scope, effect)

    # Texts that come in and go out

    def screen_arguments(self, view: PolicyView, arguments: Mapping[str, Any], writes: bool = True) -> ScreenedValue:
        if not writes and self._is_clean(arguments):
            return ScreenedValue(arguments)
        actions: Mapping[Nature, WriteAction] = self.rules.writes
        if not writes:
            secret: WriteAction = "allow" if actions["secret"] == "allow" else "redact"  # noqa: S105
            actions = {"secret": secret, "pii": "allow"}
        screen = WriteScreen(self.scanner, actions, self._salt)
        value = screen.screen(arguments)
        refusal = self._find_refusal(view, screen) if writes else None
        return ScreenedValue(value if refusal is None else None, screen.detections, refusal)

    def _find_refusal(self, view: PolicyView, screen: WriteScreen) -> Refusal | None:
        if screen.refusals:
            kinds = sorted({kind for _, kind in screen.refusals})
            fields = sorted({field for field, _ in screen.refusals})
            return Denied(
                f"{', '.join(fields)} contains data that the policy does not allow to be stored: {', '.join(kinds)}. "
                "Remove it and try again. Nothing was stored.",
                reason="secret",
                kinds=kinds,
                fields=fields,
                policy_version=self.version,
            )
        masks = sorted(screen.masks & self.masked_kinds(view)) if view.is_partly_masked else []
        if not masks:
            return None
        return Conflict(
            f"The text contains masks ({', '.join(map(format_mask, masks))}), which replace data that this "
            "caller may not see. Storing them would destroy the original. "
            "Write only the parts that you know. Nothing was stored.",
            reason="masked",
            kinds=masks,
        )

    def _is_clean(self, arguments: Mapping[str, Any]) -> bool:
        """Whether arguments need no scan: they are plain values in which no detector can find anything."""
        clean = self.scanner.is_clean
        return all(
            clean(value) if isinstance(value, str) else isinstance(value, int | float | None)
            for value in arguments.values()
        )

    def screen_result(self, view: PolicyView, value: Any, hint: Any = None) -> ScreenedValue:
        masker = Masker(self.scanner, self.masked_kinds(view), self._salt)
        return ScreenedValue(masker.mask(value, hint), masker.detections)

    def screen_error(self, view: PolicyView, message: str, details: Mapping[str, Any]) -> ScreenedValue:
        masker = Masker(self.scanner, self.masked_kinds(view), self._salt, keeps_keys=True)
        return ScreenedValue((masker.mask(message), masker.mask(details)), masker.detections)

    def redact(self, text: str) -> tuple[str, dict[str, int], Classification]:
        """The text with every detection masked, for any caller; the count of each kind; the class that they mean."""
        found = self.scanner.scan(text)
        classes: list[Classification] = [decisions.classify_kind(self.rules, each.kind, each.nature) for each in found]
        return mask_text(text, found), count_by_kind(found), strictest("internal", *classes)

    # Classes of records

    def scan_document(self, document: Document) -> DocumentScan:
        facts = [each for key, value in document.facts for each in (key, value) if isinstance(each, str)]
        kinds = self._find_kinds((document.text, document.title, document.thread, document.namespace, *facts))
        module, path = parse_address(document.address)

        def classify(declared: Classification) -> Classification:
            return self._classify(module, document.namespace, path, declared, kinds)

        return DocumentScan(" ".join(kinds), self.scanner.version, classify)

    def reclassify(self, address: str, namespace: str, declared: Classification, kinds: str) -> Classification:
        """The class of a document that was scanned before."""
        module, path = parse_address(address)
        return self._classify(module, namespace, path, declared, kinds.split())

    def classify(self, label: Classification, module: str, space: str, texts: Collection[str]) -> Classification:
        return self._classify(module, space, "", label, self._find_kinds(texts))

    def _find_kinds(self, texts: Collection[str]) -> list[str]:
        return sorted({each.kind for text in texts for each in self.scanner.scan(text)})

    def _classify(
        self, module: str, namespace: str, path: str, declared: Classification, kinds: Collection[str]
    ) -> Classification:
        if not kinds and not self.rules.placements:
            return declared
        natures = [(kind, self.scanner.natures.get(kind, "secret")) for kind in kinds]
        return decisions.classify_record(self.rules, module, namespace, path, declared, natures)


class ClosedPolicy(ActivePolicy):
    """In force if no policy can be read: no record is readable, and nothing is stored. `problem` is why."""

    def __init__(self, problem: Refusal | None = None) -> None:
        super().__init__()
        self.problem = problem

    @property
    def version(self) -> str:
        return "none"

    def check_allowed(self, who: Principal, entry: ToolInfo) -> None:
        if entry.module in RECORDLESS_MODULES or (who.kind == "owner" and entry.path in REPAIR_TOOLS):
            return
        raise self.build_refusal()

    def build_refusal(self) -> Refusal:
        if isinstance(self.problem, Unavailable):  # the database is away: that is the answer, not that it is forbidden
            return type(self.problem)(self.problem.message, reason=self.problem.reason, **self.problem.details)
        return Unready(
            "The policy of this server cannot be read, so nothing is allowed. The owner can repair it at the terminal: "
            "`tokonoma doctor` says what is wrong.",
            reason="policy",
            policy_version=self.version,
        )

    def view_for_tags(self, tags: tuple[str, ...]) -> PolicyView:
        return PolicyView((), (), ())


class TransitionPolicy(ActivePolicy):
    """`other` is the coming policy or, unless `coming`, the leaving one."""

    def __init__(self, rules: PolicyRules, number: int, salt: bytes, other: ActivePolicy, *, coming: bool) -> None:
        super().__init__(rules, number, salt)
        self._other, self._coming = other, coming

    def view_for(self, who: Principal) -> PolicyView:
        mine, other = super().view_for(who), self._other.view_for(who)
        readable: list[Classification] = [each for each in mine.classifications if each in other.classifications]
        unmasked: list[Classification] = [each for each in mine.unmasked if each in other.unmasked]
        return PolicyView(mine.tags, tuple(readable), tuple(unmasked), other)

    def masked_kinds(self, view: PolicyView) -> frozenset[str]:
        return self.hidden_kinds(view.tags) | self._other.hidden_kinds((view.other_view or view).tags)

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
            new.kinds,
            new.detectors_version,
            lambda declared: strictest(mine.classify(declared), new.classify(declared)),
        )

    def classify(self, label: Classification, module: str, space: str, texts: Collection[str]) -> Classification:
        mine = super().classify(label, module, space, texts)
        return strictest(mine, self._other.classify(label, module, space, texts)) if self._coming else mine
