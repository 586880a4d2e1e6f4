"""Reclassifying the records for a new policy in the background, one bounded batch per transaction.

The position is stored with each batch. Several processes may work at once: each takes the next batch. A killed process
loses only the batch that was not committed, and the next process that reads the policy goes on.
"""

import threading
import time
from collections.abc import Callable

from tokonoma.core.errors import Refusal, Unavailable
from tokonoma.core.log import log
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


class ReclassifyJob:
    """One object per process; its thread lives only while there is work."""

    def __init__(self, database: Database, policies: CurrentPolicy) -> None:
        self._database, self._policies = database, policies
        self._guard = threading.Lock()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        self._batch_size = BATCH_SIZE

    def wake(self) -> None:
        """There may be work."""
        with self._guard:
            if not self._closing.is_set() and (self._thread is None or not self._thread.is_alive()):
                self._thread = threading.Thread(target=self._run, name="tokonoma-relabel", daemon=True)
                self._thread.start()

    def run_until_done(self, seconds: float | None = None, on_batch: Callable[[], object] | None = None) -> bool:
        """Work in this thread for at most so many seconds. False: there is more work, and it goes on in the
        background."""
        until = None if seconds is None else time.monotonic() + seconds
        while self._run_batch():
            if on_batch is not None:
                on_batch()
            if until is not None and time.monotonic() >= until:
                self.wake()
                return False
        return True

    def close(self) -> None:
        self._closing.set()
        with self._guard:
            thread = self._thread
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        try:
            while not self._closing.is_set() and self._run_batch():
                pass
        except (
            Exception
        ) as error:  # records stay too strict rather than too open; the next reader of the policy retries
            log("error", "policy.relabel", error=type(error).__name__)

    def _run_batch(self) -> bool:
        """False: no work is left. A batch that meets a busy writer is tried again with fewer records."""
        self._policies.prepare()
        pause, activating = _MIN_PAUSE, False
        while not self._closing.is_set():
            begun = time.monotonic()
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
                    self._batch_size, pause = max(1, self._batch_size // 4), min(pause * 2, _MAX_PAUSE)
            except Refusal as error:
                log("error", "policy.relabel", reason=error.reason or error.kind)
                raise
            else:
                self._batch_size = min(BATCH_SIZE, self._batch_size * 2)
                # Pause as long as the batch took: the lock of an SQLite file is unfair to waiting writers.
                self._closing.wait(time.monotonic() - begun if more else 0.0)
                return more
            self._closing.wait(pause)
        return False
