"""Indexes that PostgreSQL builds beside other transactions, which it does only outside of a transaction."""

from collections.abc import Sequence
from typing import LiteralString, cast

import psycopg

from tokonoma.store.database import Database
from tokonoma.store.postgres import PostgresDatabase
from tokonoma.store.postgres.connection import Connection, to_refusal

_VALID: LiteralString = """select i.indisvalid from pg_class c join pg_index i on i.indexrelid = c.oid
where c.relname = %s and c.relnamespace = quote_ident(current_schema())::regnamespace"""


def build_beside(database: Database, index: str, create: str, settings: Sequence[str]) -> bool:
    """`create` is the statement that creates the index. On a connection of its own: it may take many minutes, and the
    pool is small. If this process ends, the server gives up, and leaves an index that is not valid: the next one drops
    it. False: another process is building it."""
    assert isinstance(database, PostgresDatabase)
    connection = database.address.connect()
    try:
        # Not waited for: a build waits for every statement that began before it, also for one that waits for a lock.
        if connection.execute("select pg_try_advisory_lock(hashtext(%s))", (index,)).fetchone() != (1,):
            return False
        for each in settings:
            _run(connection, each)
        found = connection.execute(_VALID, (index,)).fetchone()
        if found == (1,):
            return True
        if found is not None:
            _run(connection, f"drop index concurrently {index}")
        _run(connection, create.replace("create index", "create index concurrently", 1))
    except psycopg.Error as error:
        raise to_refusal(error, None, "write") from error
    finally:
        connection.close()
    return True


def _run(connection: Connection, statement: str) -> None:
    connection.execute(cast(LiteralString, statement), prepare=False)
