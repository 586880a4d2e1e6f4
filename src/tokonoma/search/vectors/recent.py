"""The vectors of what this process has saved last: what was saved a second ago is compared, too, before its vector is
stored."""

import threading
from typing import TYPE_CHECKING

from tokonoma.search.vectors.store import QueryVector, VectorMatch

if TYPE_CHECKING:
    from tokonoma.search.vectors.store import Floats

_KEPT = 2_048  # as many as a client saves in the seconds until their codes are read


class RecentVectors:
    """One per process, by the addresses of records."""

    def __init__(self) -> None:
        self._records: list[tuple[str, str]] = []  # addresses and languages
        self._vectors: Floats | None = None  # one in each row
        self._model, self._next = 0, 0
        self._lock = threading.Lock()

    def compare(self, address: str, vector: QueryVector, language: str, least: float) -> dict[str, VectorMatch]:
        """The others that are so near; this one is among them the next time."""
        import numpy as np  # late: a process that embeds nothing does without

        with self._lock:
            if self._vectors is None or self._model != vector.model:
                self._vectors = np.zeros((_KEPT, len(vector.vector)), np.float32)
                self._records, self._model, self._next = [("", "")] * _KEPT, vector.model, 0
            cosines = self._vectors @ vector.vector
            near = [(*self._records[place], float(cosines[place])) for place in np.flatnonzero(cosines >= least)]
            self._records[self._next], self._vectors[self._next] = (address, language), vector.vector
            self._next = (self._next + 1) % _KEPT
        return {other: VectorMatch(cosine, said) for other, said, cosine in near if other != address}
