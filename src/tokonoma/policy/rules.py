"""A policy as values (what the YAML says, and the default), and the decisions that follow from them. Pure.

deny > redact > allow; secret > pii > internal > public. What no rule allows is denied.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal

from tokonoma.core.call import Principal
from tokonoma.core.desk import CLASSIFICATIONS, Classification
from tokonoma.core.namespaces import is_inside
from tokonoma.core.policy import AccessEffect, Decision, Layer, LayerRule, RetrievalSettings
from tokonoma.policy.detections import Detector, Nature
from tokonoma.policy.tool_rules import ToolRule

Escalation = Literal["none", "human_review", "deny"]
WriteAction = Literal["allow", "redact", "refuse"]

DAY = 86_400_000
WRITE_ACTIONS: Mapping[Nature, WriteAction] = {"secret": "refuse", "pii": "allow"}


@dataclass(frozen=True, slots=True)
class ClassRule:
    allow: tuple[str, ...]
    redact: tuple[str, ...] = ()  # kinds of detections, or `pii`, `secret`, `*`
    escalation: Escalation = "none"


@dataclass(frozen=True, slots=True)
class PlacementRule:
    """Records that match all given parts get at least this class."""

    classification: Classification
    module: str = ""
    namespace: str = ""  # this namespace and those below it
    path: str = ""  # a glob over what follows `tokonoma://module/`


@dataclass(frozen=True, slots=True)
class MaskRule(PlacementRule):
    """In records that match all given parts, detections of these kinds mean this class and are always masked."""

    kinds: tuple[str, ...] = ()  # kinds of detections, or `pii`, `secret`, `*`


@dataclass(frozen=True, slots=True)
class Invariant:
    """Denies, whatever `allow` says."""

    classification: Classification
    scope: Layer | None = None
    deny: tuple[AccessEffect, ...] = ("read", "write")


@dataclass(frozen=True, slots=True)
class PolicyRules:
    version: str
    layers: Mapping[Layer, LayerRule]
    class_rules: Mapping[Classification, ClassRule]
    placements: tuple[PlacementRule, ...] = ()
    masks: tuple[MaskRule, ...] = ()  # the first match counts
    invariants: tuple[Invariant, ...] = ()
    callers: tuple[tuple[str, tuple[str, ...]], ...] = ()  # name (a glob), the tags that it holds; first match
    detectors: tuple[Detector, ...] = ()  # in addition to the built-in ones
    kinds: Mapping[str, Classification] = field(default_factory=dict[str, Classification])  # of detections
    writes: Mapping[Nature, WriteAction] = field(default_factory=lambda: WRITE_ACTIONS)
    retrieval: RetrievalSettings = field(default_factory=RetrievalSettings)
    tools: tuple[ToolRule, ...] = ()  # the first match counts; without one, a call is allowed


LAYER_RULES: Mapping[Layer, LayerRule] = {
    "session": LayerRule(7 * DAY, 20_000),
    "project": LayerRule(120 * DAY, 50_000),
    "principle": LayerRule(None, 100_000),
}
CLASS_RULES: Mapping[Classification, ClassRule] = {
    "public": ClassRule(("*",)),
    "internal": ClassRule(("answer:task", "tool:*")),
    "pii": ClassRule(("answer:task", "tool:*"), escalation="human_review"),
    "secret": ClassRule((), escalation="deny"),
}
DEFAULT_TAGS = ("answer:task", "tool:*")
"""The tags of a caller that the policy does not name."""

FILE_MASKS = tuple(MaskRule("internal", module=module, kinds=("secret",)) for module in ("manual", "vault"))
"""After those of the policy: a secret in a file is masked in place. A file that vanished from every search and every
list because of one example key in it would be a hole that nobody sees."""

DEFAULT_RULES = PolicyRules("0.1.0", LAYER_RULES, CLASS_RULES, masks=FILE_MASKS)
DEFAULT_TEXT = """\
# The policy that is in force until another is applied. Stored text is never altered: secrets are refused when they are
# written, and personal data raises a record's class to pii.
version: 0.1.0
scopes:
  session:   { ttl: 7d,   max_tokens: 20000 }
  project:   { ttl: 120d, max_tokens: 50000 }
  principle: { ttl: inf,  max_tokens: 100000 }
boundary_classes:
  public:   { allow: ['*'] }
  internal: { allow: ['answer:task', 'tool:*'] }
  pii:      { allow: ['answer:task', 'tool:*'], escalation: human_review }
  secret:   { allow: [], escalation: deny }
writes: { secret: refuse, pii: allow }
retrieval:
  hybrid: { k_txt: 48, k_vec: 96, k_final: 12 }
  rerank:
    use_quality: false
    recency_half_life_days: 30
    recency:
      half_life_days_by_kind: { fact: 120, task: 14, preference: 90, policy_hint: 365 }
