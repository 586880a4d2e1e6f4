"""A policy in force: the rules, asked by the guard and the desk for every call. It keeps only what it derives."""

import os
from collections.abc import Collection, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tokonoma.core.addresses import parts_of
from tokonoma.core.call import Principal
from tokonoma.core.desk import LABELS, Document, Label
from tokonoma.core.errors import Conflict, Denied, Refusal
from tokonoma.core.module import Entry
from tokonoma.core.policy import Cleared, Mark, View
from tokonoma.core.policy_api import Decision, Effect, Layer
from tokonoma.policy.decide import decide, hidden_kinds, kind_label, label_of, tags_of
from tokonoma.policy.rules import DEFAULT, Rules, Writes, strictest

if TYPE_CHECKING:
    from tokonoma.policy.scan import Scanner

SYSTEM = frozenset({"system", "gateway"})
"""Modules that hold no records: they answer even where no policy can be read."""


class InForce:
    """`salt` makes the journal's hashes of finds this house's own."""

    def __init__(self, rules: Rules = DEFAULT, number: int = 0, salt: bytes | None = None) -> None:
        self.rules, self.number = rules, number
        self._salt = os.urandom(16) if salt is None else salt
        self._views: dict[str, View] = {}
        self._hidden: dict[tuple[str, ...], frozenset[str]] = {}

    @property
    def version(self) -> str:
        return self.rules.version

    @cached_property
    def scanner(self) -> "Scanner":
        from tokonoma.policy.detector import Detector
        from tokonoma.policy.scan import Scanner, built_in

        custom = [Detector(each.kind, each.nature, each.pattern) for each in self.rules.detectors]
        return Scanner(custom) if custom else built_in()

    # Who sees what

    def may(self, who: Principal, entry: Entry) -> bool:
        del who, entry
        return True

    def view(self, who: Principal) -> View:
        found = self._views.get(who.name)
        if found is None:
            found = self.view_of(tags_of(self.rules, who))
            if len(self._views) > 10_000:
                self._views.clear()
            self._views[who.name] = found
        return found

    def view_of(self, tags: tuple[str, ...]) -> View:
        verdicts = {label: decide(self.rules, tags, label).verdict for label in LABELS}
        seen: list[Label] = [label for label in LABELS if verdicts[label] != "deny"]
        plain: list[Label] = [label for label in seen if verdicts[label] == "allow"]
        return View(tags, tuple(seen), tuple(plain))

    def hidden(self, tags: tuple[str, ...]) -> frozenset[str]:
        """The kinds of finds that are masked for these tags."""
        found = self._hidden.get(tags)
        if found is None:
            found = hidden_kinds(self.rules, tags, self.scanner.natures.items())
            self._hidden[tags] = found
        return found

    def masked(self, view: View) -> frozenset[str]:
        """The kinds of finds that are masked for whoever has this view."""
        return self.hidden(view.tags)

    def decide(
        self, tags: Collection[str], label: str, scope: Layer | None = None, effect: Effect = "read"
    ) -> Decision:
        return decide(self.rules, tags, label, scope, effect)

    # Texts on their way

    def screened(self, view: View, arguments: Mapping[str, Any], writes: bool = True) -> Cleared:
        if not writes and self._glanced(arguments):
            return Cleared(arguments)
        from tokonoma.policy.screen_writes import Screen

        rule = self.rules.writes
        asking = Writes("allow" if rule.secret == "allow" else "redact", "allow")  # noqa: S105 - words of the policy
        screen = Screen(self.scanner, rule if writes else asking, self._salt)
        value = screen.walk(arguments)
        if not writes:
            return Cleared(value, screen.found)
        if screen.refused:
            kinds = sorted({kind for _, kind in screen.refused})
            fields = sorted({field for field, _ in screen.refused})
            refusal: Refusal = Denied(
                f"{', '.join(fields)} holds what the policy does not let be stored: {', '.join(kinds)}. "
                "Take it out and try again. Nothing was stored.",
                reason="secret",
                kinds=kinds,
                fields=fields,
                policy_version=self.version,
            )
            return Cleared(None, screen.found, refusal)
        hidden = self.masked(view) if view.masks else frozenset[str]()
        masks = sorted(screen.masks & hidden)
        if masks:
            told = ", ".join(f"[{kind}]" for kind in masks)
            refusal = Conflict(
                f"The text holds masks ({told}), which stand for what this caller cannot see: writing them would "
                "destroy the original. Write only the parts that you know. Nothing was stored.",
                reason="masked",
                kinds=masks,
            )
            return Cleared(None, screen.found, refusal)
        return Cleared(value, screen.found)

    def _glanced(self, arguments: Mapping[str, Any]) -> bool:
        """Whether a question needs no closer look: it is made of plain values in which nothing can be found."""
        clean = self.scanner.clean
        return all(
            clean(value) if isinstance(value, str) else isinstance(value, int | float | None)
            for value in arguments.values()
        )

    def cleared(self, view: View, value: Any, hint: Any = None) -> Cleared:
        from tokonoma.policy.mask import Veil

        veil = Veil(self.scanner, self.masked(view), self._salt)
        return Cleared(veil.over(value, hint), veil.found)

    def redacted(self, text: str) -> tuple[str, dict[str, int], Label]:
        """Every find masked, whoever asks; how many there were of each kind; the class that they mean."""
        from tokonoma.policy.detections import counted, masked

        finds = self.scanner.scan(text)
        labels: list[Label] = ["internal", *(kind_label(self.rules, each.kind, each.nature) for each in finds)]
        label = strictest(labels)
        return masked(text, finds), counted(finds), label

    # Classes

    def mark(self, document: Document) -> Mark:
        facts = [each for key, value in document.facts for each in (key, value) if isinstance(each, str)]
        kinds = self._kinds((document.text, document.title, document.thread, document.space, *facts))
        module, path = parts_of(document.address)
        space = document.space
        return Mark(" ".join(kinds), self.scanner.version, lambda said: self._label(module, space, path, said, kinds))

    def relabelled(self, address: str, space: str, declared: Label, kinds: str) -> Label:
        """The class of a document that was marked before."""
        module, path = parts_of(address)
        return self._label(module, space, path, declared, kinds.split())

    def label(self, label: Label, module: str, space: str, texts: Collection[str]) -> Label:
        return self._label(module, space, "", label, self._kinds(texts))

    def _kinds(self, texts: Collection[str]) -> list[str]:
        return sorted({find.kind for text in texts for find in self.scanner.scan(text)})

    def _label(self, module: str, space: str, path: str, declared: Label, kinds: Collection[str]) -> Label:
        if not kinds and not self.rules.labels:
            return declared
        natures = [(kind, self.scanner.natures.get(kind, "secret")) for kind in kinds]
        return label_of(self.rules, module, space, path, declared, natures)


class Closed(InForce):
    """Where the policy cannot be read: nothing of anybody's leaves, and nothing is stored."""

    @property
    def version(self) -> str:
        return "none"

    def may(self, who: Principal, entry: Entry) -> bool:
        return entry.module in SYSTEM

    def view_of(self, tags: tuple[str, ...]) -> View:
        return View((), (), ())
