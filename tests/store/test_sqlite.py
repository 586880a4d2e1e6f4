"""What only SQLite has: a file, its log, its neighbours."""

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import apsw
import pytest

from tokonoma.core.errors import Unavailable, Unready
from tokonoma.store import sqlite
from tokonoma.store.database import format_sqlite_url, open_database, parse_sqlite_url
from tokonoma.store.sqlite import Checkpointer, SqliteDatabase
from tokonoma.store.sqlite import connection as sqlite_link


def test_file_and_folder_are_their_owners_alone(tmp_path):
    path = tmp_path / "new" / "folder" / "x.db"
    database = open_database(format_sqlite_url(path), durable=False)
    with database.writing() as tx:
        tx.run("create table t (a {big})")
    found = {each.name: stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()}
    assert found == {"x.db": 0o600, "x.db-wal": 0o600, "x.db-shm": 0o600}
    assert [stat.S_IMODE(each.stat().st_mode) for each in (path.parent, path.parent.parent)] == [0o700, 0o700]
    database.close()
    assert [each.name for each in path.parent.iterdir()] == ["x.db"]  # one file that can be copied


@pytest.mark.parametrize("durable", [True, False])
def test_the_settings_that_keep_data_safe(tmp_path, durable):
    database = SqliteDatabase(tmp_path / "x.db", durable=durable)
    link = database.writer.connection
    assert link.pragma("journal_mode") == "wal"
    assert link.pragma("synchronous") == (2 if durable else 0)
    assert link.pragma("foreign_keys") == 1
    assert link.pragma("trusted_schema") == 0
    assert link.pragma("wal_autocheckpoint") == 0
    assert sqlite_link.MAX_WAIT >= 15
    database.close()


@pytest.mark.parametrize(
    "content", [b"this is not a database, but it is long enough to look at" * 90, b"SQLite format 3\0x"]
)
def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path, content):
    path = tmp_path / "x.db"
    path.write_bytes(content)
    with pytest.raises(Unavailable) as refused:
        open_database(format_sqlite_url(path))
    assert refused.value.reason == "corrupt"
    assert str(path) in refused.value.message
    assert "tokonoma restore" in refused.value.message
    assert path.read_bytes() == content


def test_torn_pages_are_found(tmp_path):
    path = tmp_path / "x.db"
    database = open_database(format_sqlite_url(path))
    with database.writing() as tx:
        tx.run("create table t (a {text})")
        tx.run_many("insert into t values (:a)", [{"a": "x" * 500} for _ in range(200)])
    database.close()
    with path.open("r+b") as file:
        file.seek(4096 * 3)
        file.write(os.urandom(4096 * 4))
    database = open_database(format_sqlite_url(path))
    assert database.find_problems()
    with pytest.raises(Unavailable) as refused, database.reading() as tx:
        tx.rows("select sum(length(a)) from t")
    assert refused.value.reason == "corrupt"
    database.close()


def test_a_text_that_is_not_utf_8_any_more_is_damage(tmp_path):
    database = SqliteDatabase(tmp_path / "x.db", durable=False)
    with database.reading() as rows, pytest.raises(Unavailable) as refused:
        rows.rows("select cast(x'c328' as text)")
    assert refused.value.reason == "corrupt"
    database.close()


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(Unavailable) as refused:
        open_database(format_sqlite_url(tmp_path / "file" / "x.db"))
    assert refused.value.reason == "database"


def test_a_full_disk_is_said_and_nothing_is_lost(tmp_path):
    database = SqliteDatabase(tmp_path / "x.db", durable=False)
    with database.writing() as tx:
        tx.run("create table t (a {text})")
        tx.run("insert into t values ('kept')")
    link = database.writer.connection
    link.pragma("max_page_count", link.pragma("page_count"))  # SQLite's own way to run out of space
    with pytest.raises(Unavailable) as refused, database.writing() as tx:
        tx.run("insert into t values (:a)", a="x" * 100_000)
    assert refused.value.reason == "disk_full"
    link.pragma("max_page_count", 1_000_000)
    with database.writing() as tx:
        assert tx.rows("select a from t") == [("kept",)]
        tx.run("insert into t values ('again')")
    database.close()


def test_a_lock_that_is_held_for_too_long_is_said(tmp_path):
    database = SqliteDatabase(tmp_path / "x.db", durable=False)
    database.writer.connection._wait = 0.0
    other = apsw.Connection(str(tmp_path / "x.db"))
    other.execute("begin immediate")
    with pytest.raises(Unavailable) as refused, database.writing():
        pass
    assert refused.value.reason == "busy"
    other.execute("rollback")
    with database.writing() as tx:
        assert tx.rows("select 1") == [(1,)]
    other.close()
    database.close()


def test_a_lock_that_is_freed_is_waited_for(tmp_path):
    database = SqliteDatabase(tmp_path / "x.db", durable=False)
    other = apsw.Connection(str(tmp_path / "x.db"))
    other.execute("begin immediate")
    waited = threading.Event()
    busy = database.writer.connection._busy

    def watched(tries: int) -> bool:
        waited.set()
        return busy(tries)

    database.writer.connection.raw.set_busy_handler(watched)

    def free() -> None:
        waited.wait()
        other.execute("rollback")

    thread = threading.Thread(target=free)
    thread.start()
    with database.writing() as tx:
        assert tx.rows("select 1") == [(1,)]
    thread.join()
    other.close()
    database.close()


