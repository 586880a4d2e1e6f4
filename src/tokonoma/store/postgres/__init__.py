"""PostgreSQL, through psycopg: a pool of connections, the tables in the connection's own schema."""

import atexit
import threading
from contextlib import AbstractContextManager
from pathlib import Path
from typing import LiteralString

import psycopg

from tokonoma.core.concurrency import CancelToken
from tokonoma.core.desk import Rows, Statements
from tokonoma.store.database import SpanFactory, trace_block
from tokonoma.store.dialect import POSTGRESQL, DatabaseKind, Dialect
from tokonoma.store.fair_lock import FairLock
from tokonoma.store.postgres.connection import (
    Connection,
    PostgresAddress,
    check_server,
    is_lost,
    to_refusal,
)
from tokonoma.store.postgres.pool import PostgresPool
from tokonoma.store.postgres.statistics import update_statistics
from tokonoma.store.postgres.transaction import PostgresReading, PostgresWriting

CONNECTIONS = 8
RESERVED = 2
"""Connections that writers leave to readers: however many writers wait for each other, reads go on."""

_SIZE = (
    "select coalesce(sum(pg_total_relation_size(oid)), 0) from pg_class"
    " where relnamespace = quote_ident(current_schema())::regnamespace and relkind = 'r'"
)
_INVALID = (
    "select c.relname::text from pg_index i join pg_class c on c.oid = i.indexrelid"
    " where c.relnamespace = quote_ident(current_schema())::regnamespace and not i.indisvalid order by 1"
)
_DAMAGED = "select coalesce(checksum_failures, 0) from pg_stat_database where datname = current_database()"


class ConnectionLender:
    """Fair queues before the pool; waiting can be cancelled. A thread has one connection at a time: if those who have
    one could wait for another, all of them might wait for each other."""

    def __init__(self, pool: PostgresPool, begin_write: LiteralString) -> None:
        self.begin_write: LiteralString = begin_write
        self._pool = pool
        self._holders: set[int] = set()  # threads
        self._held: dict[Connection, int] = {}  # and which of them has it
        self._gate = FairLock(CONNECTIONS)
        self._write_gate = FairLock(CONNECTIONS - RESERVED)

    def begin_write_transaction(self, cancel_token: CancelToken | None) -> Connection:
        self._check_free()
        self._write_gate.acquire(cancel_token)
        try:
            return self.begin_transaction(self.begin_write, cancel_token)
        except BaseException:
            self._write_gate.release()
            raise

    def begin_transaction(self, statement: LiteralString, cancel_token: CancelToken | None) -> Connection:
        """A connection with an open transaction. A connection that died while idle is replaced."""
        self._check_free()
        self._gate.acquire(cancel_token)
        try:
            connection = self._begin_alive(statement)
        except BaseException as error:
            self._gate.release()
            if isinstance(error, psycopg.Error):
                raise to_refusal(error, cancel_token, "write") from error
            raise
        self._held[connection] = threading.get_ident()
        self._holders.add(threading.get_ident())
        return connection

    def _check_free(self) -> None:
        if threading.get_ident() in self._holders:
            raise RuntimeError("a block inside a block: pass the first one's statements on instead")

    def _begin_alive(self, statement: LiteralString) -> Connection:
        try:
            return self._begin(statement)
        except psycopg.Error as error:
            if not is_lost(error):
                raise
            self._pool.drop_idle()  # the others are probably dead too
        return self._begin(statement)

    def _begin(self, statement: LiteralString) -> Connection:
        connection = self._pool.take()
        try:
            connection.execute(statement, prepare=False)
        except BaseException:
            connection.close()
            self._pool.put(connection)
            raise
        return connection

    def release(self, connection: Connection, *, wrote: bool) -> None:
        self._holders.discard(self._held.pop(connection))
        self._pool.put(connection)
        self._gate.release()
        if wrote:
            self._write_gate.release()


class PostgresDatabase:
    kind: DatabaseKind = "postgresql"
    dialect: Dialect = POSTGRESQL

    def __init__(self, url: str, *, durable: bool = True, span: SpanFactory | None = None) -> None:
        self.address = PostgresAddress(url)
        self.location = self.address.display
        self._span = span
        first = self.address.connect()
        try:
            acknowledges_early = check_server(first)
        except BaseException:
            first.close()
            raise
        self._pool = PostgresPool(self.address.connect, first)
        self._lender = ConnectionLender(self._pool, _begin_write(durable, acknowledges_early))
        atexit.register(self.close)

    def reading(self, cancel_token: CancelToken | None = None) -> AbstractContextManager[Rows]:
        block = PostgresReading(self._lender, cancel_token)
        return block if self._span is None else trace_block(self._span, "store.read", block)

    def writing(self, cancel_token: CancelToken | None = None) -> AbstractContextManager[Statements]:
        block = PostgresWriting(self._lender, cancel_token)
        return block if self._span is None else trace_block(self._span, "store.write", block)

    def find_problems(self) -> list[str]:
        with self.reading() as tx:
            invalid = [str(row[0]) for row in tx.rows(_INVALID)]
            damaged = tx.row(_DAMAGED)
        problems = [f"the index {name} is not valid: run `reindex index {name}`" for name in invalid]
        if damaged is not None and damaged[0]:
            problems.append(f"the server has seen {damaged[0]} damaged pages in this database: restore a backup")
        return problems

    def has_checksums(self) -> bool:
        with self.reading() as tx:
            return tx.rows("show data_checksums") == [("on",)]

    def size(self) -> int:
        with self.reading() as tx:
            row = tx.row(_SIZE)
        return int(row[0]) if row is not None else 0

    def update_statistics(self) -> int:
        return update_statistics(self)

    def save_copy(self, target: Path, *, sound: bool = True) -> dict[str, int]:
        from tokonoma.store.postgres.backup import save_postgres

        del sound  # PostgreSQL has no copy of damaged data
        return save_postgres(self, target)

    def load_copy(self, source: Path) -> None:
        from tokonoma.store.postgres.backup import load_postgres

        load_postgres(self, source)

    def keep_reserve(self) -> None:
        return  # the disk is the server's

    def give_up_reserve(self) -> bool:
        return False

    def check_room(self) -> None:
        return

    def close(self) -> None:
        """Quick, and safe to repeat."""
        atexit.unregister(self.close)
        self._pool.close()


def _begin_write(durable: bool, acknowledges_early: bool) -> LiteralString:
    begin: LiteralString = "begin isolation level read committed, read write; set local lock_timeout = '30s'"
    if not durable:
        return begin + "; set local synchronous_commit = off"
    # A server that acknowledges before it writes could lose commits that we have acknowledged.
    return begin + "; set local synchronous_commit = on" if acknowledges_early else begin
