"""Whether anything was written, by this process or another: every write has an entry in the journal."""

from collections.abc import Callable
from contextlib import AbstractContextManager

from tokonoma.core.clock import now
from tokonoma.core.desk import Rows

_WINDOW = 60_000  # milliseconds: a transaction may commit its entry late, and clocks of machines differ
_NEWEST = """select strand, max(seq) from journal where at >= :since and outcome = 'committed'
group by strand"""


class WriteWatch:
    """Each writer has a chain of its own, whose numbers only rise. So a write is seen whenever it commits."""

    def __init__(self, reading: Callable[[], AbstractContextManager[Rows]]) -> None:
        self._reading = reading
        self._seen: dict[str, int] = {}

    def has_changed(self) -> bool:
        """Whether there are writes that the last call has not seen."""
        with self._reading() as rows:
            newest = dict(rows.rows(_NEWEST, since=now() - _WINDOW))
        changed = any(seq > self._seen.get(chain, -1) for chain, seq in newest.items())
        self._seen = newest
        return changed
