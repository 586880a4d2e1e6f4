"""What the words of a query are proposed by: the interface that both databases' words keep."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from tokonoma.core.desk import Rows, Statements
from tokonoma.search.filters import IndexFilter

_MODULE, _SPACE, _TITLE = "\uf8ffm", "\uf8ffs", "\uf8fft"  # no word begins with a private character


@dataclass(frozen=True, slots=True)
class TermProposal:
    terms: Mapping[str, float]  # each with its weight; a document that holds one of them is proposed
    tags: Sequence[str]  # all of which it must carry
    most: int  # that are likely to be looked at

    def list_weights(self) -> list[tuple[str, float]]:
        """Tokens and marks with what each adds: a term in the title counts twice."""
        return [(token, weight) for term, weight in self.terms.items() for token in (term, to_title_tag(term))]


class TermIndex(Protocol):
    """Which documents hold which tokens. Proposes documents, the most promising first."""

    def write(
        self, statements: Statements, document_id: int, counts: Mapping[str, int], marks: Collection[str], new: bool
    ) -> None: ...

    def erase(self, statements: Statements, document_id: int) -> None: ...

    def count_documents(self, rows: Rows, terms: Collection[str], documents: int) -> Mapping[str, int]:
        """How many documents hold each of these terms or marks, of so many; in a large store, nearly."""
        ...

    def propose(self, rows: Rows, proposal: TermProposal, filter: IndexFilter) -> Iterable[int]:
        """All that carry the marks. That they pass the rest of the filter is for the caller to check."""
        ...


def build_location_tags(module: str, space: str) -> list[str]:
    """Where a document lies, as tokens beside its words: its module, its space, and those above it.

    Its class is not among them: a new policy changes the classes of many records, whose words stay as they are.
    """
    parts = [part for part in space.split("/") if part]
    return [_MODULE + module, *(f"{_SPACE}/{'/'.join(parts[: n + 1])}" for n in range(len(parts)))]


def to_title_tag(token: str) -> str:
    """The mark of a document that has this token in its title: it is proposed before those that have it elsewhere."""
    return _TITLE + token


def build_filter_tags(filter: IndexFilter) -> list[str]:
    """The marks that every document inside a filter carries."""
    modules = [_MODULE + module for module in filter.modules or ()]
    return (modules if len(modules) == 1 else []) + [_SPACE + space for space in filter.namespaces]
