"""What the guard asks. The rooms that need a policy receive one that keeps these promises."""

from typing import Any, Protocol

from tokonoma.core.call import Principal
from tokonoma.core.desk import Document, Label
from tokonoma.core.module import Entry


class Policy(Protocol):
    @property
    def version(self) -> str: ...

    def may(self, who: Principal, entry: Entry) -> bool: ...

    def sees(self, who: Principal) -> tuple[Label, ...]: ...

    def label(self, document: Document) -> Label: ...

    def outgoing(self, who: Principal, value: Any) -> Any: ...
