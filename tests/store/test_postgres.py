"""What only PostgreSQL has: a server that goes away, and values that it cannot hold."""

import subprocess
import sys
import threading

import pytest

from tokonoma.core.concurrency import CancelToken
from tokonoma.core.errors import Invalid, Unavailable, Unready
from tokonoma.store.database import open_database
from tokonoma.store.postgres import CONNECTIONS, RESERVED


@pytest.fixture
def words(postgres_database):
    with postgres_database.writing() as tx:
        tx.run("create table word (text {text})")
    return postgres_database


def end(postgres, rows) -> None:
    """Let the server end the connection of a block, as a restart would."""
    pid = rows.row("select pg_backend_pid()")[0]
    postgres.execute(f"select pg_terminate_backend({pid}, 5000)")


def kept(database) -> list[tuple[str]]:
    with database.reading() as tx:
        return tx.rows("select text from word")


def test_idle_connections_that_have_died_are_replaced(words, postgres):
    together = threading.Barrier(4)

    def use() -> None:
        with words.reading() as tx:
            tx.rows("select 1")
            together.wait()

    threads = [threading.Thread(target=use) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    name = words.location.rpartition("/")[2]
    for _ in range(2):  # first a read finds them dead, then a write
        postgres.execute(f"select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '{name}'")
        assert kept(words) == []
        postgres.execute(f"select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '{name}'")
        with words.writing() as tx:
            tx.run("delete from word")


def test_a_read_that_has_begun_is_not_repeated(words, postgres):
    with pytest.raises(Unavailable) as refused, words.reading() as tx:
        end(postgres, tx)
        tx.rows("select 1")
    assert refused.value.reason == "database"
    assert kept(words) == []


def test_a_write_that_loses_its_connection_changes_nothing(words, postgres):
    with pytest.raises(Unavailable) as refused, words.writing() as tx:
        tx.run("insert into word values ('a')")
        end(postgres, tx)
        tx.run("insert into word values ('b')")
    assert refused.value.reason == "database"
    assert "outcome" not in refused.value.details
    assert kept(words) == []


def test_a_commit_that_loses_its_connection_is_not_repeated_and_says_so(words, postgres):
    with pytest.raises(Unavailable) as refused, words.writing() as tx:
        tx.run("insert into word values ('a')")
        end(postgres, tx)
    assert refused.value.reason == "database"
    assert refused.value.details == {"outcome": "unknown"}


def test_nul_is_refused_in_words(words):
    for write in (
        lambda tx: tx.run("insert into word values (:text)", text="a\0b"),
        lambda tx: tx.run_many("insert into word values (:text)", [{"text": "a"}, {"text": "\0"}]),
        lambda tx: tx.rows("select * from word where text = :text", text="\0"),
    ):
        with pytest.raises(Invalid) as refused, words.writing() as tx:
            write(tx)
        assert refused.value.reason == "text"
        assert "NUL" in refused.value.message
    assert kept(words) == []


def test_more_blocks_than_connections_wait_their_turn_and_can_be_stopped(words):
    inside, release, stop = threading.Barrier(CONNECTIONS + 1), threading.Event(), CancelToken()

    def hold() -> None:
        with words.reading() as tx:
            tx.rows("select 1")
            inside.wait()
            release.wait()

    threads = [threading.Thread(target=hold) for _ in range(CONNECTIONS)]
    for each in threads:
        each.start()
    inside.wait()
    threading.Timer(0.05, stop.cancel, ["timeout"]).start()
    with pytest.raises(Unavailable) as refused, words.reading(stop) as tx:
        tx.rows("select 1")
    assert refused.value.reason == "timeout"
    release.set()
    for each in threads:
        each.join()
    assert kept(words) == []


def test_writers_leave_connections_to_readers(words):
    inside, release = threading.Semaphore(0), threading.Event()

    def hold() -> None:
        with words.writing():
            inside.release()
            release.wait()

    threads = [threading.Thread(target=hold) for _ in range(CONNECTIONS)]
    for each in threads:
        each.start()
    for _ in range(CONNECTIONS - RESERVED):
        inside.acquire()
    stop = CancelToken()
    timer = threading.Timer(10, stop.cancel, ["timeout"])  # else it would wait for the writers, and they for it
    timer.start()
    try:
        with words.reading(stop) as tx:
            assert tx.rows("select 1") == [(1,)]
        assert not inside.acquire(blocking=False)
    finally:
        timer.cancel()
        release.set()
        for each in threads:
            each.join()


def test_a_deadlock_is_a_busy_database(words):
    with words.writing() as tx:
        tx.run_many("insert into word values (:text)", [{"text": "a"}, {"text": "b"}])
    both = threading.Barrier(2)
    outcomes: list[str] = []

    def cross(first: str, second: str) -> None:
        try:
            with words.writing() as tx:
                tx.rows("select 1 from word where text = :text {for_update}", text=first)
                both.wait()
                tx.rows("select 1 from word where text = :text {for_update}", text=second)
            outcomes.append("done")
        except Unavailable as refused:
            outcomes.append(refused.reason)

    threads = [threading.Thread(target=cross, args=pair) for pair in (("a", "b"), ("b", "a"))]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(outcomes) == ["busy", "done"]


@pytest.mark.parametrize(("durable", "setting"), [(True, "on"), (False, "off")])
def test_a_server_that_acknowledges_too_early_is_told_to_wait(postgres_at, durable, setting):
    database = open_database(postgres_at, durable=durable)  # this server has synchronous_commit = off
    with database.writing() as tx:
        assert tx.row("show synchronous_commit") == (setting,)
    database.close()


def test_a_database_that_is_not_there(postgres):
    with pytest.raises(Unavailable) as refused:
        open_database(postgres.url("nowhere"))
    assert (refused.value.reason, refused.value.details) == ("database", {"retry_after": 1})
    assert "nowhere" not in refused.value.message  # where the database is, a caller need not know


def test_a_server_that_is_not_there(tmp_path):
    with pytest.raises(Unavailable) as refused:
        open_database(f"postgresql://someone:hunter2@/x?host={tmp_path}")
    assert refused.value.reason == "database"
    assert "hunter2" not in refused.value.message


def test_an_encoding_that_cannot_hold_our_text(postgres):
    postgres.execute("create database ascii template template0 encoding 'SQL_ASCII'")
    with pytest.raises(Unready) as refused:
        open_database(postgres.url("ascii"))
    assert refused.value.reason == "encoding"
    postgres.execute("drop database ascii")


def test_the_tables_lie_in_the_schema_of_the_connection(postgres_at, postgres_database):
    with postgres_database.writing() as tx:
        tx.run('create schema "Ours"')
    with pytest.raises(Unready) as refused:
        open_database(postgres_at + "&options=-csearch_path%3Dnowhere")
    assert refused.value.reason == "schema"
    database = open_database(postgres_at + "&options=-csearch_path%3D%22Ours%22")
    with database.writing() as tx:
        tx.run("create table word (text {text})")
        assert tx.rows(database.dialect.tables) == [("word",)]
    with postgres_database.reading() as tx:
        assert tx.rows(postgres_database.dialect.tables) == []
        assert tx.rows("select table_schema::text from information_schema.tables where table_name = 'word'") == [
            ("Ours",)
        ]
    database.close()


def test_the_mark_of_a_transaction_pooler_is_understood(postgres_at):
    database = open_database(postgres_at.replace("postgresql://", "postgres://") + "&pgbouncer=true")
    for _ in range(10):
        with database.reading() as tx:
            assert tx.rows("select 1") == [(1,)]
            assert tx.rows("select count(*) from pg_prepared_statements") == [(0,)]
    database.close()


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me:secret@db.example:5433/house?sslmode=require", "postgresql://db.example:5433/house"),
        ("postgres://me@/house?host=/run/pg&password=secret", "postgres:///run/pg/house"),
        ("postgresql://me:p%40ss%2Fword@[::1]/house", "postgresql://[::1]/house"),
    ],
)
def test_credentials_are_not_shown(url, shown):
    from tokonoma.store.postgres.connection import PostgresAddress

    assert PostgresAddress(url).display == shown


