"""The policy as the guard and the desk use it (Policy), and as a module sees it through its desk (DeskPolicy)."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from tokonoma.core.call import Principal
from tokonoma.core.desk import CLASSIFICATIONS, Classification, Document, SourceText, Tx
from tokonoma.core.errors import Refusal
from tokonoma.core.masks import RecordMasks
from tokonoma.core.module import ToolInfo

Layer = Literal["session", "project", "principle"]
LAYERS: tuple[Layer, ...] = ("session", "project", "principle")
AccessEffect = Literal["read", "write"]
ToolVerdict = Literal["allow", "ask", "deny"]
TOOL_VERDICTS: tuple[ToolVerdict, ...] = ("allow", "ask", "deny")
"""From open to closed."""


@dataclass(frozen=True, slots=True)
class Decision:
    verdict: Literal["deny", "redact", "allow"]
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
    """Number 0 is the policy in force before any was applied."""

    number: int
    version: str
    yaml: str
    applied_at: int
    applied_by: str
    approver: str
    rolled_back_to: str


@dataclass(frozen=True, slots=True)
class PolicyProposal:
    """A policy to be applied."""

    yaml: str
    expected_version: str | None = None
    approver: str = ""
    signature: str = ""


@dataclass(frozen=True, slots=True)
class PendingPolicy:
    """A policy that waits for the owner, because it loosens the one that it was made against."""

    id: str
    version: str  # that it asks for
    yaml: str
    follows: str  # the version that it was made against
    proposed_at: int
    proposed_by: str
    rolled_back_to: str
    loosens: Sequence[str]


@dataclass(frozen=True, slots=True)
class ReclassifyProgress:
    """How many records were reclassified. Before a policy is in force, records become stricter where they must; after
    that, milder where they may."""

    version: str
    in_force: bool
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class PolicyPreview:
    """What a policy would change: its lines, what it loosens, and how many records change classification or
    visibility."""

    version: str
    diff: Sequence[str]
    loosens: Sequence[str]
    records: int
    relabelled: Mapping[str, int]  # `internal → pii`: how many
    appear: int
    vanish: int


@dataclass(frozen=True, slots=True)
class PolicyView:
    """What one caller may see. Of what it sees, RecordMasks says what must be masked."""

    tags: tuple[str, ...]
    classifications: tuple[Classification, ...]
    other_view: "PolicyView | None" = None  # during a change of policy: what the other policy allows


UNRESTRICTED_VIEW = PolicyView(("*",), CLASSIFICATIONS)
"""For the owner's own commands: a backup or an export must be complete"""


@dataclass(frozen=True, slots=True)
class DocumentScan:
    """What was found in a document, by which detectors, the resulting classification, and what the index may hold."""

    kinds: str  # joined by spaces
    detectors_version: str
    classify: Callable[[Classification], Classification]  # from the one that its writer gave
    shown: Document  # without what is hidden from any caller
    private: Document | None = None  # with the personal data in it, if some callers may see that and others may not
    masked: str = ""  # the kinds that `shown` lacks, joined by spaces


@dataclass(frozen=True, slots=True)
class ScreenedValue:
    """A scanned value: what may pass of it, what was found (kind:hash), and the refusal if nothing may."""

    value: Any
    detections: Sequence[str] = ()
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True)
class ScreenedRecord:
    """The fields of a record, with redactions; the kinds that were redacted; the kinds that must not be stored, and in
    which fields they are."""

    fields: Mapping[str, Any]
    redacted: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    places: tuple[str, ...] = ()


