"""PostgreSQL: a pool of connections, the tables in the connection's own schema."""

import atexit
from contextlib import AbstractContextManager
from typing import Any, Literal, LiteralString

from psycopg_pool import ConnectionPool

from tokonoma.core.cancellation import CancelToken
from tokonoma.core.desk import Rows, Statements
from tokonoma.store.database import SpanFactory, trace_block
from tokonoma.store.dialect import POSTGRESQL, Dialect
from tokonoma.store.postgres.connection import Connection, PostgresAddress, check_server, configure_connection
from tokonoma.store.postgres.pool import CONNECTIONS, ConnectionLender
from tokonoma.store.postgres.transaction import PostgresReading, PostgresWriting

_SIZE = (
    "select coalesce(sum(pg_total_relation_size(oid)), 0) from pg_class"
    " where relnamespace = quote_ident(current_schema())::regnamespace and relkind = 'r'"
)
_INVALID = (
    "select c.relname::text from pg_index i join pg_class c on c.oid = i.indexrelid"
    " where c.relnamespace = quote_ident(current_schema())::regnamespace and not i.indisvalid order by 1"
)
_DAMAGED = "select coalesce(checksum_failures, 0) from pg_stat_database where datname = current_database()"


class PostgresDatabase:
    kind: Literal["postgresql"] = "postgresql"
    dialect: Dialect = POSTGRESQL

    def __init__(self, url: str, *, durable: bool = True, span: SpanFactory | None = None) -> None:
        self.address = PostgresAddress(url)
        self.location = self.address.display
        self._span = span
        # The first connection is made here, outside the pool, because the pool does not say why one fails.
        with self.address.connect() as connection:
            found = check_server(connection, self.location)
        self._pool: ConnectionPool[Connection] = ConnectionPool(
            kwargs=self.address.options,
            min_size=0,
            max_size=CONNECTIONS,
            open=True,
            configure=configure_connection,
            reconnect_timeout=30.0,
            num_workers=1,
            name="tokonoma",
        )
        self._lender = ConnectionLender(self._pool, self.location, _begin_write(durable, found))
        atexit.register(self.close)

    def reading(self, stop: CancelToken | None = None) -> AbstractContextManager[Rows]:
        block = PostgresReading(self._lender, stop)
        return block if self._span is None else trace_block(self._span, "store.read", block)

    def writing(self, stop: CancelToken | None = None) -> AbstractContextManager[Statements]:
        block = PostgresWriting(self._lender, stop)
        return block if self._span is None else trace_block(self._span, "store.write", block)

    def find_problems(self) -> list[str]:
        with self.reading() as tx:
            invalid = [str(row[0]) for row in tx.rows(_INVALID)]
            damaged = tx.row(_DAMAGED)
        problems = [f"the index {name} is not valid: run `reindex index {name}`" for name in invalid]
        if damaged is not None and damaged[0]:
            problems.append(f"the server has seen {damaged[0]} damaged pages in this database: restore a backup")
        return problems

    def size(self) -> int:
        with self.reading() as tx:
            row = tx.row(_SIZE)
        return int(row[0]) if row is not None else 0

    def close(self) -> None:
        """Quick, and safe to repeat."""
        atexit.unregister(self.close)
        self._pool.close(timeout=1.0)


def _begin_write(durable: bool, found: dict[str, Any]) -> LiteralString:
    begin: LiteralString = "begin isolation level read committed, read write; set local lock_timeout = '30s'"
    if not durable:
        return begin + "; set local synchronous_commit = off"
    # A server that acknowledges before it has written would lose what we have acknowledged in turn.
    return begin + "; set local synchronous_commit = on" if found["synchronous_commit"] == "off" else begin
