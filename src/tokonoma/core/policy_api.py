"""The boundary as a module sees it through its desk: what the policy in force says, and how it is changed."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from tokonoma.core.desk import Classification, Tx

Layer = Literal["session", "project", "principle"]
LAYERS: tuple[Layer, ...] = ("session", "project", "principle")
Verdict = Literal["deny", "redact", "allow"]
AccessEffect = Literal["read", "write"]


@dataclass(frozen=True, slots=True)
class Decision:
    verdict: Verdict
    reason: str


@dataclass(frozen=True, slots=True)
class LayerRule:
    ttl: int | None  # milliseconds; None: for ever
    max_tokens: int


@dataclass(frozen=True, slots=True)
class RetrievalSettings:
    alpha: float | None = None  # None: by the look of the query
    k_txt: int = 48
    k_vec: int = 96
    k_final: int = 12
    use_quality: bool = False
    half_life_days: float = 30.0
    half_life_by_kind: Mapping[str, float] = field(
        default_factory=lambda: {"fact": 120.0, "task": 14.0, "preference": 90.0, "policy_hint": 365.0}
    )


@dataclass(frozen=True, slots=True)
class PolicyVersion:
    """Number 0 is the policy that is in force before any was applied."""

    number: int
    version: str
    yaml: str
    applied_at: int
    applied_by: str
    approver: str
    rolled_back_to: str


@dataclass(frozen=True, slots=True)
class PolicyProposal:
    """A policy that somebody wants to be in force."""

    yaml: str
    expected_version: str | None = None
    approver: str = ""
    signature: str = ""


@dataclass(frozen=True, slots=True)
class ReclassifyProgress:
    """How far the records have followed a policy. Before it is in force, those that must be stricter become so; then
    those that may be milder."""

    version: str
    in_force: bool
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class PolicyPreview:
    """What a policy would change: the lines that differ, and how many records change class or visibility."""

    version: str
    diff: Sequence[str]
    records: int
    relabelled: Mapping[str, int]  # `internal → pii`: how many
    appear: int
    vanish: int


class DeskPolicy(Protocol):
    @property
    def version(self) -> str: ...
    @property
    def tags(self) -> tuple[str, ...]:
        """The tags that the caller holds."""
        ...

    @property
    def retrieval(self) -> RetrievalSettings: ...

    def layer_rule(self, layer: Layer) -> LayerRule: ...

    def find_tags_not_held(self, tags: Collection[str]) -> list[str]:
        """Those that the caller does not hold."""
        ...

    def decide(
        self, tags: Collection[str], label: str, scope: Layer | None = None, effect: AccessEffect = "read"
    ) -> Decision: ...

    def redact(self, text: str) -> "tuple[str, dict[str, int], Classification]":
        """Every find masked; how many there were of each kind; the class that they mean."""
        ...

    def check(self, yaml: str) -> str:
        """The version that it asks for; Invalid tells every problem with its place."""
        ...

    def preview(self, proposal: PolicyProposal) -> PolicyPreview: ...
    def prepare(self) -> None:
        """To be called before the transaction in which a policy comes into force."""
        ...

    def apply(self, tx: "Tx", proposal: PolicyProposal) -> PolicyVersion: ...
    def rollback(self, tx: "Tx", version: str, expected: str | None) -> PolicyVersion: ...
    def reclassify_records(self) -> ReclassifyProgress | None:
        """After `apply` or `rollback` was committed: lead the records to it, for as long as a caller can wait. How far
        they are if that was not long enough; they go on by themselves."""
        ...

    def progress(self) -> ReclassifyProgress | None:
        """How far the records are; None where they have arrived."""
        ...

    def current_version(self) -> PolicyVersion: ...
    def find_version(self, version: str) -> PolicyVersion: ...
    def list_versions(self, limit: int, before: int | None) -> list[PolicyVersion]: ...
