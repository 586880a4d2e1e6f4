"""What the guard and the desk ask of a policy. The rooms that need one receive one that keeps these promises."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tokonoma.core.call import Principal
from tokonoma.core.desk import CLASSIFICATIONS, Classification, Document
from tokonoma.core.errors import Refusal
from tokonoma.core.module import ToolInfo


@dataclass(frozen=True, slots=True)
class PolicyView:
    """What one caller may see. Of the classes in `plain` it sees all; of the others some kinds are masked."""

    tags: tuple[str, ...]
    classifications: tuple[Classification, ...]
    unmasked: tuple[Classification, ...]
    other_view: "PolicyView | None" = None  # while records follow a new policy: what the other of the two lets it see

    @property
    def is_partly_masked(self) -> bool:
        return len(self.unmasked) < len(self.classifications)


UNRESTRICTED_VIEW = PolicyView(("*",), CLASSIFICATIONS, CLASSIFICATIONS)
"""For the owner's own commands: a backup or an export that leaves things out is none."""


@dataclass(frozen=True, slots=True)
class DocumentScan:
    """What was found in a document, by which detectors, and the class that it therefore has."""

    kinds: str  # joined by spaces
    detectors_version: str
    classify: Callable[[Classification], Classification]  # from what its writer said


@dataclass(frozen=True, slots=True)
class ScreenedValue:
    """A value that was looked through: what is left of it, what was found (kind:hash), and why it must not pass."""

    value: Any
    detections: Sequence[str] = ()
    refusal: Refusal | None = None


class Policy(Protocol):
    @property
    def version(self) -> str: ...

    def view_for(self, who: Principal) -> PolicyView: ...

    def allows(self, who: Principal, entry: ToolInfo) -> bool: ...

    def screen_arguments(self, view: PolicyView, arguments: Mapping[str, Any], writes: bool = True) -> ScreenedValue:
        """What may be written of these, or the refusal if nothing may. Of what is only asked secrets are masked: a
        question may be kept too, in a trail or a cache."""
        ...

    def screen_result(self, view: PolicyView, value: Any, hint: Any = None) -> ScreenedValue:
        """What may leave of a value; strings that `hint` types as Plain are left alone."""
        ...

    def scan_document(self, document: Document) -> DocumentScan: ...

    @property
    def number(self) -> int:
        """Counts up with every policy that is applied."""
        ...

    def classify(self, label: Classification, module: str, space: str, texts: Collection[str]) -> Classification:
        """The class of texts that are kept there."""
        ...
