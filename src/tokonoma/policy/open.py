"""The policy that allows: in force until a policy is written. Records carry a class all the same."""

from typing import Any

from tokonoma.core.call import Principal
from tokonoma.core.desk import LABELS, Document, Label
from tokonoma.core.module import Entry


class OpenPolicy:
    """Every principal may call every tool that its credential shows, and sees every class inside its own root."""

    version = "open-1"

    def may(self, who: Principal, entry: Entry) -> bool:
        del who, entry
        return True

    def sees(self, who: Principal) -> tuple[Label, ...]:
        """The classes that this principal may read."""
        del who
        return LABELS

    def label(self, document: Document) -> Label:
        """The class that a document is stored under: never more open than its writer said."""
        return document.label

    def outgoing(self, who: Principal, value: Any) -> Any:
        """What of a result may leave."""
        del who
        return value
