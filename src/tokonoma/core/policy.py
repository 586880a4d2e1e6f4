"""What the guard and the desk ask of a policy. The rooms that need one receive one that keeps these promises."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tokonoma.core.call import Principal
from tokonoma.core.desk import LABELS, Document, Label
from tokonoma.core.errors import Refusal
from tokonoma.core.module import Entry


@dataclass(frozen=True, slots=True)
class View:
    """What one caller may see. Of the classes in `plain` it sees all; of the others some kinds are masked."""

    tags: tuple[str, ...]
    labels: tuple[Label, ...]
    plain: tuple[Label, ...]
    beside: "View | None" = None  # while records follow a new policy: what the other of the two lets it see

    @property
    def masks(self) -> bool:
        return len(self.plain) < len(self.labels)


WHOLE = View(("*",), LABELS, LABELS)
"""For the owner's own commands: a backup or an export that leaves things out is none."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What was found in a document, by which detectors, and the class that it therefore has."""

    kinds: str  # joined by spaces
    detectors: str
    label: Callable[[Label], Label]  # from what its writer said


@dataclass(frozen=True, slots=True)
class Cleared:
    """A value that was looked through: what is left of it, what was found (kind:hash), and why it must not pass."""

    value: Any
    found: Sequence[str] = ()
    refusal: Refusal | None = None


class Policy(Protocol):
    @property
    def version(self) -> str: ...

    def view(self, who: Principal) -> View: ...

    def may(self, who: Principal, entry: Entry) -> bool: ...

    def screened(self, view: View, arguments: Mapping[str, Any], writes: bool = True) -> Cleared:
        """What may be written of these, or the refusal if nothing may. Of what is only asked secrets are masked: a
        question may be kept too, in a trail or a cache."""
        ...

    def cleared(self, view: View, value: Any, hint: Any = None) -> Cleared:
        """What may leave of a value; strings that `hint` types as Plain are left alone."""
        ...

    def mark(self, document: Document) -> Mark: ...

    @property
    def number(self) -> int:
        """Counts up with every policy that is applied."""
        ...

    def label(self, label: Label, module: str, space: str, texts: Collection[str]) -> Label:
        """The class of texts that are kept there."""
        ...
