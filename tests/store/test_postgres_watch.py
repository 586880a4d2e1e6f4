"""A server that stops answering: who waits for it is told, and who only waits for a slow statement is not."""

import threading
from collections.abc import Generator

import psycopg
import pytest
from store.proxy import SilentNetwork
from store.test_postgres_pool import until

from tokonoma.core.errors import Unavailable
from tokonoma.store.database import Database, open_database
from tokonoma.store.postgres import probe, watch
from tokonoma.store.postgres.connection import PostgresAddress
from tokonoma.store.postgres.pool import PostgresPool
from tokonoma.store.postgres.probe import ServerProbe


@pytest.fixture
def network(postgres) -> Generator[SilentNetwork]:
    made = SilentNetwork(f"{postgres._sockets}/.s.PGSQL.5432")
    yield made
    made.close()


@pytest.fixture
def url(network: SilentNetwork, postgres_at: str) -> str:
    database = postgres_at.partition("@/")[2].partition("?")[0]
    return f"postgresql://postgres@127.0.0.1:{network.port}/{database}"


@pytest.fixture
def database(url: str, network: SilentNetwork) -> Generator[Database]:
    opened = open_database(url, durable=False)
    with opened.writing() as statements:
        statements.run("create table note (text text)")
    yield opened
    network.go_on()
    opened.close()


def count_notes(postgres_at: str) -> int:
    with psycopg.connect(postgres_at) as connection:
        found = connection.execute("select count(*) from note").fetchone()
        assert found is not None
        return found[0]


def is_reachable(database: Database) -> bool:
    try:
        with database.reading() as rows:
            return rows.rows("select 1") == [(1,)]
    except Unavailable:
        return False


def assert_away(error: Unavailable, network: SilentNetwork) -> None:
    assert error.reason == "database"
    assert error.details["retry_after"] == 1
    assert "127.0.0.1" not in error.message
    assert str(network.port) not in error.message


def test_the_time_limits_leave_a_caller_an_answer_within_a_second() -> None:
    assert watch._LONG + watch._LOOK + probe._ANSWER + probe._CONNECT < 0.8


@pytest.mark.parametrize("ways", [("to_server",), ("to_client",), ()])
def test_a_read_on_a_silent_server_is_refused_and_works_again_later(
    database: Database, network: SilentNetwork, ways
) -> None:
    assert is_reachable(database)
    network.stop(*ways)
    with pytest.raises(Unavailable, match="does not answer") as refused, database.reading() as rows:
        rows.rows("select 1")
    assert_away(refused.value, network)
    with pytest.raises(Unavailable), database.reading() as rows:  # at once: nobody asks the server again
        rows.rows("select 1")
    network.go_on()
    until(lambda: is_reachable(database))


def test_all_who_wait_are_refused_also_those_without_a_connection(database: Database, network: SilentNetwork) -> None:
    """More callers than connections: some wait for an answer, some for a new connection, some for their turn."""
    refused: list[Unavailable] = []

    def ask() -> None:
        try:
            with database.reading() as rows:
                rows.rows("select 1")
        except Unavailable as error:
            refused.append(error)

    network.stop()
    threads = [threading.Thread(target=ask) for _ in range(24)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(refused) == 24
    for error in refused:
        assert_away(error, network)


def test_a_slow_statement_on_a_server_that_answers_is_waited_for(
    database: Database, postgres_at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers: list[bool] = []
    ask = ServerProbe.is_answered
    monkeypatch.setattr(ServerProbe, "is_answered", lambda self: answers.append(ask(self)) or answers[-1])
    with psycopg.connect(postgres_at) as other:
        other.execute("lock table note")
        with database.writing() as statements:
            waiting = threading.Thread(target=lambda: (until(lambda: len(answers) > 3), other.rollback()))
            waiting.start()
            statements.run("insert into note values ('slow')")
            waiting.join()
    assert answers == [True] * len(answers)
    assert count_notes(postgres_at) == 1


def test_before_the_commit_nothing_was_changed_and_the_error_says_so(
    database: Database, network: SilentNetwork, postgres_at: str
) -> None:
    with pytest.raises(Unavailable, match="nothing was changed") as refused, database.writing() as statements:
        statements.run("insert into note values ('one')")
        network.stop("to_client")
        statements.run("insert into note values ('two')")  # arrives, and its answer does not
    assert_away(refused.value, network)
    network.go_on()
    until(lambda: is_reachable(database))
    assert count_notes(postgres_at) == 0


@pytest.mark.parametrize(("way", "kept"), [("to_client", 1), ("to_server", 0)])
def test_a_commit_without_an_answer_is_said_to_be_unknown(
    database: Database, network: SilentNetwork, postgres_at: str, way, kept: int
) -> None:
    """It may have arrived or not, and nobody here can know."""
    with pytest.raises(Unavailable, match="not known whether") as refused, database.writing() as statements:
        statements.run("insert into note values ('one')")
        network.stop(way)
    assert refused.value.details == {"outcome": "unknown"}
    if not kept:
        network.lose_connections()  # what was on its way never arrives
    network.go_on()
    until(lambda: is_reachable(database))
    assert count_notes(postgres_at) == kept


def test_a_connection_that_comes_too_late_serves_the_next_caller(url: str, network: SilentNetwork) -> None:
    pool = PostgresPool(PostgresAddress(url).connect)
    network.stop()
    with pytest.raises(Unavailable) as refused:
        pool.take()
    assert_away(refused.value, network)
    network.go_on()
    until(lambda: bool(pool._idle))
    connection = pool.take()
    assert connection.execute("select 1").fetchone() == (1,)
    pool.put(connection)
    pool.close()


def test_a_probe_whose_own_connection_died_asks_on_a_new_one(url: str, network: SilentNetwork, postgres_at) -> None:
    """A router forgets connections, a server closes idle ones: neither is a server that is away."""
    connect = PostgresAddress(url).connect
    asked = ServerProbe(connect, connect())
    assert asked.is_answered()
    first = asked._kept
    network.lose_connections()
    assert asked.is_answered()
    second = asked._kept
    assert second is not first
    assert first is not None
    assert first.closed
    assert second is not None
    with psycopg.connect(postgres_at, autocommit=True) as other:
        other.execute("select pg_terminate_backend(%s)", [second.info.backend_pid])
    assert asked.is_answered()
    assert asked._kept is not second
    network.stop()
    assert not asked.is_answered()
    network.go_on()
    asked.forget()
    assert asked.is_answered()  # on the connection that was being opened
    asked.close()
