"""Leading the records to a new policy: beside everything else, a bounded piece a transaction, by whoever is there.

Where it is, is kept with each piece. Several processes may lead at once: each takes the next piece. Whoever is killed
loses the piece that was not committed, and the next process that asks for the policy goes on.
"""

import threading
import time
from collections.abc import Callable

from tokonoma.app.policy import Policing
from tokonoma.app.reclassify import PIECE
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


class Relabeller:
    """One a process; its thread lives while there is something to do."""

    def __init__(self, database: Database, policing: Policing) -> None:
        self._database, self._policing = database, policing
        self._guard = threading.Lock()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        self._most = PIECE

    def wake(self) -> None:
        """There may be something to do."""
        with self._guard:
            if not self._closing.is_set() and (self._thread is None or not self._thread.is_alive()):
                self._thread = threading.Thread(target=self._run, name="tokonoma-relabel", daemon=True)
                self._thread.start()

    def settle(self, patience: float | None = None, told: Callable[[], object] | None = None) -> bool:
        """In this thread, for so many seconds, calling `told` after each piece. False: there is more to do, and it is
        gone on with beside."""
        until = None if patience is None else time.monotonic() + patience
        while self._piece():
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
            while not self._closing.is_set() and self._piece():
                pass
        except Exception as error:  # the records stay too strict rather than too open; the next who asks tries again
            log("error", "policy.relabel", error=type(error).__name__)

    def _piece(self) -> bool:
        """False: nothing is left. A piece that meets a busy writer is tried again, smaller."""
        self._policing.prepare()
        pause, turning = _LATER, False
        while not self._closing.is_set():
            begun = time.monotonic()
            try:
                with self._database.writing() as statements:
                    turning = self._policing.turning(statements)
                    if self._database.kind == "postgresql":
                        statements.run(_WAIT_TO_TURN if turning else _WAIT)
                    more = self._policing.step(statements, self._most)
            except Unavailable as error:
                if error.reason != "busy":
                    raise
                if not turning:
                    self._most, pause = max(1, self._most // 4), min(pause * 2, _LATEST)
            except Refusal as error:
                log("error", "policy.relabel", reason=error.reason or error.word)
                raise
            else:
                self._most = min(PIECE, self._most * 2)
                # As long as it took: on SQLite a file's lock is unfair, and who writes at once again gets it again.
                self._closing.wait(time.monotonic() - begun if more else 0.0)
                return more
            self._closing.wait(pause)
        return False
