"""Which kinds of detections a policy hides: from one caller, in a place; and from any caller, so that the index that
all callers share does not hold them."""

import hashlib
from collections.abc import Collection, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from tokonoma.core.policy import PolicyView
from tokonoma.policy import rules as decisions
from tokonoma.policy.rules import MaskRule, PolicyRules

if TYPE_CHECKING:
    from tokonoma.policy.scan import Scanner


class HiddenKinds:
    def __init__(self, rules: PolicyRules) -> None:
        self.rules = rules
        self._hidden: dict[tuple[tuple[str, ...], tuple[MaskRule, ...]], frozenset[str]] = {}
        self._masked_modules: dict[tuple[tuple[str, ...], str], bool] = {}

    @cached_property
    def scanner(self) -> "Scanner":
        from tokonoma.policy.scan import Scanner, builtin_scanner

        return Scanner(self.rules.detectors) if self.rules.detectors else builtin_scanner()

    def _find_hidden(self, tags: tuple[str, ...], masks: tuple[MaskRule, ...]) -> frozenset[str]:
        kinds = self._hidden.get((tags, masks))
        if kinds is None:
            natures = self.scanner.natures.items()
            kinds = self._hidden[tags, masks] = decisions.find_hidden_kinds(self.rules, tags, natures, masks)
        return kinds

    def hidden_at(self, view: PolicyView, module: str, namespace: str | None, path: str | None) -> frozenset[str]:
        """In a place. If the namespace or the path is not known: those that may be hidden there."""
        return self._find_hidden(view.tags, decisions.list_masks(self.rules, module, namespace, path))

    def hidden_in(self, view: PolicyView, module: str) -> frozenset[str]:
        """In every place of a module."""
        return self._find_hidden(view.tags, decisions.list_module_masks(self.rules, module))

    def hidden_anywhere(self, view: PolicyView) -> frozenset[str]:
        return self._find_hidden(view.tags, self.rules.masks)

    def hidden_from_any(self, module: str, namespace: str, path: str) -> frozenset[str]:
        """Hidden from at least one kind of caller."""
        return self._join_hidden(decisions.list_tag_sets(self.rules), module, namespace, path)

    def hidden_in_index(
        self, module: str, namespace: str, path: str, kinds: Collection[str]
    ) -> tuple[frozenset[str], frozenset[str]]:
        """Those of these kinds that the index does not hold; and those that it does not hold as private either."""
        if not kinds:
            return frozenset(), frozenset()
        masked = self.hidden_from_any(module, namespace, path).intersection(kinds)
        return masked, masked & self._hidden_from_private(module, namespace, path)

    def _hidden_from_private(self, module: str, namespace: str, path: str) -> frozenset[str]:
        """Hidden also from callers that see personal data."""
        tag_sets = [tags for tags in decisions.list_tag_sets(self.rules) if self._is_private(tags)]
        return self._join_hidden(tag_sets, module, namespace, path) if tag_sets else frozenset(self.scanner.natures)

    def _join_hidden(
        self, tag_sets: Sequence[tuple[str, ...]], module: str, namespace: str, path: str
    ) -> frozenset[str]:
        masks = decisions.list_masks(self.rules, module, namespace, path)
        return frozenset[str]().union(*(self._find_hidden(tags, masks) for tags in tag_sets))

    def sees_private(self, view: PolicyView) -> bool:
        """Whether the tags of this caller let it see personal data that others may not see. What a mask hides is hidden
        from everyone."""
        return self._is_private(view.tags) and self._has_private

    @cached_property
    def _has_private(self) -> bool:
        return not all(map(self._is_private, decisions.list_tag_sets(self.rules)))

    def _is_private(self, tags: tuple[str, ...]) -> bool:
        return self._personal_kinds.isdisjoint(self._find_hidden(tags, ()))

    @cached_property
    def _personal_kinds(self) -> frozenset[str]:
        return frozenset(kind for kind, nature in self.scanner.natures.items() if nature == "pii")

    def masks_records(self, view: PolicyView, module: str) -> bool:
        """Whether a record of this module that the caller sees can hold something that it may not see."""
        known = self._masked_modules.get((view.tags, module))
        if known is None:
            natures, hidden = self.scanner.natures, self.hidden_at(view, module, None, None)
            known = self._masked_modules[view.tags, module] = any(
                decisions.can_hold(self.rules, module, kind, natures[kind], each)
                for kind in hidden
                for each in decisions.list_readable(self.rules, view.tags)
            )
        return known

    @property
    def masks_key(self) -> str:
        """Another one whenever a text may have to be masked in another way than before, for any caller."""
        return self._masks_key

    @cached_property
    def _masks_key(self) -> str:
        rules = self.rules
        parts = (self.scanner.version, rules.class_rules, rules.masks, rules.callers, rules.kinds, rules.invariants)
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def format_masked(masked: Collection[str], always: Collection[str]) -> str:
    """What the index lacks of a document, as it is stored there: `card email`, `card email / card`."""
    listed = " ".join(sorted(masked))
    return listed if masked == always else f"{listed} / {' '.join(sorted(always))}"
