"""PostgreSQL: a pool of connections, the tables in the connection's own schema."""

import atexit
from contextlib import AbstractContextManager
from typing import Any, Literal, LiteralString

from psycopg_pool import ConnectionPool

from tokonoma.core.cancellation import Stop
from tokonoma.core.desk import Rows, Statements
from tokonoma.store.database import Span, traced
from tokonoma.store.dialect import POSTGRESQL, Dialect
from tokonoma.store.postgres.connection import Address, Connection, checked, configure
from tokonoma.store.postgres.pool import CONNECTIONS, Lender
from tokonoma.store.postgres.transaction import Reading, Writing

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

    def __init__(self, url: str, *, durable: bool = True, span: Span | None = None) -> None:
        self.address = Address(url)
        self.where = self.address.shown
        self._span = span
        # The first connection is made here, outside the pool, because the pool does not say why one fails.
        with self.address.connect() as connection:
            found = checked(connection, self.where)
        self._pool: ConnectionPool[Connection] = ConnectionPool(
            kwargs=self.address.options,
            min_size=0,
            max_size=CONNECTIONS,
            open=True,
            configure=configure,
            reconnect_timeout=30.0,
            num_workers=1,
            name="tokonoma",
        )
        self._lender = Lender(self._pool, self.where, _begin_write(durable, found))
        atexit.register(self.close)

    def reading(self, stop: Stop | None = None) -> AbstractContextManager[Rows]:
        block = Reading(self._lender, stop)
        return block if self._span is None else traced(self._span, "store.read", block)

    def writing(self, stop: Stop | None = None) -> AbstractContextManager[Statements]:
        block = Writing(self._lender, stop)
        return block if self._span is None else traced(self._span, "store.write", block)

    def check(self) -> list[str]:
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
