"""What one policy permits that another does not, computed from the two policies alone. Pure.

The answer is on the safe side: whatever cannot be shown to be at least as strict counts as looser. `retrieval` only
ranks, so it never counts.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from tokonoma.core.desk import CLASSIFICATIONS, Classification
from tokonoma.core.policy import LAYERS, AccessEffect, Layer
from tokonoma.policy.detections import Nature
from tokonoma.policy.places import can_overlap, covers_place, describe_place
from tokonoma.policy.rules import (
    ClassRule,
    PlacementRule,
    PolicyRules,
    classify_kind,
    decide,
    find_hidden_kinds,
    find_tags_not_held,
    list_readable,
)
from tokonoma.policy.scan import BUILTIN_DETECTORS
from tokonoma.policy.tag_pairs import TagPair, list_tag_pairs, pair_callers
from tokonoma.policy.tool_regions import compare_tools

_VERDICTS = ("allow", "redact", "deny")  # from open to closed
_ACTIONS = ("allow", "redact", "refuse")
_ESCALATIONS = ("none", "human_review", "deny")
# The parts of one policy that are compared, each with each: beyond that it would take seconds, and nobody writes it.
_MAX_SIZES = {"callers": 100, "tags": 300, "labels": 500, "masks": 100, "detectors": 300, "tools": 100}
_MAX_REPORTED = 50
_MAX_NAMES = 5

_ClassAt = tuple[tuple[PlacementRule, ...], Classification]
"""The class of a kind: by place, the first match counts; and everywhere else."""


def find_loosenings(old: PolicyRules, new: PolicyRules) -> list[str]:
    """One sentence for each thing that becomes more open; empty if nothing does."""
    if replace(new, version=old.version, retrieval=old.retrieval) == old:
        return []
    if large := [name for rules in (old, new) for name, size in _measure(rules).items() if size > _MAX_SIZES[name]]:
        return [f"these policies are too large to be compared: {large[0]}, more than {_MAX_SIZES[large[0]]}"]
    pair = _PolicyPair(old, new)
    parts: tuple[Callable[[], Iterator[str]], ...] = (
        pair.compare_callers, pair.compare_classes, pair.compare_invariants, pair.compare_masked_kinds,
        pair.compare_masks,
        pair.compare_placements, pair.compare_detectors, pair.compare_kinds, pair.compare_order,
        pair.compare_writes, pair.compare_scopes, pair.compare_tools,
    )  # fmt: skip
    found = list(dict.fromkeys(each for part in parts for each in part()))
    more = len(found) - _MAX_REPORTED
    return [*found[:_MAX_REPORTED], f"and {more} more"] if more > 0 else found


def _measure(rules: PolicyRules) -> dict[str, int]:
    tags = {tag for _, held in rules.callers for tag in held}.union(
        *(each.allow for each in rules.class_rules.values())
    )
    sizes = (rules.callers, tags, rules.placements, rules.masks, rules.detectors, rules.tools)
    return dict(zip(_MAX_SIZES, map(len, sizes), strict=True))


class _PolicyPair:
    def __init__(self, old: PolicyRules, new: PolicyRules) -> None:
        self.old, self.new = old, new
        self.old_natures, self.new_natures = _list_natures(old), _list_natures(new)

    @cached_property
    def callers(self) -> list[TagPair]:
        return pair_callers(self.old, self.new)

    @cached_property
    def tag_pairs(self) -> Collection[TagPair]:
        return self._drop_alike([*list_tag_pairs(self.old, self.new), *self.callers])

    def _drop_alike(self, pairs: Iterable[TagPair]) -> Collection[TagPair]:
        """One pair for each combination of classes that can be read: nothing else depends on the tags."""
        found: dict[tuple[tuple[str, ...], tuple[str, ...]], TagPair] = {}
        for pair in pairs:
            found.setdefault((list_readable(self.old, pair.old), list_readable(self.new, pair.new)), pair)
        return found.values()

    # What a caller may see

    def compare_callers(self) -> Iterator[str]:
        for pair in self.callers:
            if gained := find_tags_not_held(pair.old, pair.new):
                yield f"callers: {pair.name} gains {', '.join(gained)}"

    def compare_classes(self) -> Iterator[str]:
        for name in CLASSIFICATIONS:
            readers: list[str] = []
            for pair in self.tag_pairs:
                before, after = (decide(*each, name).verdict for each in ((self.old, pair.old), (self.new, pair.new)))
                if before == "deny" and after != "deny":
                    readers.append(pair.name)
                elif _VERDICTS.index(after) < _VERDICTS.index(before):
                    yield f"{name} is no longer masked"
            was, now = self.old.class_rules[name], self.new.class_rules[name]
            if readers:
                allowed = [tag for tag in now.allow if decide(self.old, (tag,), name).verdict == "deny"]
                yield f"{name} may be read with {', '.join(dict.fromkeys(allowed or readers))}"
            if _ESCALATIONS.index(now.escalation) < _ESCALATIONS.index(was.escalation):
                yield f"{name}: escalation becomes {now.escalation} instead of {was.escalation}"
            shown = [each for each in self.old_natures if self._loses_redaction(each, was, now)]
            if shown:
                yield f"{name}: {_list_names(shown)} no longer redacted"

    def compare_invariants(self) -> Iterator[str]:
        lost = _list_denials(self.old) - _list_denials(self.new)
        for name, scope, effect in sorted(lost, key=str):
            if scope is not None and (name, None, effect) in lost:
                continue  # said for all scopes
            where = f" in {scope}" if scope else ""
            yield f"invariants: {effect} of {name}{where} is no longer denied in any case"

    def compare_masked_kinds(self) -> Iterator[str]:
        """A kind can also appear because its class can no longer be read: then nothing that is read redacts it."""
        reported: set[frozenset[str]] = set()
        for pair in self.tag_pairs:
            before = find_hidden_kinds(self.old, pair.old, self.old_natures.items(), ())
            after = find_hidden_kinds(self.new, pair.new, self.new_natures.items(), ())
            if not list_readable(self.new, pair.new):
                continue
            if before - after and before - after not in reported:
                yield f"no longer masked for {pair.name}: {_list_names(sorted(before - after))}"
            reported.add(before - after)
            for detector in self._added_detectors:
                replaced = [kind for kind in sorted(before) if self._can_replace(detector, kind)]
                if replaced and detector not in after:
                    yield f"detectors: {detector} is not masked, and can match instead of {_list_names(replaced)}"

    def compare_masks(self) -> Iterator[str]:
        kept = set(self.new.masks)
        for rule in self.old.masks:
            covering = [each.kinds for each in self.new.masks if rule in kept or covers_place(each, rule)]
            covered = {kind for kinds in covering for kind in self._list_kinds(kinds)}
            if rule not in kept and (shown := sorted(self._list_kinds(rule.kinds) - covered)):
                yield f"masks: {_list_names(shown)} no longer masked in {describe_place(rule)}"

    def _list_kinds(self, names: Collection[str]) -> set[str]:
        natures = {**self.new_natures, **self.old_natures}
        return {kind for kind, nature in natures.items() if not {"*", kind, nature}.isdisjoint(names)}

    # What class a record has

    def compare_placements(self) -> Iterator[str]:
        kept = set(self.new.placements)
        for rule in self.old.placements:
            if rule in kept or rule.classification == CLASSIFICATIONS[0]:
                continue
            if not any(
                covers_place(each, rule) and _is_strict_as(each.classification, rule.classification)
                for each in self.new.placements
            ):
                yield f"labels: {describe_place(rule)} is no longer at least {rule.classification}"

    def compare_detectors(self) -> Iterator[str]:
        for each in self.old.detectors:
            if each not in self.new.detectors:
                yield f"detectors: {each.kind} with the pattern {each.pattern[:80]!r} is gone or changed"

    def compare_kinds(self) -> Iterator[str]:
        compared: dict[tuple[_ClassAt, _ClassAt], str] = {}

        def find_milder(kind: str, instead: str) -> str:
            sides = _find_classes(self.old, kind, self.old_natures), _find_classes(self.new, instead, self.new_natures)
            if sides not in compared:
                compared[sides] = _find_milder_place(*sides)
            return compared[sides]

        kinds = [*self.old_natures]
        for where, milder in _group((find_milder(kind, kind), kind) for kind in kinds):
            yield f"kinds: {_list_names(milder)} counts as a milder class {where}"
        for detector in self._added_detectors:
            replaced = [kind for kind in kinds if self._can_replace(detector, kind)]
            for where, milder in _group((find_milder(kind, detector), kind) for kind in replaced):
                yield f"detectors: {detector} can match instead of {_list_names(milder)}, as a milder class {where}"

    def compare_order(self) -> Iterator[str]:
        """A record with a stricter class than before can be more visible, if a policy shows more of that class."""
        parts = ("placements", "masks", "detectors", "kinds")
        if all(getattr(self.old, each) == getattr(self.new, each) for each in parts):
            return
        for pair in self._drop_alike(self.callers):
            for number, name in enumerate(CLASSIFICATIONS):
                before = decide(self.old, pair.old, name).verdict
                for stricter in CLASSIFICATIONS[number + 1 :]:
                    if _VERDICTS.index(decide(self.new, pair.new, stricter).verdict) < _VERDICTS.index(before):
                        yield f"{pair.name} sees more of {stricter} than of {name}: a record that changes to it appears"

    # What may be written and how long it is kept

    def compare_writes(self) -> Iterator[str]:
        for nature, action in self.old.writes.items():
            if _ACTIONS.index(self.new.writes[nature]) < _ACTIONS.index(action):
                yield f"writes: {nature} becomes {self.new.writes[nature]} instead of {action}"
        weaker = _ACTIONS.index(self.new.writes["secret"]) < _ACTIONS.index(self.old.writes["pii"])
        if weaker and any(self.new_natures[each] == "secret" for each in self._added_detectors):
            yield "detectors: a secret one can match instead of personal data, whose writes are stricter"

    def compare_scopes(self) -> Iterator[str]:
        for layer, was in self.old.layers.items():
            now = self.new.layers[layer]
            if was.ttl is not None and (now.ttl is None or now.ttl > was.ttl):
                yield f"scopes: the ttl of {layer} becomes longer"
            if now.max_tokens > was.max_tokens:
                yield f"scopes: max_tokens of {layer} becomes larger"

    def compare_tools(self) -> Iterator[str]:
        return compare_tools(self.old.tools, self.new.tools)

    # Kinds

    @cached_property
    def _added_detectors(self) -> list[str]:
        """Their kinds. Where two detections overlap only one counts, so a new one can take the place of another."""
        return list(dict.fromkeys(each.kind for each in self.new.detectors if each not in self.old.detectors))

    def _can_replace(self, detector: str, kind: str) -> bool:
        return self.new_natures[detector] == "secret" or self.old_natures[kind] == "pii"

    def _loses_redaction(self, kind: str, was: ClassRule, now: ClassRule) -> bool:
        """By the old rule only."""
        new_names = {"*", kind, self.new_natures[kind]} if kind in self.new_natures else {"*"}
        return not {"*", kind, self.old_natures[kind]}.isdisjoint(was.redact) and new_names.isdisjoint(now.redact)


def _group(pairs: Iterable[tuple[str, str]]) -> Iterable[tuple[str, list[str]]]:
    """Kinds by what is said of them; an empty text says nothing."""
    groups: dict[str, list[str]] = {}
    for text, kind in pairs:
        if text:
            groups.setdefault(text, []).append(kind)
    return groups.items()


def _list_names(names: Sequence[str]) -> str:
    more = len(names) - _MAX_NAMES
    return ", ".join(names[:_MAX_NAMES]) + (f" and {more} more" if more > 0 else "")


def _list_natures(rules: PolicyRules) -> dict[str, Nature]:
    return {each.kind: each.nature for each in (*BUILTIN_DETECTORS, *rules.detectors)}


def _list_denials(rules: PolicyRules) -> set[tuple[Classification, Layer | None, AccessEffect]]:
    """Class, scope and effect; None is a record without a scope."""
    return {
        (rule.classification, scope, effect)
        for rule in rules.invariants
        for scope in ((None, *LAYERS) if rule.scope is None else (rule.scope,))
        for effect in rule.deny
    }


def _is_strict_as(one: Classification, other: Classification) -> bool:
    return CLASSIFICATIONS.index(one) >= CLASSIFICATIONS.index(other)


def _find_classes(rules: PolicyRules, kind: str, natures: Mapping[str, Nature]) -> _ClassAt:
    """Without the names of kinds in the rules: many kinds then have the same classes and are compared once."""
    nature = natures.get(kind, "secret")
    masks = (rule for rule in rules.masks if not {"*", kind, nature}.isdisjoint(rule.kinds))
    places = (PlacementRule(rule.classification, rule.module, rule.namespace, rule.path) for rule in masks)
    return tuple(places), classify_kind(rules, kind, nature)


def _find_milder_place(old: _ClassAt, new: _ClassAt) -> str:
    """Where `new` may give a milder class than `old`, in words; empty if nowhere."""
    (old_rules, old_default), (new_rules, new_default) = old, new
    for place, rule in enumerate(new_rules):
        if new_rules[: place + 1] == old_rules[: place + 1]:
            continue  # whatever matches it here matched it before
        classes: list[Classification] = []
        for each in old_rules:
            if can_overlap(each, rule):
                classes.append(each.classification)
            if covers_place(each, rule):
                break
        else:
            classes.append(old_default)
        if not all(_is_strict_as(rule.classification, each) for each in classes):
            return f"in {describe_place(rule)}"
    uncovered = [each for each in old_rules if not any(covers_place(rule, each) for rule in new_rules)]
    classes = [old_default, *(each.classification for each in uncovered)]
    return "" if all(_is_strict_as(new_default, each) for each in classes) else "than before"
