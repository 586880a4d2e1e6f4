"""What one caller may not see in the records that it may see."""

from collections.abc import Sequence
from typing import Protocol

from tokonoma.core.desk import Record, Row


class RecordMasks(Protocol):
    """What one caller may not see in the records that it may see. Texts are masked as a whole, before anything is cut
    from them, compared or sorted."""

    @property
    def sees_private(self) -> bool:
        """Whether no personal data is hidden from this caller."""
        ...

    def covers(self, module: str) -> bool:
        """Whether a record of this module that the caller may see can hold something that it may not."""
        ...

    def mask_text(self, text: str, module: str, namespace: str | None = None, path: str | None = None) -> str:
        """A whole text as this caller may see it, line for line. Without a place: as it may be seen in every place."""
        ...

    def find_hidden(self, text: str, module: str, namespace: str, path: str) -> list[tuple[int, int]]:
        """Where a whole text holds what `mask_text` masks: start and end, in order."""
        ...

    def mask_record(self, record: Record) -> Record: ...

    def mask_rows(
        self, rows: Sequence[Row], module: str, namespace_column: int | None = None, *, unclassified: bool = False
    ) -> list[Row]:
        """Rows of a module's tables with every text masked."""
        ...


class NoMasks:
    """For the owner's own commands."""

    sees_private = True

    def covers(self, module: str) -> bool:
        return False

    def mask_text(self, text: str, module: str, namespace: str | None = None, path: str | None = None) -> str:
        return text

    def find_hidden(self, text: str, module: str, namespace: str, path: str) -> list[tuple[int, int]]:
        return []

    def mask_record(self, record: Record) -> Record:
        return record

    def mask_rows(
        self, rows: Sequence[Row], module: str, namespace_column: int | None = None, *, unclassified: bool = False
    ) -> list[Row]:
        return list(rows)


NO_MASKS = NoMasks()
