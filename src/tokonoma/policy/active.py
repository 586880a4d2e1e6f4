"""The policy in force, as every call asks it; and the one that allows nothing, if none can be read."""

import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, cast

from tokonoma.core.call import Principal
from tokonoma.core.desk import CLASSIFICATIONS, Classification, Document, Record, SourceText, parse_address
from tokonoma.core.errors import Conflict, Denied, Refusal, Unavailable, Unready
from tokonoma.core.masks import RecordMasks
from tokonoma.core.module import ToolInfo
from tokonoma.core.policy import (
    UNRESTRICTED_VIEW,
    AccessEffect,
    Decision,
    DocumentScan,
    Layer,
    PolicyView,
    ScreenedValue,
    ToolVerdict,
)
from tokonoma.policy import rules as decisions
from tokonoma.policy.detections import Masker, WriteScreen, count_by_kind, format_mask, mask_text
from tokonoma.policy.hidden_kinds import HiddenKinds, format_masked
from tokonoma.policy.masking import CallMasks, find_in_source, mask_document, mask_record
from tokonoma.policy.rules import DEFAULT_RULES, PolicyRules, strictest
from tokonoma.policy.tool_rules import ToolRule, choose_verdict, list_matching

RECORDLESS_MODULES = frozenset({"system", "gateway"})
"""Modules that hold no records: they answer even if no policy can be read."""

REPAIR_TOOLS = frozenset(f"claims.policy.{name}" for name in ("apply", "get", "history", "rollback"))
"""By these the owner replaces a policy, also one that cannot be read."""

_MAX_VIEWS = 10_000