class Policy(Protocol):
    @property
    def version(self) -> str: ...
    @property
    def number(self) -> int: ...  # increases with every policy that is applied

    def view_for(self, who: Principal) -> PolicyView: ...
    def check_allowed(self, who: Principal, entry: ToolInfo) -> None: ...  # raises if no tool of this module may run

    @property
    def judges_tools(self) -> bool: ...  # whether it has rules about tools

    def judge_tool(self, who: Principal, tool: ToolInfo, account: Callable[[], str] | None) -> ToolVerdict:
        """Whether a call runs, waits for an approval, or is refused. `account` finds the one that the call uses, empty
        for none; None: it is not known, and the strictest rule counts."""
        ...

    def for_tool(self, who: Principal, entry: ToolInfo) -> "Policy":
        """The policy that screens the texts of this call. Where the owner replaces the policy, its own detectors do not
        count: one that matches everything could never be removed."""
        ...

    def scan_document(self, document: Document) -> DocumentScan: ...

    def screen_arguments(
        self, view: PolicyView, module: str, arguments: Mapping[str, Any], writes: bool = True
    ) -> ScreenedValue:
        """What of these may be written, or the refusal. In a query secrets are masked (it may be stored too, in a trail
        or a cache), and what is hidden from the caller."""
        ...

    def build_masks(self, view: PolicyView) -> RecordMasks: ...

    def screen_result(self, view: PolicyView, value: Any, hint: Any = None, module: str = "") -> ScreenedValue:
        """What of a value may be sent; strings that `hint` types as Opaque are not scanned. With a `module`: what is
        hidden in every place of that module; without: what is hidden anywhere."""
        ...

    def screen_error(self, view: PolicyView, message: str, details: Mapping[str, Any]) -> ScreenedValue:
        """What of an error's message and details may be sent, as a pair. Keys are the program's own words and stay."""
        ...

    def classify(self, label: Classification, module: str, space: str, texts: Collection[str]) -> Classification: ...

    @property
    def masks_key(self) -> str: ...  # see DeskPolicy

    def mask_for_index(self, text: str, address: str, namespace: str) -> str:
        """A whole text without what is hidden from any caller, line for line."""
        ...

    def find_change(self, before: str, source: SourceText) -> int: ...  # see Tx


class DeskPolicy(Protocol):
    @property
    def version(self) -> str: ...
    @property
    def state(self) -> str: ...  # changes whenever something may be shown or hidden that was not before
    @property
    def tags(self) -> tuple[str, ...]: ...  # those that the caller holds
    @property
    def retrieval(self) -> RetrievalSettings: ...
    def layer_rule(self, layer: Layer) -> LayerRule: ...
    def find_tags_not_held(self, tags: Collection[str]) -> list[str]: ...
    def decide(
        self, tags: Collection[str], label: str, scope: Layer | None = None, effect: AccessEffect = "read"
    ) -> Decision: ...

    def judge_tool(self, tool: ToolInfo) -> ToolVerdict:
        """Whether the caller may use another tool, whose records it is shown in some other way."""
        ...

    def classify_document(self, document: Document) -> Classification:
        """The classification that the document would be indexed with."""
        ...

    @property
    def masks_key(self) -> str:
        """Another one whenever a text may have to be masked in another way than before, for any caller."""
        ...

    def mask_text(self, text: str, address: str, namespace: str) -> str:
        """A whole text as the caller may see it, line for line."""
        ...

    def find_hidden(self, text: str, address: str, namespace: str) -> list[tuple[int, int]]:
        """Where a whole text holds what `mask_text` masks: start and end, in order."""
        ...

    def screen_record(self, fields: Mapping[str, Any]) -> ScreenedRecord:
        """What may be stored of a record that did not come as the arguments of a call, such as an imported one."""
        ...

    def screen_edit(self, name: str, before: str, after: str) -> str:
        """What may be stored of a text after an edit; Denied says what the edit would complete, and in which line."""
        ...

    def redact(self, text: str) -> tuple[str, dict[str, int], Classification]:
        """The text with every detection masked; their number by kind; the resulting classification."""
        ...

    def check(self, yaml: str) -> str:
        """The version in this YAML; Invalid lists every problem with its place."""
        ...

    def preview(self, proposal: PolicyProposal) -> PolicyPreview: ...
    def prepare(self) -> None: ...  # to be called before the transaction that applies a policy
    def apply(self, tx: Tx, proposal: PolicyProposal) -> PolicyVersion | PendingPolicy: ...
    def rollback(self, tx: Tx, version: str, expected: str | None) -> PolicyVersion | PendingPolicy: ...
    def reclassify_records(self) -> ReclassifyProgress | None:
        """After the commit of `apply` or `rollback`: reclassify records for as long as a caller can wait. Returns the
        progress if that was not long enough; the rest happens in the background."""
        ...

    def progress(self) -> ReclassifyProgress | None: ...  # None when it is complete
    def current_version(self) -> PolicyVersion: ...
    def find_version(self, version: str) -> PolicyVersion: ...
    def list_versions(self, limit: int, before: int | None) -> list[PolicyVersion]: ...
