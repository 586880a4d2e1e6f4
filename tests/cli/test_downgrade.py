"""A database that a newer program has changed: refused, and the backup that leads back is named and works."""

import re
import shlex
import time

import pytest

from tokonoma.store.database import Database, open_database


@pytest.fixture
def on_database(environ, database_url):
    environ["TOKONOMA_DATABASE_URL"] = database_url
    return database_url


def raise_schema(url: str) -> None:
    """What a newer version leaves: one more step of a set that this one knows."""
    database: Database = open_database(url, durable=False)
    with database.writing() as tx:
        tx.run(
            "insert into migration (module, name, applied_at) values ('journal', '999_from_the_future', :at)",
            at=int(time.time() * 1000) + 10**9,
        )
    database.close()


def save(value, content: str) -> str:
    return value("call", "memory", "save", f'{{"namespace": "work", "content": "{content}"}}')["memo_id"]


def test_the_newest_backup_that_this_version_can_read_is_named(run, value, home, on_database, environ, postgres):
    save(value, "the kettle is in the kitchen")
    assert run("backup").exit_code == 0
    (kept,) = (home / "backups").iterdir()
    save(value, "written by the newer version")
    raise_schema(on_database)
    newer = home / "backups" / "zz-newer.backup"  # made by the newer version: of no use here
    assert run("backup", str(newer), "--without-files").exit_code == 1  # it needs the store, which is refused
    refused = run("call", "memory", "list")
    assert refused.exit_code == 1
    assert "newer version of Tokonoma" in refused.output
    named = re.search(r"tokonoma restore (\S+)`", refused.output)
    assert named is not None, refused.output
    assert shlex.split(named[1]) == [kept.name]
    assert str(home) not in refused.output  # callers over HTTP see this text too
    doctor = run("doctor", "--port", "0")
    assert doctor.exit_code == 1
    assert kept.name in doctor.stdout
    name = postgres.take()
    if on_database.startswith("postgresql"):
        assert "new, empty database" in refused.output
        environ["TOKONOMA_DATABASE_URL"] = postgres.url(name)
    restored = run("restore", kept.name, "--yes")
    assert restored.exit_code == 0, restored.output
    memos = [memo["content"] for memo in value("call", "memory", "list")["items"]]
    assert memos == ["the kettle is in the kitchen"]
    assert run("doctor", "--port", "0").exit_code == 0
    postgres.give(name)


def test_without_such_a_backup_it_says_so(run, value, on_database, home):
    value("call", "system", "status")
    raise_schema(on_database)
    (home / "backups").mkdir()
    (home / "backups" / "torn.backup").write_bytes(b"PK\3\4 not a backup")
    refused = run("call", "system", "recent")
    assert refused.exit_code == 1
    assert "Install that version. No backup" in refused.output


def test_a_backup_of_the_newer_version_is_not_named(run, value, home, on_database):
    value("call", "system", "status")
    assert run("backup").exit_code == 0
    (older,) = (home / "backups").iterdir()
    database = open_database(on_database, durable=False)
    raise_schema(on_database)
    from tokonoma.store.backup import create_backup

    newer = create_backup(database, home / "backups" / "newer.backup").path
    database.close()
    assert newer.stat().st_mtime_ns >= older.stat().st_mtime_ns
    refused = run("call", "system", "recent")
    assert older.name in refused.output
    assert newer.name not in refused.output
    assert run("restore", newer.name, "--yes").exit_code == 1
