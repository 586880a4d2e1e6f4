"""The interfaces of this package: to embedding models, and to the store of their vectors."""

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from tokonoma.core.desk import Rows, Statements
from tokonoma.core.embedding import EmbeddedDocument, StoredModel
from tokonoma.core.errors import Unavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

# numpy is imported inside functions: a process that never needs a vector must not pay for it.

TextKind = Literal["document", "query"]  # some models embed queries and documents differently
PROBE = "Tokonoma asks which model this is. 床の間は、どのモデルかを尋ねます。"
"""Embedded now and then: as long as its vector stays the same, it is still the same model that answers."""

_SAME = 0.95  # the same model in another precision, or on other hardware, stays above; another model is far below


class ProviderUnavailable(Unavailable):
    """The provider does not answer, or asks to wait. The same texts may be sent again later."""

    def __init__(self, message: str, *, reason: str = "embedder", retry_after: float | None = None) -> None:
        super().__init__(message, reason=reason)
        self.retry_after = retry_after


class UnusableAnswer(Unavailable):
    """The provider answered, and the answer cannot be used: nothing of it is stored."""

    def __init__(self, message: str) -> None:
        super().__init__(message, reason="embedder_answer")


class Embedder(Protocol):
    """One model, used by several threads at once. Embedders with the same `model` give vectors that can be compared; it
    is stored with every vector. `dimension` is None until the first answer, unless it is configured. `batch_size` is
    how many texts it takes at once; texts longer than `chunk_length` characters are split into pieces."""

    model: str
    batch_size: int
    chunk_length: int

    @property
    def dimension(self) -> int | None: ...

    def embed(self, texts: Sequence[str], kind: TextKind, timeout: float | None = None) -> "Vectors":
        """One row of length 1 for each text, in order. Fails with ProviderUnavailable or UnusableAnswer. `timeout`:
        seconds that a waiting search has for one endpoint."""
        ...

    def close(self) -> None: ...


@runtime_checkable
class SubwordEmbedder(Protocol):
    """A model whose vectors are sums of vectors of parts of words: texts can also be compared part by part."""

    def list_subwords(self, texts: Sequence[str]) -> list[bytes]: ...
    def match_subwords(self, query: str, listed: Sequence[bytes]) -> list[float]: ...


class Backoff:
    """After a failure a provider rests, twice as long each time."""

    def __init__(self, first: float, most: float) -> None:
        self._first, self._most = first, most
        self._failures, self._until = 0, 0.0

    @property
    def is_resting(self) -> bool:
        return time.monotonic() < self._until

    def record_failure(self, retry_after: float | None = None) -> None:
        rest = min(self._first * 2**self._failures, self._most) if retry_after is None else retry_after
        self._failures = min(self._failures + 1, 10)
        self._until = time.monotonic() + rest

    def record_success(self) -> None:
        self._failures, self._until = 0, 0.0


def check_vectors(answer: Any, count: int, dimension: int | None) -> "Vectors":
    """The answer as rows of length 1; fails with UnusableAnswer if it is not exactly what was asked for."""
    import numpy as np

    try:
        with np.errstate(all="ignore"):
            rows = np.asarray(answer, dtype=np.float32)
    except (TypeError, ValueError, OverflowError) as error:  # ragged, or no numbers
        raise UnusableAnswer(
            "The embedding provider returned vectors that are not rows of numbers of equal length."
        ) from error
    if rows.ndim != 2 or rows.shape[0] != count or rows.shape[1] == 0:
        raise UnusableAnswer(f"The embedding provider returned an array of shape {rows.shape} for {count} texts.")
    if dimension is not None and rows.shape[1] != dimension:
        raise UnusableAnswer(
            f"The embedding provider returned vectors with {rows.shape[1]} dimensions; {dimension} were expected."
        )
    if not np.isfinite(rows).all():
        raise UnusableAnswer("The embedding provider returned numbers that are not finite.")
    # In 64 bits: the squares of large numbers do not fit into 32.
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    if not (lengths > 1e-12).all():
        raise UnusableAnswer("The embedding provider returned a vector of length 0.")
    return (rows / lengths[:, None]).astype(np.float32)


def is_same_model(one: "Vectors", other: "Vectors") -> bool:
    """Whether two vectors of the probe can be of the same model."""
    return one.shape == other.shape and float(one @ other) >= _SAME


def check_model(probe: "Vectors", model: StoredModel, advice: str = "") -> None:
    """Fails with UnusableAnswer if the model that answers is not the one that made the stored vectors."""
    import numpy as np

    if not is_same_model(probe, np.frombuffer(model.anchor, np.float32)):
        raise UnusableAnswer(
            f"The model that answers as {model.name} is not the one that made the stored vectors.{advice}"
        )


class VectorStore(Protocol):
    """Where vectors are stored: `VectorSearch`, which app/search.py passes in. `model` is the id of a model. Texts of
    deleted documents are left out; the two locks of documents do not wait, and return those that they could lock."""

    def read_texts(self, document_ids: Sequence[int], /) -> Mapping[int, tuple[str, str]]: ...
    def list_models(self, rows: Rows) -> Sequence[StoredModel]: ...
    def adopt(self, statements: Statements, name: str, config: str, anchor: "Vectors") -> None: ...
    def lock_active(self, statements: Statements, model: int, *, alone: bool = False) -> bool: ...
    def list_missing(self, rows: Rows, model: int, after: int, limit: int) -> Sequence[int]: ...
    def lock_for_change(self, statements: Statements, document_ids: Sequence[int]) -> set[int]: ...
    def lock_against_delete(self, statements: Statements, document_ids: Sequence[int]) -> set[int]: ...
    def save_backfill(self, statements: Statements, model: int, upto: int | None) -> None: ...
    def store_vectors(self, statements: Statements, model: int, documents: Sequence[EmbeddedDocument]) -> None: ...
    def maintain(self, model: int) -> None: ...
    def retire(self, model: int) -> bool: ...
