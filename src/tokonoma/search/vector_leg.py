"""What the shared index wants of whoever searches by vectors. The composition root hands such a leg in, or none."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from tokonoma.core.desk import Rows
from tokonoma.core.query import Metric
from tokonoma.search.filters import IndexFilter

EmbeddingState = Literal["embedded", "waiting", "none"]
"""Of one document: it has a vector of the model in use, it waits for one, or it will not get one."""

Vector = Any
"""A numpy array; numpy itself is not imported here."""


class VectorMatch(NamedTuple):
    """How near a document is to a question."""

    similarity: float  # of its nearest piece: cosine; or 1 / (1 + distance)
    language: str = ""  # of that piece; empty: nobody knows
    title: float | None = None  # the similarity of its title by itself, if it has one


class VectorSearcher(Protocol):
    def embed_query(self, text: str) -> Vector | None:
        """The vector of a question; None if it cannot be had now."""
        ...

    def find_nearest(
        self, rows: Rows, asked: Vector | int, filter: IndexFilter, metric: Metric, limit: int
    ) -> Sequence[tuple[int, VectorMatch]]:
        """The nearest documents, best first, all inside the filter. `asked` is a vector, or the id of a document whose
        own vector is meant."""
        ...

    def propose(self, rows: Rows, asked: Vector, filter: IndexFilter, limit: int) -> Sequence[int]:
        """So many documents that may well be the nearest, found in the cheapest way. Whether all of them lie inside the
        filter, and how near they are, is for the caller to see."""
        ...

    def compare(
        self, rows: Rows, asked: Vector | int, documents: Sequence[int], metric: Metric
    ) -> Mapping[int, VectorMatch]:
        """Of these documents, which words have found, those that are embedded. They lie inside the filter already."""
        ...

    def count_waiting(self, rows: Rows) -> int:
        """Documents whose vector is still to be made."""
        ...

    def get_state(self, rows: Rows, document_id: int) -> EmbeddingState: ...