@pytest.fixture
def rounds(monkeypatch):
    """Checkpoints after every ten pages; each round is counted when it is over."""
    monkeypatch.setattr(sqlite, "CHECKPOINT_PAGES", 10)
    done, work = threading.Semaphore(0), Checkpointer._checkpoint

    def watched(self) -> None:
        try:
            work(self)
        finally:
            done.release()

    monkeypatch.setattr(Checkpointer, "_checkpoint", watched)
    return done


def add(database: SqliteDatabase, rows: int) -> int:
    """Write some pages; how many the log holds then."""
    with database.writing() as tx:
        tx.run_many("insert into t values (:a)", [{"a": "x" * 1000} for _ in range(rows)])
    return database._checkpointer._seen


@pytest.fixture
def logged(tmp_path, rounds):
    database = SqliteDatabase(tmp_path / "x.db", durable=False)
    with database.writing() as tx:
        tx.run("create table t (a {text})")
    yield database
    database.close()
    assert not any(each.name == "tokonoma-checkpoint" for each in threading.enumerate())


def test_the_log_is_folded_in_by_a_thread_of_its_own_and_starts_again(logged, rounds):
    assert logged.path.stat().st_size <= 4096  # still in the log
    assert not any(each.name == "tokonoma-checkpoint" for each in threading.enumerate())
    assert add(logged, 100) > 20
    rounds.acquire()
    assert logged.path.stat().st_size > 100_000
    assert any(each.name == "tokonoma-checkpoint" for each in threading.enumerate())
    assert add(logged, 1) < 5


def log_size(database: SqliteDatabase) -> int:
    return Path(f"{database.path}-wal").stat().st_size


def test_a_reader_keeps_the_log_only_as_long_as_it_reads(logged, rounds):
    with logged.reading() as tx:
        assert tx.rows("select count(*) from t") == [(0,)]
        for _ in range(4):  # the reader is waited for, which must not stop the writers
            add(logged, 100)
            rounds.acquire()
        assert tx.rows("select count(*) from t") == [(0,)]
        assert log_size(logged) > 400_000
    for _ in range(100):  # no further commit is needed
        if not log_size(logged):
            break
        assert rounds.acquire(timeout=60)
    assert log_size(logged) == 0
    assert add(logged, 1) < 5
    assert logged.find_problems() == []


def test_readers_that_take_turns_do_not_keep_the_log(logged, rounds):
    """There is always somebody who reads an older state, as under load."""
    opened = [logged.reading()]
    opened[0].__enter__().rows("select count(*) from t")
    done = threading.Event()

    def take_turns() -> None:
        while not done.is_set():
            following = logged.reading()
            following.__enter__().rows("select count(*) from t")
            opened.pop().__exit__(None, None, None)
            opened.append(following)

    thread = threading.Thread(target=take_turns, daemon=True)
    thread.start()
    try:
        assert add(logged, 100) > 20
        for _ in range(1_000):
            if add(logged, 1) < 10:  # the log has started again
                break
            rounds.acquire(timeout=0.05)
        else:
            pytest.fail("the log never started again")
    finally:
        done.set()
        thread.join()
        opened.pop().__exit__(None, None, None)


def test_closing_ends_a_write_that_does_not_end(tmp_path):
    database = open_database(format_sqlite_url(tmp_path / "x.db"), durable=False)
    started, outcome = threading.Event(), []

    def write() -> None:
        try:
            with database.writing() as tx:
                started.set()
                tx.rows("with recursive c(n) as (select 1 union all select n + 1 from c) select count(*) from c")
        except Unavailable as refused:
            outcome.append(refused.reason)

    thread = threading.Thread(target=write)
    thread.start()
    started.wait()
    database.close()
    thread.join()
    assert outcome == ["closed"]


def test_a_process_that_forgets_to_close_leaves_one_whole_file(tmp_path):
    script = (
        "import sys; from tokonoma.store.database import open_database\n"
        "database = open_database(sys.argv[1])\n"
        "with database.writing() as tx: tx.run('create table t (a {big})'); tx.run('insert into t values (7)')\n"
    )
    subprocess.run([sys.executable, "-c", script, format_sqlite_url(tmp_path / "x.db")], check=True)
    assert [each.name for each in tmp_path.iterdir()] == ["x.db"]
    with apsw.Connection(str(tmp_path / "x.db")) as connection:
        assert connection.execute("select a from t").fetchall() == [(7,)]
    connection.close()


def test_no_driver_is_imported_before_a_database_is_opened():
    script = (
        "import sys; import tokonoma.store.database, tokonoma.store.migrate, tokonoma.store.backup\n"
        "assert not {'apsw', 'psycopg'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:///srv/x.db", "/srv/x.db"),
        ("sqlite:////srv/x.db", "/srv/x.db"),
        ("SQLITE:///srv/a%20b/x.db", "/srv/a b/x.db"),
        ("sqlite:///~/x.db", str(Path("~/x.db").expanduser())),
    ],
)
def test_urls_name_files(url, path):
    assert parse_sqlite_url(url) == Path(path)


@pytest.mark.parametrize("name", ["a b", "a%20b", "床の間", "c#", "q?", "a&b", "'"])
def test_every_path_has_a_url(name):
    path = Path("/srv") / name / "x.db"
    assert parse_sqlite_url(format_sqlite_url(path)) == path


@pytest.mark.parametrize(
    "url", ["sqlite://x.db", "sqlite:///", "sqlite://", "sqlite:///:memory:?x=1", "mysql://x", "", "x.db"]
)
def test_urls_that_name_nothing_are_refused(url):
    with pytest.raises(Unready) as refused:
        open_database(url)
    assert refused.value.reason == "database_url"
