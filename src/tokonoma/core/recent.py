"""Results that callers who may only read come back for: kept in the memory of this process instead of the store."""

import threading

_MAX_RESULTS = 200


class RecentResults:
    """The last results, each for one principal and until a time in milliseconds. A restart forgets them."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], tuple[int, str]] = {}
        self._lock = threading.Lock()

    def put(self, principal: str, result_id: str, result: str, until: int) -> None:
        with self._lock:
            self._kept[principal, result_id] = until, result
            while len(self._kept) > _MAX_RESULTS:
                del self._kept[next(iter(self._kept))]

    def get(self, principal: str, result_id: str, at: int) -> str | None:
        """None if there is no such result of this principal, or its time is over."""
        with self._lock:
            until, result = self._kept.get((principal, result_id), (at, ""))
        return result if until > at else None
