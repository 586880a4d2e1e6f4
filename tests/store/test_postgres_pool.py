"""The pool of connections: nobody waits for a server that is away, and connections that nobody uses are closed."""

import threading
from collections.abc import Callable

import psycopg
import pytest

from tokonoma.core.errors import Unavailable
from tokonoma.store.database import store_error
from tokonoma.store.postgres.pool import PostgresPool


def until(met: Callable[[], bool]) -> None:
    """Without a time limit: a test that hangs is seen by whoever runs it."""
    pause = threading.Event()
    while not met():
        pause.wait(0.01)


def test_while_the_server_is_away_nobody_waits_for_a_connection(postgres_at: str) -> None:
    """The thread that looks for the server is the only one that tries to connect."""
    tried: list[str] = []
    gate = threading.Event()

    def connect() -> psycopg.Connection:
        tried.append(threading.current_thread().name)
        if not gate.is_set():
            raise store_error("database")
        return psycopg.connect(postgres_at, autocommit=True)

    pool = PostgresPool(connect)
    for _ in range(100):
        with pytest.raises(Unavailable) as refused:
            pool.take()
        assert refused.value.details == {"retry_after": 1}
    assert tried.count("tokonoma-connect") == 1
    gate.set()
    until(lambda: "tokonoma-reconnect" in tried and not pool._is_away)
    until(lambda: len(pool._idle) == 1)
    connection = pool.take()
    assert connection.execute("select 1").fetchone() == (1,)
    assert tried.count("tokonoma-connect") == 1
    pool.put(connection)
    pool.close()


def test_a_connection_is_used_again_and_closed_when_nobody_uses_it(postgres_at: str) -> None:
    pool = PostgresPool(lambda: psycopg.connect(postgres_at, autocommit=True))
    first = pool.take()
    pool.put(first)
    pool.drop_idle(3_600)
    assert pool.take() is first
    pool.put(first)
    pool.drop_idle()
    assert first.closed
    second = pool.take()
    pool.close()
    pool.put(second)  # returned after the end
    assert second.closed
    with pytest.raises(Unavailable, match="closed"):
        pool.take()
