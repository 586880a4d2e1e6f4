"""What a search looks at: the codes of one model at one moment, and in a small store the vectors themselves.

Codes depend on the centre of the vectors that were there when it was computed. So what they propose depends on when
which vector was made, and on records that the caller may not see; where many records are about as near, that shows in
the hits. As long as the vectors are few they are held whole: then what is proposed depends on what is stored alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from tokonoma.search.tuning import TUNING
from tokonoma.search.vectors.codes import CodeQuery, Codes, Floats, RowNumbers, propose_rows, rank_rows

_MOST_BYTES = 4 << 20
"""4 096 vectors of 256 numbers: to compare all of them takes as long as to search their codes."""

_ROOM = 256  # rows, at first


class WholeVectors:
    """Rows in the same places as those of the codes, added behind the rows that other threads look at."""

    def __init__(self, dimension: int) -> None:
        self._rows: Floats = np.empty((0, dimension), np.float32)
        self._count, self._most = 0, _MOST_BYTES // (4 * dimension)

    def has_room(self, more: int) -> bool:
        return self._count + more <= self._most

    def add(self, vectors: Floats) -> bool:
        """False: they are too many."""
        end = self._count + len(vectors)
        if end > self._most:
            return False
        if end > len(self._rows):
            room = min(max(end, 2 * len(self._rows), _ROOM), self._most)
            rows = np.empty((room, self._rows.shape[1]), np.float32)
            rows[: self._count] = self._rows[: self._count]
            self._rows = rows
        self._rows[self._count : end] = vectors
        self._count = end
        return True

    def get_rows(self, count: int) -> Floats:
        return self._rows[:count]

    def measure_memory(self) -> int:
        return self._rows.nbytes


@dataclass(frozen=True, slots=True)
class CodeView:
    """What a search looks at while other threads may add rows."""

    codes: Codes
    ids: RowNumbers
    documents: RowNumbers
    blocked: NDArray[np.bool_] | None
    whole: Floats | None = None  # the vectors, if they are few

    @property
    def open_count(self) -> int:
        """Rows that a search may propose."""
        return len(self.ids) - (0 if self.blocked is None else int(np.count_nonzero(self.blocked)))

    def propose_ids(self, query: CodeQuery, wanted: int) -> RowNumbers:
        """Ids of vectors, the most promising first: many times as many as are wanted."""
        return self.ids[self._propose_rows(query, wanted)]

    def propose_documents(self, query: CodeQuery, wanted: int, *, quick: bool = False) -> list[int]:
        """Documents, the most promising first."""
        rows = (
            propose_rows(self.codes, query, self.blocked, wanted, rough=True)
            if quick and self.whole is None
            else self._propose_rows(query, wanted)
        )
        # A document may have several vectors: if they leave too few documents, there were few to begin with.
        return [*islice(dict.fromkeys(self.documents[rows].tolist()), wanted)]

    def _propose_rows(self, query: CodeQuery, wanted: int) -> RowNumbers:
        if self.whole is not None:
            return self._rank_whole(self.whole, query.vector)
        most = max(TUNING.coded, 8 * wanted, len(self.codes) // TUNING.coded_one_in)
        return propose_rows(self.codes, query, self.blocked, most)

    def _rank_whole(self, whole: Floats, vector: Floats) -> RowNumbers:
        """All of them. Not `@`: see compare_pieces. Of equals the newest is first, wherever its row stands."""
        places = np.arange(len(whole)) if self.blocked is None else np.flatnonzero(~self.blocked)
        cosines = np.einsum("ij,j->i", whole, vector)[places]
        return places[np.lexsort((-self.documents[places], -cosines))]

    def rank_documents(self, query: CodeQuery, documents: Sequence[int]) -> RowNumbers:
        """The same, of these documents alone."""
        among = np.isin(self.documents, np.asarray(documents, np.int64))
        if self.blocked is not None:
            among &= ~self.blocked
        return self.ids[rank_rows(self.codes, query, np.flatnonzero(among))]
