"""Leading the records to a new policy: beside everything else, a bounded piece a transaction, by whoever is there.

Where it is, is kept with each piece. Several processes may lead at once: each takes the next piece. Whoever is killed
loses the piece that was not committed, and the next process that asks for the policy goes on.
"""

import threading
import time
from collections.abc import Callable

from tokonoma.app.policy import CurrentPolicy
from tokonoma.app.reclassify import BATCH_SIZE
from tokonoma.core.errors import Refusal, Unavailable
from tokonoma.core.log import log
from tokonoma.store.database import Database

_WAIT = "set local lock_timeout = '200ms'"
"""On PostgreSQL a writer may hold a record's row and want that of its document, and we the other way round. Long before
the database would end one of both, we give way."""

_WAIT_TO_TURN = "set local lock_timeout = '800ms'"
"""To put a policy in force is to wait for every write under way, and those may take long: so nearly all of the time.
But who comes behind us may be waited for by those we wait for: we give way before the database looks for rings."""

_LATER, _LATEST = 0.02, 5.0  # seconds after a piece that could not be done


class ReclassifyJob:
    """One a process; its thread lives while there is something to do."""

    def __init__(self, database: Database, policing: CurrentPolicy) -> None:
        self._database, self._current_policy = database, policing
        self._guard = threading.Lock()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        self._batch_size = BATCH_SIZE

    def wake(self) -> None:
        """There may be something to do."""
        with self._guard:
            if not self._closing.is_set() and (self._thread is None or not self._thread.is_alive()):
                self._thread = threading.Thread(target=self._run, name="tokonoma-relabel", daemon=True)
                self._thread.start()

    def run_until_done(self, patience: float | None = None, told: Callable[[], object] | None = None) -> bool:
        """In this thread, for so many seconds, calling `told` after each piece. False: there is more to do, and it is
        gone on with beside."""
        until = None if patience is None else time.monotonic() + patience
        while self._run_batch():
            if told is not None:
                told()
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
        except Exception as error:  # the records stay too strict rather than too open; the next who asks tries again
            log("error", "policy.relabel", error=type(error).__name__)

    def _run_batch(self) -> bool:
        """False: nothing is left. A piece that meets a busy writer is tried again, smaller."""
        self._current_policy.prepare()
        pause, turning = _LATER, False
        while not self._closing.is_set():
            begun = time.monotonic()
            try:
                with self._database.writing() as statements:
                    turning = self._current_policy.is_activating(statements)
                    if self._database.kind == "postgresql":
                        statements.run(_WAIT_TO_TURN if turning else _WAIT)
                    more = self._current_policy.step(statements, self._batch_size)
            except Unavailable as error:
                if error.reason != "busy":
                    raise
                if not turning:
                    self._batch_size, pause = max(1, self._batch_size // 4), min(pause * 2, _LATEST)
            except Refusal as error:
                log("error", "policy.relabel", reason=error.reason or error.kind)
                raise
            else:
                self._batch_size = min(BATCH_SIZE, self._batch_size * 2)
                # As long as it took: on SQLite a file's lock is unfair, and who writes at once again gets it again.
                self._closing.wait(time.monotonic() - begun if more else 0.0)
                return more
            self._closing.wait(pause)
        return False