class ActivePolicy(HiddenKinds):
    """`salt` makes the hashes of detections in the journal specific to this server."""

    def __init__(self, rules: PolicyRules = DEFAULT_RULES, number: int = 0, salt: bytes | None = None) -> None:
        super().__init__(rules)
        self.number = number
        self._salt = os.urandom(16) if salt is None else salt
        self._views: dict[str, PolicyView] = {}
        self._tool_rules: dict[tuple[str, str, str], tuple[ToolRule, ...]] = {}
        self.judges_tools = bool(rules.tools)

    @property
    def version(self) -> str:
        return self.rules.version

    # What a caller may see

    def check_allowed(self, who: Principal, entry: ToolInfo) -> None:
        """Raise if no policy lets this caller use the tool at all."""

    def judge_tool(self, who: Principal, tool: ToolInfo, account: Callable[[], str] | None) -> ToolVerdict:
        if not self.rules.tools:
            return "allow"
        key = who.name, tool.path, tool.effect
        matching = self._tool_rules.get(key)
        if matching is None:
            if len(self._tool_rules) > _MAX_VIEWS:
                self._tool_rules.clear()
            matching = self._tool_rules[key] = list_matching(self.rules.tools, who.name, tool)
        return choose_verdict(matching, account)

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
        return PolicyView(tags, tuple(readable))

    def build_masks(self, view: PolicyView) -> RecordMasks:
        return CallMasks(self, view)

    def decide(
        self, tags: Collection[str], label: str, scope: Layer | None = None, effect: AccessEffect = "read"
    ) -> Decision:
        return decisions.decide(self.rules, tags, label, scope, effect)

    # Texts that come in and go out

    def screen_arguments(
        self, view: PolicyView, module: str, arguments: Mapping[str, Any], writes: bool = True
    ) -> ScreenedValue:
        if not writes:
            return self._screen_query(view, module, arguments)
        screen = WriteScreen(self.scanner, self.rules.writes, self._salt)
        value = screen.screen(arguments)
        refusal = self._find_refusal(view, module, screen)
        return ScreenedValue(value if refusal is None else None, screen.detections, refusal)

    def _screen_query(self, view: PolicyView, module: str, arguments: Mapping[str, Any]) -> ScreenedValue:
        """What is hidden from a caller is also masked in what it asks for: a guess never equals what is stored."""
        if self._is_clean(arguments):
            return ScreenedValue(arguments)
        if not module:
            hidden = self.hidden_anywhere(view)
        else:
            hidden = self.hidden_at(view, module, None, None) if self.masks_records(view, module) else frozenset[str]()
        if self.rules.writes["secret"] != "allow":  # noqa: S105 - it may be stored too, in a trail or a cache
            hidden |= self.scanner.natures.keys() - self._personal_kinds
        masker = Masker(self.scanner, hidden, self._salt, keeps_keys=True)
        # One by one: the names of parameters are ours, and say nothing about what stands after them.
        masked = {name: masker.mask(value) for name, value in arguments.items()}
        return ScreenedValue(masked, masker.detections)

    def _find_refusal(self, view: PolicyView, module: str, screen: WriteScreen) -> Refusal | None:
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
        is_masked = view is not UNRESTRICTED_VIEW and self.masks_records(view, module)
        masks = sorted(screen.masks & self.hidden_at(view, module, None, None)) if is_masked else []
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

    def _is_clean_record(self, record: Mapping[Any, Any]) -> bool:
        """Whether a small answer needs no scan: short texts, each beside its name, in which nothing can be found."""
        clean = self.scanner.is_clean
        return all(
            isinstance(value, str) and isinstance(name, str) and clean(f"{name}: {value}")
            for name, value in record.items()
        )

    def screen_result(self, view: PolicyView, value: Any, hint: Any = None, module: str = "") -> ScreenedValue:
        if isinstance(value, dict) and self._is_clean_record(cast("dict[Any, Any]", value)):
            return ScreenedValue(value)
        hidden = self.hidden_in(view, module) if module else self.hidden_anywhere(view)
        masker = Masker(self.scanner, hidden, self._salt)
        return ScreenedValue(masker.mask(value, hint), masker.detections)

    def screen_error(self, view: PolicyView, message: str, details: Mapping[str, Any]) -> ScreenedValue:
        masker = Masker(self.scanner, self.hidden_anywhere(view), self._salt, keeps_keys=True)
        return ScreenedValue((masker.mask(message), masker.mask(details)), masker.detections)

    def redact(self, text: str) -> tuple[str, dict[str, int], Classification]:
        """The text with every detection masked, for any caller; the count of each kind; the class that they mean."""
        found = self.scanner.scan(text)
        classes: list[Classification] = [decisions.classify_kind(self.rules, each.kind, each.nature) for each in found]
        return mask_text(text, found), count_by_kind(found), strictest("internal", *classes)

    # Classes of records

    def scan_document(self, document: Document) -> DocumentScan:
        scanner, (module, path) = self.scanner, parse_address(document.address)
        found = find_in_source(scanner, document.text, document.source, document.start)
        # A key and its value together: `password` says what stands after it.
        facts = [f"{key}: {value}" if isinstance(value, str) else key for key, value in document.facts]
        others = self._find_kinds((document.title, document.thread, document.namespace, *facts, *document.aside))
        kinds = sorted({*others, *(each.kind for each in found)})

        def classify(declared: Classification) -> Classification:
            return self._classify(module, document.namespace, path, declared, kinds)

        masked, always = self.hidden_in_index(module, document.namespace, path, kinds)
        scan = DocumentScan(" ".join(kinds), scanner.version, classify, document, None, format_masked(masked, always))
        if not masked:
            return scan
        shown = mask_document(scanner, document, found, masked)
        private = None if always == masked else mask_document(scanner, document, found, always)
        return replace(scan, shown=shown, private=private)

    def mask_record_for_index(self, record: Record) -> Record:
        hidden = self.hidden_from_any(record.module, record.namespace, parse_address(record.address)[1])
        return mask_record(self.scanner, record, hidden)

    def mask_for_index(self, text: str, address: str, namespace: str) -> str:
        module, path = parse_address(address)
        hidden = self.hidden_from_any(module, namespace, path)
        return mask_text(text, [each for each in self.scanner.scan(text) if each.kind in hidden])

    def find_change(self, before: str, source: SourceText) -> int:
        place, found = self.scanner.find_change(before, source.text)
        source.detections[self.scanner.version] = found
        return place

    def reclassify(self, address: str, namespace: str, declared: Classification, kinds: str) -> Classification:
        """The class of a document that was scanned before."""
        module, path = parse_address(address)
        return self._classify(module, namespace, path, declared, kinds.split())

    def list_masked(self, address: str, namespace: str, kinds: str) -> str:
        """What the index may not hold of a document that was scanned before."""
        module, path = parse_address(address)
        return format_masked(*self.hidden_in_index(module, namespace, path, kinds.split()))

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
        return PolicyView((), ())
