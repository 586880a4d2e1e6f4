"""A policy as values: what the YAML says, and the one that is in force before anybody writes one."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from tokonoma.core.desk import CLASSIFICATIONS, Classification
from tokonoma.core.policy import AccessEffect, Layer, LayerRule, RetrievalSettings

Escalation = Literal["none", "human_review", "deny"]
WriteAction = Literal["allow", "redact", "refuse"]

DAY = 86_400_000


@dataclass(frozen=True, slots=True)
class ClassRule:
    allow: tuple[str, ...]
    redact: tuple[str, ...] = ()  # kinds of finds, or `pii`, `secret`, `*`
    escalation: Escalation = "none"


@dataclass(frozen=True, slots=True)
class PlacementRule:
    """What matches all that is named gets at least this class."""

    classification: Classification
    module: str = ""
    namespace: str = ""  # this namespace and those below it
    path: str = ""  # a glob over what follows `tokonoma://module/`


@dataclass(frozen=True, slots=True)
class MaskRule:
    """In what matches all that is named, finds of these kinds mean this class, and nobody sees them but masked."""

    kinds: tuple[str, ...]  # kinds of finds, or `pii`, `secret`, `*`
    classification: Classification = "pii"
    module: str = ""
    namespace: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True)
class Invariant:
    """Holds whatever `allow` says."""

    classification: Classification
    scope: Layer | None = None
    deny: tuple[AccessEffect, ...] = ("read", "write")


@dataclass(frozen=True, slots=True)
class CustomDetector:
    """A detector that the policy brings."""

    kind: str
    nature: Literal["pii", "secret"]
    pattern: str


@dataclass(frozen=True, slots=True)
class WriteRules:
    secret: WriteAction = "refuse"  # noqa: S105 - a word of the policy
    pii: WriteAction = "allow"


@dataclass(frozen=True, slots=True)
class PolicyRules:
    version: str
    layers: Mapping[Layer, LayerRule]
    class_rules: Mapping[Classification, ClassRule]
    placements: tuple[PlacementRule, ...] = ()
    masks: tuple[MaskRule, ...] = ()  # the first that fits counts; `classes` redact what they say
    invariants: tuple[Invariant, ...] = ()
    callers: tuple[tuple[str, tuple[str, ...]], ...] = ()  # who (a glob), the tags that it holds; the first counts
    detectors: tuple[CustomDetector, ...] = ()
    kinds: Mapping[str, Classification] = field(
        default_factory=dict[str, Classification]
    )  # the class that a kind of find means
    writes: WriteRules = WriteRules()
    retrieval: RetrievalSettings = field(default_factory=RetrievalSettings)


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
"""What a caller holds of whom the policy says nothing."""

DEFAULT_RULES = PolicyRules("0.1.0", LAYER_RULES, CLASS_RULES)
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


def apply_masks(
    classes: Mapping[Classification, ClassRule], masks: Iterable[MaskRule]
) -> dict[Classification, ClassRule]:
    """The classes, of which those that masked finds mean are given out without these."""
    made = dict(classes)
    for rule in masks:
        old = made[rule.classification]
        made[rule.classification] = replace(old, redact=tuple(dict.fromkeys((*old.redact, *rule.kinds))))
    return made


def strictest(labels: Iterable[Classification]) -> Classification:
    return CLASSIFICATIONS[max(CLASSIFICATIONS.index(label) for label in labels)]
