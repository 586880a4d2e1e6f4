"""Decisions: which classes a caller may see and how, what class a record has, what may be written. Pure.

deny > redact > allow; secret > pii > internal > public. Whatever cannot be told is denied.
"""

from collections.abc import Collection, Iterable
from fnmatch import fnmatchcase

from tokonoma.core.call import Principal
from tokonoma.core.desk import CLASSIFICATIONS, Classification
from tokonoma.core.namespaces import is_inside
from tokonoma.core.policy import AccessEffect, Decision, Layer
from tokonoma.policy.rules import DEFAULT_TAGS, MaskRule, PlacementRule, PolicyRules, strictest


def find_tags(rules: PolicyRules, who: Principal) -> tuple[str, ...]:
    """The tags that a caller holds: of the first line of `callers` that fits its name."""
    for name, tags in rules.callers:
        if fnmatchcase(who.name, name):
            return tags
    return DEFAULT_TAGS


def covers(held: str, asked: str) -> bool:
    """Whether a tag takes in another: `*` all, `tool:*` every tool."""
    return held in ("*", asked) or (held.endswith(":*") and asked.startswith(held[:-1]))


def find_tags_not_held(held: Collection[str], asked: Collection[str]) -> list[str]:
    """The asked tags that nothing held covers."""
    return [tag for tag in asked if not any(covers(one, tag) for one in held)]


def matches(allowed: Iterable[str], tags: Collection[str]) -> bool:
    """Whether a purpose is among the allowed ones. Who holds `tool:*` may act for any tool, so for one named."""
    return any(covers(one, tag) or covers(tag, one) for one in allowed for tag in tags)


def decide(
    rules: PolicyRules, tags: Collection[str], label: str, scope: Layer | None = None, effect: AccessEffect = "read"
) -> Decision:
    """allow × class × scope × invariants."""
    rule = next((rule for name, rule in rules.class_rules.items() if name == label), None)
    if rule is None:
        return Decision("deny", f"there is no class {label!r}")
    for invariant in rules.invariants:
        if invariant.classification == label and effect in invariant.deny and invariant.scope in (None, scope):
            where = f" in {invariant.scope}" if invariant.scope else ""
            return Decision("deny", f"an invariant denies {label}{where}")
    if effect == "write":
        return Decision("allow", f"{label} may be written")
    if rule.escalation == "deny":
        return Decision("deny", f"{label} is never given out (escalation: deny)")
    if not matches(rule.allow, tags):
        return Decision("deny", f"{label} is not for {', '.join(tags) or 'nobody'}")
    review = "; a person should look at it (escalation: human_review)" if rule.escalation == "human_review" else ""
    if rule.redact:
        return Decision("redact", f"{label} is given out without {', '.join(rule.redact)}{review}")
    return Decision("allow", f"{label} is given out{review}")


def list_readable(rules: PolicyRules, tags: Collection[str], scope: Layer | None = None) -> tuple[Classification, ...]:
    """The classes that may be read with these tags, redacted or not."""
    return tuple(label for label in CLASSIFICATIONS if decide(rules, tags, label, scope).verdict != "deny")


def find_hidden_kinds(rules: PolicyRules, tags: Collection[str], natures: Iterable[tuple[str, str]]) -> frozenset[str]:
    """The kinds of finds that must be masked for these tags: what a class they see says, and what means a class that
    they do not see."""
    natures = list(natures)
    wanted: set[str] = set()
    labels = list_readable(rules, tags)
    for label in labels:
        for name in rules.class_rules[label].redact:
            wanted |= {kind for kind, nature in natures if name in ("*", kind, nature)}
    return frozenset(wanted | {kind for kind, nature in natures if classify_kind(rules, kind, nature) not in labels})


def classify_kind(rules: PolicyRules, kind: str, nature: str) -> Classification:
    """The class that a find means."""
    return rules.kinds.get(kind, "secret" if nature == "secret" else "pii")


def classify_record(
    rules: PolicyRules, module: str, space: str, path: str, declared: Classification, finds: Iterable[tuple[str, str]]
) -> Classification:
    """The class of a record: the strictest of what its writer said, what its place means, what was found in it."""
    placed: list[Classification] = [
        rule.classification for rule in rules.placements if _rule_matches(rule, module, space, path)
    ]
    masks = [rule for rule in rules.masks if _rule_matches(rule, module, space, path)]
    found: list[Classification] = [_classify_detection(rules, masks, kind, nature) for kind, nature in finds]
    return strictest([declared, *placed, *found])


def _classify_detection(rules: PolicyRules, masks: Iterable[MaskRule], kind: str, nature: str) -> Classification:
    """The class that a find means where these masks are."""
    for rule in masks:
        if any(name in ("*", kind, nature) for name in rule.kinds):
            return rule.classification
    return classify_kind(rules, kind, nature)


def _rule_matches(rule: PlacementRule | MaskRule, module: str, space: str, path: str) -> bool:
    return (
        (not rule.module or rule.module == module)
        and (not rule.namespace or is_inside(space, rule.namespace))
        and (not rule.path or fnmatchcase(path, rule.path))
    )
