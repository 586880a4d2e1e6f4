"""Reclassifying the records for a new policy, one bounded batch per transaction.

The position is stored with each batch. Several processes may work at once: each takes the next batch. A killed process
loses only the batch that was not committed, and the next process that reads the policy goes on.
"""

import time
from collections.abc import Callable

from tokonoma.core.concurrency import Job
from tokonoma.core.errors import Unavailable
from tokonoma.policy.current import CurrentPolicy
from tokonoma.policy.reclassify import BATCH_SIZE
from tokonoma.store.database import Database

_LOCK_TIMEOUT = "set local lock_timeout = '200ms'"
"""On PostgreSQL a writer may hold the row of a record and wait for that of its document, while this job does the
reverse. The job gives way long before the database would detect a deadlock and abort one of both."""

_ACTIVATE_LOCK_TIMEOUT = "set local lock_timeout = '800ms'"
"""Putting a policy in force waits for every write under way, and those may take long. But later writers queue behind
this job and may block the writes that it waits for: it gives way before the database looks for deadlocks (1 s)."""

_MIN_PAUSE, _MAX_PAUSE = 0.02, 5.0  # seconds after a batch that met a busy writer


_LEASE = 5.0
"""Seconds: of several processes one works in the background; if it is killed, another goes on after that."""


class Reclassifier:
    """One object per process. `start` runs a job in the background."""

    def __init__(self, database: Database, policies: CurrentPolicy, start: Callable[[Job], None]) -> None:
        self._database, self._policies, self._start = database, policies, start
        self._batch_size, self._pause = BATCH_SIZE, _MIN_PAUSE

    def wake(self) -> None:
        """There may be work."""
        self._start(Job("reclassify", self.run_step, lease=_LEASE))

    def run_until_done(self, seconds: float | None = None, on_batch: Callable[[], object] | None = None) -> bool:
        """Work in this thread for at most so many seconds, calling `on_batch` after each batch. False: there is more
        work, and it goes on in the background."""
        until = None if seconds is None else time.monotonic() + seconds
        while (pause := self.run_step()) is not None:
            if on_batch is not None:
                on_batch()
            if until is not None and time.monotonic() + pause >= until:
                self.wake()
                return False
            time.sleep(pause)
        return True

    def run_step(self) -> float | None:
        """One batch: the seconds until the next one, None if no work is left. A batch that meets a busy writer is tried
        again with fewer records. Until all is done records stay too strict rather than too open."""
        self._policies.prepare()
        begun, activating = time.monotonic(), False
        try:
            with self._database.writing() as statements:
                activating = self._policies.is_activating(statements)
                if self._database.kind == "postgresql":
                    statements.run(_ACTIVATE_LOCK_TIMEOUT if activating else _LOCK_TIMEOUT)
                more = self._policies.step(statements, self._batch_size)
        except Unavailable as error:
            if error.reason != "busy":
                raise
            if not activating:
                self._batch_size, self._pause = max(1, self._batch_size // 4), min(self._pause * 2, _MAX_PAUSE)
            return self._pause
        self._batch_size, self._pause = min(BATCH_SIZE, self._batch_size * 2), _MIN_PAUSE
        # Pause as long as the batch took: the lock of an SQLite file is unfair to waiting writers.
        return time.monotonic() - begun if more else None