"""


def strictest(*classifications: Classification) -> Classification:
    return CLASSIFICATIONS[max(CLASSIFICATIONS.index(classification) for classification in classifications)]


def find_tags(rules: PolicyRules, who: Principal) -> tuple[str, ...]:
    """The tags that a caller holds: those of the first line of `callers` that matches its name."""
    return next((tags for name, tags in rules.callers if fnmatchcase(who.name, name)), DEFAULT_TAGS)


def covers(held: str, asked: str) -> bool:
    """Whether a tag includes another: `*` every tag, `tool:*` every tool."""
    return held in ("*", asked) or (held.endswith(":*") and asked.startswith(held[:-1]))


def find_tags_not_held(held: Collection[str], asked: Collection[str]) -> list[str]:
    """The requested tags that no held tag covers."""
    return [tag for tag in asked if not any(covers(one, tag) for one in held)]


def matches(allowed: Iterable[str], tags: Collection[str]) -> bool:
    """Whether a purpose is allowed. A caller that holds `tool:*` may act for any tool, so also for a named one."""
    return any(covers(one, tag) or covers(tag, one) for one in allowed for tag in tags)


def decide(
    rules: PolicyRules,
    tags: Collection[str],
    classification: str,
    scope: Layer | None = None,
    effect: AccessEffect = "read",
) -> Decision:
    """allow × class × scope × invariants."""
    rule = next((rule for name, rule in rules.class_rules.items() if name == classification), None)
    if rule is None:
        return Decision("deny", f"there is no class {classification!r}")
    for invariant in rules.invariants:
        if invariant.classification == classification and effect in invariant.deny and invariant.scope in (None, scope):
            where = f" in {invariant.scope}" if invariant.scope else ""
            return Decision("deny", f"an invariant denies {classification}{where}")
    if effect == "write":
        return Decision("allow", f"{classification} may be written")
    if rule.escalation == "deny":
        return Decision("deny", f"{classification} may never be read (escalation: deny)")
    if not matches(rule.allow, tags):
        return Decision("deny", f"{classification} may not be read with {', '.join(tags) or 'no tags'}")
    review = "; a person should review it (escalation: human_review)" if rule.escalation == "human_review" else ""
    if rule.redact:
        return Decision("redact", f"{classification} may be read without {', '.join(rule.redact)}{review}")
    return Decision("allow", f"{classification} may be read{review}")


def list_readable(rules: PolicyRules, tags: Collection[str], scope: Layer | None = None) -> tuple[Classification, ...]:
    """The classes that may be read with these tags, redacted or not."""
    return tuple(each for each in CLASSIFICATIONS if decide(rules, tags, each, scope).verdict != "deny")


def find_hidden_kinds(
    rules: PolicyRules, tags: Collection[str], natures: Iterable[tuple[str, str]], masks: Iterable[MaskRule]
) -> frozenset[str]:
    """The kinds that must be masked for these tags: those that a readable class redacts, those that belong to a class
    that is not readable, and those of the masks that apply."""
    readable = list_readable(rules, tags)
    redacted = {name for classification in readable for name in rules.class_rules[classification].redact}
    redacted.update(name for rule in masks for name in rule.kinds)
    return frozenset(
        kind
        for kind, nature in natures
        if not redacted.isdisjoint(("*", kind, nature)) or classify_kind(rules, kind, nature) not in readable
    )


def list_masks(rules: PolicyRules, module: str, namespace: str | None, path: str | None) -> tuple[MaskRule, ...]:
    """The masks of a place. Where the namespace or the path is not known, those that may apply."""
    return tuple(
        rule
        for rule in rules.masks
        if (not rule.module or rule.module == module)
        and (not rule.namespace or namespace is None or is_inside(namespace, rule.namespace))
        and (not rule.path or path is None or fnmatchcase(path, rule.path))
    )


def list_module_masks(rules: PolicyRules, module: str) -> tuple[MaskRule, ...]:
    """The masks that apply in every place of a module."""
    masks = (rule for rule in rules.masks if not rule.module or rule.module == module)
    return tuple(rule for rule in masks if not rule.namespace and not rule.path)


def list_tag_sets(rules: PolicyRules) -> list[tuple[str, ...]]:
    """The tags of every kind of caller."""
    return list(dict.fromkeys([*(tags for _, tags in rules.callers), DEFAULT_TAGS]))


def can_hold(rules: PolicyRules, module: str, kind: str, nature: str, classification: Classification) -> bool:
    """Whether a record of this module and class can hold a detection of this kind."""
    masks = (rule for rule in list_masks(rules, module, None, None) if not {"*", kind, nature}.isdisjoint(rule.kinds))
    least = min(
        CLASSIFICATIONS.index(each) for each in (classify_kind(rules, kind, nature), *(r.classification for r in masks))
    )
    return least <= CLASSIFICATIONS.index(classification)


def classify_kind(rules: PolicyRules, kind: str, nature: str) -> Classification:
    """The class that a detection of this kind means."""
    return rules.kinds.get(kind, "secret" if nature == "secret" else "pii")


def classify_record(
    rules: PolicyRules,
    module: str,
    namespace: str,
    path: str,
    declared: Classification,
    detections: Iterable[tuple[str, str]],
) -> Classification:
    """The class of a record: the strictest of the declared one, those of its place, and those of its detections."""
    masks = [rule for rule in rules.masks if _rule_matches(rule, module, namespace, path)]
    placements = (rule for rule in rules.placements if _rule_matches(rule, module, namespace, path))
    classes: list[Classification] = [declared, *(rule.classification for rule in placements)]
    for kind, nature in detections:
        masking = [rule for rule in masks if not {"*", kind, nature}.isdisjoint(rule.kinds)]
        classes.append(masking[0].classification if masking else classify_kind(rules, kind, nature))
    return strictest(*classes)


def _rule_matches(rule: PlacementRule, module: str, namespace: str, path: str) -> bool:
    return (
        (not rule.module or rule.module == module)
        and (not rule.namespace or is_inside(namespace, rule.namespace))
        and (not rule.path or fnmatchcase(path, rule.path))
    )
