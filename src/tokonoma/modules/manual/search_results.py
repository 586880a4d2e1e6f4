"""The results of earlier searches of the sections, as long as these do not change."""

import threading

_MAX_CACHED = 100_000  # positions and letters in the results: less than 10 MB
_ENTRY_SIZE = 50  # what an empty result counts

ResultKey = tuple[int, int, str, str]
"""first and last section, kind of search, text"""


class SearchResults:
    """The results of earlier searches. All are dropped when they get too large together: a frequent term is in every
    section, so their number says nothing of their size."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: dict[ResultKey, frozenset[int]] = {}
        self._size = 0

    def get(self, key: ResultKey) -> frozenset[int] | None:
        return self._found.get(key)

    def put(self, key: ResultKey, found: frozenset[int]) -> None:
        size = len(found) + len(key[3]) + _ENTRY_SIZE
        with self._lock:
            if self._size + size > _MAX_CACHED:
                self._found.clear()
                self._size = 0
            if key not in self._found:
                self._found[key] = found
                self._size += size
