"""Lending connections to PostgreSQL: the driver's pool behind a fair gate."""

import threading
from typing import LiteralString

import psycopg
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from tokonoma.core.cancellation import CancelToken
from tokonoma.store import errors as refusals
from tokonoma.store.fair_lock import FairLock
from tokonoma.store.postgres.connection import Connection, is_lost, to_refusal

CONNECTIONS = 8
_ANSWER = 10.0  # seconds that a new connection may take


class ConnectionLender:
    """Who waits for a connection can be told to stop. `writing` remembers which threads are in a writing block."""

    def __init__(self, pool: ConnectionPool[Connection], where: str, begin_write: LiteralString) -> None:
        self.location = where
        self.begin_write: LiteralString = begin_write
        self.writing = threading.local()
        self._pool = pool
        self._gate = FairLock(CONNECTIONS)

    def begin_transaction(self, words: LiteralString, stop: CancelToken | None) -> Connection:
        """A connection with a transaction. One that has died while idle is replaced: nothing was sent on it."""
        self._gate.acquire(stop)
        try:
            try:
                return self._begin(words)
            except psycopg.Error as error:
                if not is_lost(error):
                    raise
                self._pool.check()  # the others have most likely gone too
            return self._begin(words)
        except BaseException as error:
            self._gate.release()
            if isinstance(error, psycopg.Error):
                raise to_refusal(error, self.location, stop, "write") from error
            raise

    def _begin(self, words: LiteralString) -> Connection:
        try:
            connection = self._pool.getconn(timeout=_ANSWER)
        except PoolClosed as error:
            raise refusals.closed_error() from error
        except PoolTimeout as error:
            raise refusals.connection_lost_error(self.location) from error
        try:
            connection.execute(words, prepare=False)
        except BaseException:
            connection.close()
            self._pool.putconn(connection)
            raise
        return connection

    def release(self, connection: Connection) -> None:
        self._pool.putconn(connection)
        self._gate.release()
