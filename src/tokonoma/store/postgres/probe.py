"""Whether the server answers at all, asked on a connection of its own when a caller has waited a while."""

import selectors
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError

import psycopg
from psycopg.errors import ConnectionTimeout

from tokonoma.core.errors import Unavailable
from tokonoma.store.postgres.connection import Connection

_ANSWER = 0.2  # seconds for an empty query
_CONNECT = 0.25  # seconds for a new connection after that


def connect_aside(connect: Callable[[], Connection], use_late: Callable[[Connection], None]) -> Future[Connection]:
    """Connect on a thread: who waits for it can be told that it is in vain. `use_late` gets a connection that comes
    after that."""
    made: Future[Connection] = Future()

    def run() -> None:
        try:
            connection = connect()
        except BaseException as error:
            give_up(made, error)
            return
        try:
            made.set_result(connection)
        except InvalidStateError:
            use_late(connection)

    threading.Thread(target=run, name="tokonoma-connect", daemon=True).start()
    return made


def give_up(waiting: Future[Connection], error: BaseException) -> None:
    try:
        waiting.set_exception(error)
    except InvalidStateError:
        return  # it has ended meanwhile


class ServerProbe:
    """Keeps one connection. It is used by one thread; the connection that is kept first may have served before."""

    def __init__(self, connect: Callable[[], Connection], kept: Connection | None = None) -> None:
        self._connect = connect
        self._kept = kept
        self._opening: Future[Connection] | None = None

    def is_answered(self) -> bool:
        """Whether the server answers within half a second: an empty query, or with a new connection, in case that the
        old one is dead or a proxy keeps its queries waiting."""
        if self._ask() and self._hears(_ANSWER):
            return True
        if self._opening is None:
            self._opening = connect_aside(self._connect, Connection.close)
        try:
            fresh = self._opening.result(_CONNECT if self._kept is not None else _ANSWER + _CONNECT)
        except TimeoutError:
            return self._hears(0.0)  # what is being opened is asked for again the next time
        except Unavailable as error:
            self._opening = None
            # A refusal is an answer too; but where the server is silent, somebody before it has refused.
            return self._hears(0.0) if self._kept else not isinstance(error.__cause__, ConnectionTimeout)
        self._keep(fresh)
        return True

    def forget(self) -> None:
        """Do not ask on the old connection again: its server was away."""
        self._keep(None)

    def close(self) -> None:
        self._keep(None)
        if self._opening is not None:
            self._opening.add_done_callback(_close_made)

    def _keep(self, connection: Connection | None) -> None:
        old, self._kept = self._kept, connection
        if connection is not None:
            self._opening = None
        if old is not None:
            old.close()

    def _ask(self) -> bool:
        """Send an empty query; False if there is no connection to send it on."""
        if self._kept is None:
            return False
        try:
            self._kept.pgconn.send_query(b"")
        except psycopg.Error:
            self._keep(None)
            return False
        return True

    def _hears(self, seconds: float) -> bool:
        """Whether the query is answered. An answer that has come counts, however late this thread runs."""
        if self._kept is None:
            return False
        wire, until = self._kept.pgconn, time.monotonic() + seconds
        try:
            with selectors.DefaultSelector() as selector:
                selector.register(wire.socket, selectors.EVENT_READ)
                while True:
                    left = until - time.monotonic()
                    if not selector.select(max(0.0, left)):
                        if left <= 0:
                            return False
                        continue
                    wire.consume_input()
                    while not wire.is_busy():
                        if wire.get_result() is None:
                            return True
        except (psycopg.Error, OSError, ValueError):
            self._keep(None)  # closed by the other side
            return False


def _close_made(made: Future[Connection]) -> None:
    if not made.exception():
        made.result().close()
