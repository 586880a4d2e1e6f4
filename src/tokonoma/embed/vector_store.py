"""What the worker and the queries need from the room that stores vectors; the composition root hands it in."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from tokonoma.core.desk import Rows, Statements

if TYPE_CHECKING:
    from tokonoma.embed.embedder import Vectors


class EmbeddingModel(Protocol):
    """A model whose vectors are, or will be, stored."""

    @property
    def id(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def dimension(self) -> int: ...
    @property
    def config(self) -> str:
        """How to embed with it again: a Recipe as JSON."""
        ...

    @property
    def anchor(self) -> "Vectors":
        """The probe's vector: what tells one model from another of the same name."""
        ...

    @property
    def current(self) -> bool:
        """New vectors are of this model."""
        ...

    @property
    def backfilled_to(self) -> int | None:
        """Documents up to this one have been asked for; None: all have."""
        ...


class VectorStore(Protocol):
    """Models are named by their ids."""

    def read_texts(self, rows: Rows, document_ids: Sequence[int], /) -> Mapping[int, tuple[str, str]]:
        """What to embed of each, its title and its text; those that have gone are left out."""
        ...

    def list_models(self, rows: Rows) -> Sequence[EmbeddingModel]: ...

    def adopt(self, statements: Statements, name: str, recipe: str, anchor: "Vectors") -> None:
        """From now on new vectors are of this model, and every document is to have one."""
        ...

    def list_missing(self, rows: Rows, model: int, after: int, limit: int) -> Sequence[int]:
        """The next documents without a vector of this model, in order."""
        ...

    def lock_for_change(self, statements: Statements, document_ids: Sequence[int]) -> set[int]:
        """Those that nobody is changing just now; nobody will until the transaction ends. Nobody is waited for."""
        ...

    def lock_against_delete(self, statements: Statements, document_ids: Sequence[int]) -> set[int]:
        """Those that nobody is deleting just now; nobody will until the transaction ends. Nobody is waited for."""
        ...

    def save_backfill(self, statements: Statements, model: int, upto: int | None) -> None: ...

    def store_vectors(
        self,
        statements: Statements,
        model: int,
        document_id: int,
        vectors: "Vectors",
        texts: Sequence[str],
        titled: bool = False,
    ) -> None:
        """In place of those that the document had of this model: one row for each of its pieces, whose texts are
        given, too. `titled`: the first is the title by itself."""
        ...

    def maintain(self, model: int) -> None:
        """Housekeeping after vectors were stored; quick if there is nothing to do."""
        ...

    def retire(self, model: int) -> bool:
        """Delete a portion of what other models have left behind. Whether there was something to do."""
        ...
