"""A document as the index writes it."""

from dataclasses import dataclass
from functools import cached_property

from tokonoma.core.desk import Classification, Document
from tokonoma.core.policy import DocumentScan
from tokonoma.search.facts import FactCells, build_fact_cells
from tokonoma.search.text.tokenize import PRIVATE, TermCounts, count_terms


@dataclass(frozen=True)
class PreparedDocument:
    """A document, and what the index holds of it: what every caller may see, and what only some may search by. Its
    terms take the most time: where that matters, they are made before the transaction."""

    document: Document
    mark: Classification | DocumentScan

    @property
    def is_part(self) -> bool:
        """Of a file: its parts come many at once."""
        return self.document.source is not None

    @cached_property
    def terms(self) -> TermCounts:
        shown, private = self._get_parts()
        return count_terms(shown.text, shown.title, private and (private.text, private.title))

    @cached_property
    def facts(self) -> set[FactCells]:
        shown, private = self._get_parts()
        facts = build_fact_cells(shown.facts)
        own = build_fact_cells(private.facts) - facts if private is not None else set[FactCells]()
        return facts | {(PRIVATE + key, text, number) for key, text, number in own}

    def _get_parts(self) -> tuple[Document, Document | None]:
        mark = self.mark
        return (mark.shown, mark.private) if isinstance(mark, DocumentScan) else (self.document, None)
