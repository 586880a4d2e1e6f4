"""Backups of SQLite: plain files, sealed, put back into the live file."""

import os
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import apsw
import pytest
from store.words import HARD, SETS, STEPS, change, fill, state

from tokonoma.core.clock import now
from tokonoma.core.errors import Invalid
from tokonoma.core.module import Migration
from tokonoma.store.backup import create_backup, restore_backup, verify_backup
from tokonoma.store.database import format_sqlite_url, open_database
from tokonoma.store.migrate import migrate


def test_keeps_its_safety_copy_beside_the_file(sqlite_database, tmp_path):
    migrate(sqlite_database, "words", STEPS, lambda reason: None)
    create_backup(sqlite_database, tmp_path / "x.backup")
    restored = restore_backup(sqlite_database, tmp_path / "x.backup", SETS)
    assert restored.safety is not None
    assert restored.safety.parent == Path(sqlite_database.location).parent
    assert verify_backup(restored.safety).tables == restored.contents.tables


def test_an_older_backup_is_restored_and_then_migrated(sqlite_database, tmp_path):
    newer = (*STEPS, Migration("002_more", ("create table more (id {identity})",)))
    migrate(sqlite_database, "words", STEPS, lambda reason: None)
    fill(sqlite_database, ["a"])
    create_backup(sqlite_database, tmp_path / "x.backup")
    migrate(sqlite_database, "words", newer, lambda reason: None)
    restore_backup(sqlite_database, tmp_path / "x.backup", {"words": newer})
    assert migrate(sqlite_database, "words", newer, lambda reason: None) == ["002_more"]


def test_the_live_file_stays_the_same_file_for_others_who_have_it_open(sqlite_database, tmp_path):
    migrate(sqlite_database, "words", STEPS, lambda reason: None)
    fill(sqlite_database, ["saved"])
    create_backup(sqlite_database, tmp_path / "x.backup")
    change(sqlite_database)
    script = (
        "import sys; from tokonoma.store.database import open_database\n"
        "database = open_database(sys.argv[1])\n"
        "ask = lambda: database.reading().__enter__().rows('select text from word order by id')\n"
        "print(ask(), flush=True); sys.stdin.readline(); print(ask(), flush=True)\n"
        "with database.writing() as tx: tx.run(\"insert into word (text) values ('other')\")\n"
    )
    inode = Path(sqlite_database.location).stat().st_ino
    with subprocess.Popen(
        [sys.executable, "-c", script, f"sqlite:///{sqlite_database.location}"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as other:  # fmt: skip
        assert other.stdout.readline() == "[('later',)]\n"
        with sqlite_database.reading() as tx:
            assert tx.rows("select text from word") == [("later",)]
            restore_backup(sqlite_database, tmp_path / "x.backup", SETS)
            assert tx.rows("select text from word") == [("later",)]  # this block keeps its snapshot
        other.stdin.write("\n")
        other.stdin.flush()
        assert other.stdout.readline() == "[('saved',)]\n"
    assert other.returncode == 0
    assert Path(sqlite_database.location).stat().st_ino == inode
    with sqlite_database.reading() as tx:
        assert tx.rows("select text from word order by id") == [("saved",), ("other",)]


def test_a_restore_waits_for_a_writer_of_another_process(sqlite_database, tmp_path):
    migrate(sqlite_database, "words", STEPS, lambda reason: None)
    create_backup(sqlite_database, tmp_path / "x.backup")
    other = apsw.Connection(sqlite_database.location)
    other.execute("begin immediate")
    link, waited = sqlite_database.writer.connection, threading.Event()

    def watched(tries: int) -> bool:
        waited.set()
        return link._busy(tries)

    def free() -> None:
        waited.wait()
        other.execute("rollback")
        other.close()

    link.raw.set_busy_handler(watched)
    thread = threading.Thread(target=free)
    thread.start()
    restore_backup(sqlite_database, tmp_path / "x.backup", SETS)
    thread.join()
    assert sqlite_database.find_problems() == []


def test_a_torn_database_can_be_restored(tmp_path):
    path = tmp_path / "x.db"
    database = open_database(format_sqlite_url(path), durable=False)
    migrate(database, "words", STEPS, lambda reason: None)
    fill(database, [str(n) * 300 for n in range(200)])
    before = state(database)
    create_backup(database, tmp_path / "x.backup")
    database.close()
    with path.open("r+b") as file:
        file.seek(4096 * 6)
        file.write(os.urandom(4096 * 10))
    database = open_database(format_sqlite_url(path), durable=False)
    assert database.find_problems()
    restored = restore_backup(database, tmp_path / "x.backup", SETS)
    assert state(database) == before
    assert restored.safety is not None
    with pytest.raises(Invalid):
        verify_backup(restored.safety)  # the torn pages were kept as they were
    database.close()


def test_a_changed_letter_inside_a_row_is_found(sqlite_database, tmp_path):
    migrate(sqlite_database, "words", STEPS, lambda reason: None)
    fill(sqlite_database, ["needle"])
    made = create_backup(sqlite_database, tmp_path / "x.backup")
    assert abs(made.created_at - now()) < 3_600_000
    content = made.path.read_bytes()
    made.path.write_bytes(content.replace(b"needle", b"noodle"))
    with pytest.raises(Invalid) as refused:
        verify_backup(made.path)
    assert refused.value.reason == "damaged"


def test_a_backup_is_a_plain_database_and_a_plain_copy_is_a_backup(sqlite_database, tmp_path):
    migrate(sqlite_database, "words", STEPS, lambda reason: None)
    fill(sqlite_database, HARD)
    create_backup(sqlite_database, tmp_path / "x.backup")
    shell = sqlite3.connect(tmp_path / "x.backup")
    assert shell.execute("select count(*) from word").fetchall() == [(len(HARD),)]
    assert shell.execute("pragma integrity_check").fetchall() == [("ok",)]
    shell.execute("vacuum into ?", [str(tmp_path / "plain.db")])
    shell.close()
    change(sqlite_database)
    assert restore_backup(sqlite_database, tmp_path / "plain.db", SETS).contents.tables["word"] == len(HARD)


def test_the_database_is_no_backup_of_itself(sqlite_database):
    migrate(sqlite_database, "words", STEPS, lambda reason: None)
    with pytest.raises(Invalid):
        restore_backup(sqlite_database, Path(sqlite_database.location), SETS)