@pytest.mark.parametrize("url", ["postgresql://x:y@h/d?nonsense=1", "postgresql://[::1/x"])
def test_a_url_that_cannot_be_read_is_not_repeated(url):
    with pytest.raises(Unready) as refused:
        open_database(url)
    assert refused.value.reason == "database_url"
    assert url not in refused.value.message


def test_without_the_driver_the_message_says_what_to_install():
    script = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from tokonoma.core.errors import Unready; from tokonoma.store.database import open_database\n"
        "try: open_database('postgresql://x/y')\n"
        "except Unready as refused: assert \"pip install 'tokonoma[postgres]'\" in refused.message\n"
        "else: raise SystemExit(1)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_an_invalid_index_is_a_problem(words):
    with words.writing() as tx:
        tx.run("create index word_text on word (text)")
        tx.run("update pg_index set indisvalid = false where indexrelid = 'word_text'::regclass")
    assert "word_text" in words.find_problems()[0]


def test_a_thread_has_one_connection_at_a_time(words):
    """Who has one and waits for another may wait for those who wait for his."""
    for outer in (words.reading, words.writing):
        for inner in (words.reading, words.writing):
            with outer() as tx:
                assert tx.rows("select text from word") == []
                with pytest.raises(RuntimeError, match="inside"), inner() as nested:
                    nested.rows("select 1")
                assert tx.rows("select text from word") == []  # it still works
            assert kept(words) == []


def test_a_thread_is_free_again_when_its_block_ends_in_any_way(words, postgres):
    with pytest.raises(ZeroDivisionError), words.writing() as tx:
        raise ZeroDivisionError
    with pytest.raises(Unavailable), words.writing() as tx:
        end(postgres, tx)
        tx.rows("select 1")
    cancelled = CancelToken()
    with pytest.raises(Unavailable), words.reading(cancelled) as rows:
        rows.rows("select 1")
        cancelled.cancel("shutdown")
        rows.rows("select 1")
    assert kept(words) == []
