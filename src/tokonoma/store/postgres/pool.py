"""Lending connections to PostgreSQL: the driver's pool behind a fair gate."""

import threading
from typing import LiteralString

import psycopg
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from tokonoma.core.cancellation import Stop
from tokonoma.store import errors as refusals
from tokonoma.store.fair_lock import Turn
from tokonoma.store.postgres.connection import Connection, is_lost, refusal

CONNECTIONS = 8
_ANSWER = 10.0  # seconds that a new connection may take


class Lender:
    """Who waits for a connection can be told to stop. `writing` remembers which threads are in a writing block."""

    def __init__(self, pool: ConnectionPool[Connection], where: str, begin_write: LiteralString) -> None:
        self.where = where
        self.begin_write: LiteralString = begin_write
        self.writing = threading.local()
        self._pool = pool
        self._gate = Turn(CONNECTIONS)

    def begun(self, words: LiteralString, stop: Stop | None) -> Connection:
        """A connection with a transaction. One that has died while idle is replaced: nothing was sent on it."""
        self._gate.take(stop)
        try:
            try:
                return self._begin(words)
            except psycopg.Error as error:
                if not is_lost(error):
                    raise
                self._pool.check()  # the others have most likely gone too
            return self._begin(words)
        except BaseException as error:
            self._gate.leave()
            if isinstance(error, psycopg.Error):
                raise refusal(error, self.where, stop, "write") from error
            raise

    def _begin(self, words: LiteralString) -> Connection:
        try:
            connection = self._pool.getconn(timeout=_ANSWER)
        except PoolClosed as error:
            raise refusals.closed() from error
        except PoolTimeout as error:
            raise refusals.lost(self.where) from error
        try:
            connection.execute(words, prepare=False)
        except BaseException:
            connection.close()
            self._pool.putconn(connection)
            raise
        return connection

    def give(self, connection: Connection) -> None:
        self._pool.putconn(connection)
        self._gate.leave()
