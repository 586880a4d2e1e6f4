"""The one interface to whatever turns texts into vectors, and what every answer is checked for."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

from tokonoma.core.errors import Unavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

# numpy is imported inside functions: a process that never needs a vector must not pay for it.

TextKind = Literal["document", "query"]
"""Some models want to know what a text is for."""

PROBE = "Tokonoma asks which model this is. 床の間は、どのモデルかを尋ねます。"
"""Embedded now and then: as long as its vector stays where it was, it is still the same model that answers."""

_SAME = 0.95  # the same model in another precision, or on other hardware, stays above; another model is far below


class ProviderUnavailable(Unavailable):
    """The provider does not answer, or asks for patience. The same texts may be sent again later."""

    def __init__(self, message: str, *, reason: str = "embedder", retry_after: float | None = None) -> None:
        super().__init__(message, reason=reason)
        self.retry_after = retry_after


class UnusableAnswer(Unavailable):
    """The provider answered, and the answer cannot be used: nothing of it is stored."""

    def __init__(self, message: str) -> None:
        super().__init__(message, reason="embedder_answer")


class Embedder(Protocol):
    """One model. Used by several threads at once."""

    @property
    def model(self) -> str:
        """Stored with every vector; embedders with the same one give vectors that can be compared."""
        ...

    @property
    def dimension(self) -> int | None:
        """None until the first answer, where nobody said before."""
        ...

    @property
    def batch_size(self) -> int:
        """How many texts it takes at once."""
        ...

    @property
    def chunk_length(self) -> int:
        """How many characters one vector speaks for; longer texts are cut into pieces."""
        ...

    def embed(self, texts: Sequence[str], kind: TextKind, patience: float | None = None) -> "Vectors":
        """One row of length 1 for each text, in order, or Away or Unsound. `patience`: seconds, for one who waits."""
        ...

    def close(self) -> None: ...


def check_vectors(answer: Any, count: int, dimension: int | None) -> "Vectors":
    """The answer as rows of length 1; Unsound if it is not exactly what was asked for."""
    import numpy as np

    try:
        with np.errstate(all="ignore"):
            rows = np.asarray(answer, dtype=np.float32)
    except (TypeError, ValueError, OverflowError) as error:  # ragged, or no numbers
        raise UnusableAnswer("The vectors of the embedding provider are not rows of numbers of one length.") from error
    if rows.ndim != 2 or rows.shape[0] != count or rows.shape[1] == 0:
        raise UnusableAnswer(f"The embedding provider gave an answer of shape {rows.shape} for {count} texts.")
    if dimension is not None and rows.shape[1] != dimension:
        raise UnusableAnswer(
            f"The embedding provider gave {rows.shape[1]} numbers a vector where {dimension} were expected."
        )
    if not np.isfinite(rows).all():
        raise UnusableAnswer("The embedding provider gave numbers that are not finite.")
    # In 64 bits: the squares of large numbers do not fit into 32.
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    if not (lengths > 1e-12).all():
        raise UnusableAnswer("The embedding provider gave a vector without a direction.")
    return (rows / lengths[:, None]).astype(np.float32)


def is_same_model(one: "Vectors", other: "Vectors") -> bool:
    """Whether two vectors of the probe can be of the same model."""
    return one.shape == other.shape and float(one @ other) >= _SAME
