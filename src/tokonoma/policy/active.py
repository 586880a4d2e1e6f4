"""A policy in force: the rules, asked by the guard and the desk for every call. It keeps only what it derives."""

import os
from collections.abc import Collection, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tokonoma.core.call import Principal
from tokonoma.core.desk import CLASSIFICATIONS, Classification, Document, parse_address
from tokonoma.core.errors import Conflict, Denied, Refusal
from tokonoma.core.module import ToolInfo
from tokonoma.core.policy import AccessEffect, Decision, DocumentScan, Layer, PolicyView, ScreenedValue
from tokonoma.policy.decide import classify_kind, classify_record, decide, find_hidden_kinds, find_tags
from tokonoma.policy.rules import DEFAULT_RULES, PolicyRules, WriteRules, strictest

if TYPE_CHECKING:
    from tokonoma.policy.scan import Scanner

RECORDLESS_MODULES = frozenset({"system", "gateway"})
"""Modules that hold no records: they answer even where no policy can be read."""


class ActivePolicy:
    """`salt` makes the journal's hashes of finds this house's own."""

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
        from tokonoma.policy.detector import Detector
        from tokonoma.policy.scan import Scanner, builtin_scanner

        custom = [Detector(each.kind, each.nature, each.pattern) for each in self.rules.detectors]
        return Scanner(custom) if custom else builtin_scanner()

    # Who sees what

    def allows(self, who: Principal, entry: ToolInfo) -> bool:
        del who, entry
        return True

    def view_for(self, who: Principal) -> PolicyView:
        found = self._views.get(who.name)
        if found is None:
            found = self.view_for_tags(find_tags(self.rules, who))
            if len(self._views) > 10_000:
                self._views.clear()
            self._views[who.name] = found
        return found

    def view_for_tags(self, tags: tuple[str, ...]) -> PolicyView:
        verdicts = {label: decide(self.rules, tags, label).verdict for label in CLASSIFICATIONS}
        seen: list[Classification] = [label for label in CLASSIFICATIONS if verdicts[label] != "deny"]
        plain: list[Classification] = [label for label in seen if verdicts[label] == "allow"]
        return PolicyView(tags, tuple(seen), tuple(plain))

    def hidden_kinds(self, tags: tuple[str, ...]) -> frozenset[str]:
        """The kinds of finds that are masked for these tags."""
        found = self._hidden.get(tags)
        if found is None:
            found = find_hidden_kinds(self.rules, tags, self.scanner.natures.items())
            self._hidden[tags] = found
        return found

    def masked_kinds(self, view: PolicyView) -> frozenset[str]:
        """The kinds of finds that are masked for whoever has this view."""
        return self.hidden_kinds(view.tags)

    def decide(
        self, tags: Collection[str], label: str, scope: Layer | None = None, effect: AccessEffect = "read"
    ) -> Decision:
        return decide(self.rules, tags, label, scope, effect)

    # Texts on their way

    def screen_arguments(self, view: PolicyView, arguments: Mapping[str, Any], writes: bool = True) -> ScreenedValue:
        if not writes and self._is_clean(arguments):
            return ScreenedValue(arguments)
        from tokonoma.policy.screen_writes import WriteScreen

        rule = self.rules.writes
        asking = WriteRules("allow" if rule.secret == "allow" else "redact", "allow")  # noqa: S105 - words of the policy
        screen = WriteScreen(self.scanner, rule if writes else asking, self._salt)
        value = screen.screen(arguments)
        if not writes:
            return ScreenedValue(value, screen.detections)
        if screen.refusals:
            kinds = sorted({kind for _, kind in screen.refusals})
            fields = sorted({field for field, _ in screen.refusals})
            refusal: Refusal = Denied(
                f"{', '.join(fields)} holds what the policy does not let be stored: {', '.join(kinds)}. "
                "Take it out and try again. Nothing was stored.",
                reason="secret",
                kinds=kinds,
                fields=fields,
                policy_version=self.version,
            )
            return ScreenedValue(None, screen.detections, refusal)
        hidden = self.masked_kinds(view) if view.is_partly_masked else frozenset[str]()
        masks = sorted(screen.masks & hidden)
        if masks:
            told = ", ".join(f"[{kind}]" for kind in masks)
            refusal = Conflict(
                f"The text holds masks ({told}), which stand for what this caller cannot see: writing them would "
                "destroy the original. Write only the parts that you know. Nothing was stored.",
                reason="masked",
                kinds=masks,
            )
            return ScreenedValue(None, screen.detections, refusal)
        return ScreenedValue(value, screen.detections)

    def _is_clean(self, arguments: Mapping[str, Any]) -> bool:
        """Whether a question needs no closer look: it is made of plain values in which nothing can be found."""
        clean = self.scanner.is_clean
        return all(
            clean(value) if isinstance(value, str) else isinstance(value, int | float | None)
            for value in arguments.values()
        )

    def screen_result(self, view: PolicyView, value: Any, hint: Any = None) -> ScreenedValue:
        from tokonoma.policy.mask import Masker

        veil = Masker(self.scanner, self.masked_kinds(view), self._salt)
        return ScreenedValue(veil.mask(value, hint), veil.detections)

    def redact(self, text: str) -> tuple[str, dict[str, int], Classification]:
        """Every find masked, whoever asks; how many there were of each kind; the class that they mean."""
        from tokonoma.policy.detections import count_by_kind, mask_text

        finds = self.scanner.scan(text)
        labels: list[Classification] = [
            "internal",
            *(classify_kind(self.rules, each.kind, each.nature) for each in finds),
        ]
        label = strictest(labels)
        return mask_text(text, finds), count_by_kind(finds), label

    # Classes

    def scan_document(self, document: Document) -> DocumentScan:
        facts = [each for key, value in document.facts for each in (key, value) if isinstance(each, str)]
        kinds = self._find_kinds((document.text, document.title, document.thread, document.namespace, *facts))
        module, path = parse_address(document.address)
        space = document.namespace
        return DocumentScan(
            " ".join(kinds), self.scanner.version, lambda said: self._classify(module, space, path, said, kinds)
        )

    def reclassify(self, address: str, space: str, declared: Classification, kinds: str) -> Classification:
        """The class of a document that was marked before."""
        module, path = parse_address(address)
        return self._classify(module, space, path, declared, kinds.split())

    def classify(self, label: Classification, module: str, space: str, texts: Collection[str]) -> Classification:
        return self._classify(module, space, "", label, self._find_kinds(texts))

    def _find_kinds(self, texts: Collection[str]) -> list[str]:
        return sorted({find.kind for text in texts for find in self.scanner.scan(text)})

    def _classify(
        self, module: str, space: str, path: str, declared: Classification, kinds: Collection[str]
    ) -> Classification:
        if not kinds and not self.rules.placements:
            return declared
        natures = [(kind, self.scanner.natures.get(kind, "secret")) for kind in kinds]
        return classify_record(self.rules, module, space, path, declared, natures)


class ClosedPolicy(ActivePolicy):
    """Where the policy cannot be read: nothing of anybody's leaves, and nothing is stored."""

    @property
    def version(self) -> str:
        return "none"

    def allows(self, who: Principal, entry: ToolInfo) -> bool:
        return entry.module in RECORDLESS_MODULES

    def view_for_tags(self, tags: tuple[str, ...]) -> PolicyView:
        return PolicyView((), (), ())
