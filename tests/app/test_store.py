"""Opening the store: a file from before there were checksums gets them once, and nothing is lost."""

import json
import subprocess
import sys

import pytest
from talk import Lines

from tokonoma.app import App
from tokonoma.app.store import find_heads_file, migrate_tables
from tokonoma.core.module import Migration
from tokonoma.store.backup import verify_backup
from tokonoma.store.database import store_error
from tokonoma.store.sqlite import checksums, convert


def opened(home):
    return App({"home": str(home), "durable": False}, {})


@pytest.fixture
def old_home(tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(checksums, "_load_vfs", lambda: None)
        app = opened(tmp_path)
        Lines(app).call("memory", "save", content="from before")
        assert not app.database.has_checksums()
        app.close()
    return tmp_path


def contents(app):
    return [item["content"] for item in Lines(app).call("memory", "list")["items"]]


def test_an_older_home_gets_checksums_after_a_backup(old_home, capsys):
    app = opened(old_home)
    assert contents(app) == ["from before"]
    assert app.database.has_checksums()
    assert app.database.find_problems() == []
    app.close()
    (backup,) = (old_home / "backups").iterdir()
    assert backup.name.endswith("-before-checksums.backup")
    again = opened(old_home)
    assert contents(again) == ["from before"]
    again.close()
    assert list((old_home / "backups").iterdir()) == [backup]  # only once


def test_an_older_home_that_is_in_use_works_as_before(old_home, capsys):
    script = (
        "import sys; from tokonoma.store.database import open_database\n"
        "database = open_database(sys.argv[1]); database.reading().__enter__().rows('select 1 from memo')\n"
        "print('open', flush=True); sys.stdin.read()\n"
    )
    url = f"sqlite://{old_home / 'tokonoma.db'}"
    with subprocess.Popen(
        [sys.executable, "-c", script, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "open\n"
        app = opened(old_home)
        assert contents(app) == ["from before"]
        assert not app.database.has_checksums()
        app.close()
        other.stdin.close()
    events = [json.loads(line)["event"] for line in capsys.readouterr().err.splitlines()]
    assert "store.no_checksums" in events
    assert not (old_home / "backups").exists()
    app = opened(old_home)
    assert app.database.has_checksums()
    assert contents(app) == ["from before"]
    app.close()


def test_a_full_disk_leaves_an_older_home_as_it_was(old_home, monkeypatch):
    def fail(path):
        raise store_error("disk_full")

    with monkeypatch.context() as patched:
        patched.setattr(convert, "add_checksums", fail)
        app = opened(old_home)
        assert contents(app) == ["from before"]
        assert not app.database.has_checksums()
        app.close()
    assert list((old_home / "backups").iterdir()) == []


def test_without_the_extension_the_server_works(tmp_path, monkeypatch):
    monkeypatch.setattr(checksums, "_load_vfs", lambda: None)
    app = opened(tmp_path)
    Lines(app).call("memory", "save", content="works")
    assert contents(app) == ["works"]
    app.close()
    assert not (tmp_path / "backups").exists()


def test_the_heads_are_beside_the_file_or_in_the_home(tmp_path, database, sqlite_at):
    found = find_heads_file(tmp_path / "home", database)
    assert found.parent.name == ("data" if database.kind == "sqlite" else "home")


def test_calls_of_a_server_are_noted_and_lost_ones_are_told(tmp_path, database_url):
    flags = {"home": str(tmp_path), "database_url": database_url, "durable": False}
    app = App(flags, {})
    Lines(app).call("memory", "save", content="lost")
    heads = find_heads_file(tmp_path, app.database)
    app.close()
    assert b'"memory.save"' in heads.read_bytes()
    app = App(flags, {})
    with app.database.writing() as tx:
        tx.run("delete from journal")
    told = Lines(app).call("system", "status")["health"]["database"]
    assert told["ok"] is False
    assert "are missing" in told["says"]
    app.close()


def test_the_backup_before_a_migration_is_made_inside_its_transaction(database, tmp_path):
    """On PostgreSQL too, where the transaction has the only connection that its thread may have."""
    first = Migration("001_word", ("create table word (text {text})", "insert into word values ('a')"))
    second = Migration("002_upper", ("update word set text = upper(text)",), rewrites=True)
    migrate_tables(database, tmp_path, "words", [first])
    migrate_tables(database, tmp_path, "words", [first, second])
    with database.reading() as rows:
        assert rows.rows("select text from word") == [("A",)]
    (made,) = (tmp_path / "backups").glob("*-before-words-002_upper.backup")
    saved = verify_backup(made)
    assert (dict(saved.tables), dict(saved.migrations)) == ({"word": 1}, {"words": ["001_word"]})
