"""Backups: whole, verified, taken while others write, restored as a whole or not at all."""

import json
import os
import random
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
import zipfile
from pathlib import Path
from typing import Any

import apsw
import pytest

from tokonoma.core.clock import now
from tokonoma.core.errors import Conflict, Invalid, Refusal, Unready
from tokonoma.core.module import Migration
from tokonoma.store import backup as backups
from tokonoma.store.backup import backup, restore, verify
from tokonoma.store.database import Database
from tokonoma.store.migrate import migrate

STEPS = (
    Migration(
        "001_words",
        (
            "create table word (id {identity}, text {text} not null unique, share {real}, raw {blob})",
            "create table pair (a {big} not null references word (id), b {big} references word (id), note text)",
            "create table empty (id {identity}, twice {big} generated always as (id * 2) stored)",
        ),
    ),
)
SETS = {"words": STEPS}
HARD = ["", "床の間", "tab\tand\nline", "back\\slash \\N", "quote ' \" %", "x" * 5000, "\\."]


@pytest.fixture
def words(database: Database) -> Database:
    migrate(database, "words", STEPS, lambda reason: None)
    fill(database, HARD)
    return database


def fill(database: Database, texts: list[str]) -> None:
    insert = "insert into word (text, share, raw) values (:text, :share, :raw)"
    with database.writing() as tx:
        tx.many(
            insert, [{"text": text, "share": 1 / (n + 3), "raw": bytes(range(256))} for n, text in enumerate(texts)]
        )
        tx.run("insert into pair (a, b, note) select id, null, :null from word", null=None)
        tx.run("insert into empty (id) values (41)")
        tx.run("delete from empty")


def state(database: Database) -> list[list[Any]]:
    with database.reading() as tx:
        tables = ("select * from word order by id", "select * from pair order by a", "select * from empty")
        return [tx.rows(table) for table in tables] + [tx.rows("select module, name from migration")]


def change(database: Database) -> None:
    with database.writing() as tx:
        tx.run("delete from pair")
        tx.run("delete from word where text <> ''")
        tx.run("insert into word (text) values ('later')")


def test_what_was_saved_comes_back(words, tmp_path):
    before, target = state(words), tmp_path / "x.backup"
    made = backup(words, target)
    assert (made.path, made.kind, made.size) == (target, words.kind, target.stat().st_size)
    assert dict(made.tables) == {"word": 7, "pair": 7, "empty": 0}
    assert dict(made.migrations) == {"words": ["001_words"]}
    assert verify(target).tables == made.tables
    change(words)
    restored = restore(words, target, SETS)
    assert restored.contents.tables == made.tables
    assert state(words) == before
    assert words.check() == []


def test_numbers_go_on_where_they_were(words, tmp_path):
    with words.writing() as tx:
        last = tx.row("insert into word (text) values ('x') returning id")[0]
        tx.run("delete from word where text = 'x'")
    backup(words, tmp_path / "x.backup")
    change(words)
    restore(words, tmp_path / "x.backup", SETS)
    with words.writing() as tx:
        assert tx.row("insert into word (text) values ('y') returning id")[0] == last + 1
        row = tx.row("insert into empty default values returning id, twice")
        assert row[1] == row[0] * 2


def test_a_backup_is_its_owners_alone_and_leaves_nothing_beside_it(words, tmp_path):
    folder = tmp_path / "backups"
    folder.mkdir()
    backup(words, folder / "x.backup")
    verify(folder / "x.backup")
    assert [each.name for each in folder.iterdir()] == ["x.backup"]
    assert stat.S_IMODE((folder / "x.backup").stat().st_mode) == 0o600


def test_a_backup_does_not_replace_a_file(words, tmp_path):
    (tmp_path / "x.backup").write_text("mine")
    with pytest.raises(Conflict):
        backup(words, tmp_path / "x.backup")
    with pytest.raises(Invalid):
        backup(words, tmp_path / "no folder" / "x.backup")
    assert (tmp_path / "x.backup").read_text() == "mine"


def test_a_backup_that_fails_leaves_nothing(words, tmp_path, monkeypatch):
    folder = tmp_path / "backups"
    folder.mkdir()
    monkeypatch.setattr(backups, "verify", lambda path: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        backup(words, folder / "x.backup")
    assert list(folder.iterdir()) == []


def test_a_backup_is_one_snapshot_while_others_write(words, tmp_path):
    """Each transaction adds a word and its pair: no backup may hold one without the other."""
    go_on, written = threading.Event(), threading.Event()
    go_on.set()

    def write() -> None:
        number = 0
        while go_on.is_set():
            number += 1
            with words.writing() as tx:
                row = tx.row("insert into word (text) values (:text) returning id", text=f"{number}" + "y" * 2000)
                tx.run("insert into pair (a) values (:a)", a=row[0])
            written.set()

    thread = threading.Thread(target=write)
    thread.start()
    written.wait()
    made = [backup(words, tmp_path / f"{n}.backup") for n in range(3)]
    go_on.clear()
    thread.join()
    for each in made:
        assert each.tables["word"] == each.tables["pair"]
    restore(words, made[1].path, SETS)
    with words.reading() as tx:
        assert tx.row("select count(*) from word") == (made[1].tables["word"],)


def spoiled(path: Path, target: Path, seed: int) -> Path:
    """A copy with a stretch of other bytes in it, or cut short."""
    chance = random.Random(seed)
    content = bytearray(path.read_bytes())
    if seed % 3 == 0:
        content = content[: chance.randrange(1, len(content))]
    else:
        start = chance.randrange(len(content))
        for place in range(start, min(start + 64, len(content))):
            content[place] ^= chance.randrange(1, 256)
    target.write_bytes(content)
    return target


def test_a_damaged_backup_is_refused_and_nothing_is_changed(words, tmp_path):
    backup(words, tmp_path / "x.backup")
    change(words)
    before, refused = state(words), 0
    for seed in range(40):
        try:
            found = verify(spoiled(tmp_path / "x.backup", tmp_path / "bad", seed))
        except Refusal as refusal:
            assert refusal.reason in ("damaged", "not_a_backup", "newer_schema")
            refused += 1
            with pytest.raises(Refusal):
                restore(words, tmp_path / "bad", SETS)
        else:
            # Bytes that nobody reads (dates of the zip, the seal's own): what is read is whole.
            assert dict(found.tables) == {"word": 7, "pair": 7, "empty": 0}
    assert refused > 35
    assert state(words) == before
    assert words.check() == []


@pytest.mark.parametrize("content", [b"", b"hello", b"PK", b"PK\x05\x06" + bytes(18)])
def test_what_is_no_backup_is_refused(words, tmp_path, content):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(Invalid) as refused:
        restore(words, tmp_path / "x", SETS)
    assert refused.value.reason in ("not_a_backup", "damaged")
    with pytest.raises(Invalid):
        verify(tmp_path / "nothing")


def test_tables_of_a_newer_program_are_refused(words, tmp_path):
    newer = (*STEPS, Migration("002_more", ("create table more (id {identity})",)))
    migrate(words, "words", newer, lambda reason: None)
    backup(words, tmp_path / "x.backup")
    before = state(words)
    with pytest.raises(Unready) as refused:
        restore(words, tmp_path / "x.backup", SETS)
    assert (refused.value.reason, refused.value.details["migration"]) == ("newer_schema", "002_more")
    with pytest.raises(Unready) as refused:
        restore(words, tmp_path / "x.backup", {})
    assert (refused.value.reason, refused.value.details["set"]) == ("unknown_schema", "words")
    assert state(words) == before


def test_a_database_without_tables_has_nothing_to_save(database, tmp_path):
    with pytest.raises(Unready) as refused:
        backup(database, tmp_path / "x.backup")
    assert refused.value.reason == "empty"


def test_a_backup_of_the_other_database_is_refused(sqlite_database, postgres_database, tmp_path):
    for database in (sqlite_database, postgres_database):
        migrate(database, "words", STEPS, lambda reason: None)
        backup(database, tmp_path / f"{database.kind}.backup")
    with pytest.raises(Invalid) as refused:
        restore(sqlite_database, tmp_path / "postgresql.backup", SETS)
    assert refused.value.reason == "other_database"
    with pytest.raises(Invalid):
        restore(postgres_database, tmp_path / "sqlite.backup", SETS)


def test_what_was_there_before_a_restore_is_kept(words, tmp_path):
    backup(words, tmp_path / "x.backup")
    change(words)
    before = state(words)
    (tmp_path / "safe").mkdir()
    restored = restore(words, tmp_path / "x.backup", SETS, safety=tmp_path / "safe")
    assert state(words) != before
    assert restored.safety is not None
    assert restored.safety.parent == tmp_path / "safe"
    restore(words, restored.safety, SETS, safety=tmp_path / "safe")
    assert state(words) == before


# SQLite alone


def test_sqlite_keeps_its_safety_copy_beside_the_file(sqlite_database, tmp_path):
    migrate(sqlite_database, "words", STEPS, lambda reason: None)
    backup(sqlite_database, tmp_path / "x.backup")
    restored = restore(sqlite_database, tmp_path / "x.backup", SETS)
    assert restored.safety is not None
    assert restored.safety.parent == Path(sqlite_database.where).parent
    assert verify(restored.safety).tables == restored.contents.tables


def test_sqlite_an_older_backup_is_restored_and_then_migrated(sqlite_database, tmp_path):
    newer = (*STEPS, Migration("002_more", ("create table more (id {identity})",)))
    migrate(sqlite_database, "words", STEPS, lambda reason: None)
    fill(sqlite_database, ["a"])
    backup(sqlite_database, tmp_path / "x.backup")
    migrate(sqlite_database, "words", newer, lambda reason: None)
    restore(sqlite_database, tmp_path / "x.backup", {"words": newer})
    assert migrate(sqlite_database, "words", newer, lambda reason: None) == ["002_more"]


def test_sqlite_the_live_file_stays_the_same_file_for_others_who_have_it_open(sqlite_database, tmp_path):
    migrate(sqlite_database, "words", STEPS, lambda reason: None)
    fill(sqlite_database, ["saved"])
    backup(sqlite_database, tmp_path / "x.backup")
    change(sqlite_database)
    script = (
        "import sys; from tokonoma.store.database import open_database\n"
        "database = open_database(sys.argv[1])\n"
        "ask = lambda: database.reading().__enter__().rows('select text from word order by id')\n"
        "print(ask(), flush=True); sys.stdin.readline(); print(ask(), flush=True)\n"
        "with database.writing() as tx: tx.run(\"insert into word (text) values ('other')\")\n"
    )
    inode = Path(sqlite_database.where).stat().st_ino
    with subprocess.Popen(
        [sys.executable, "-c", script, f"sqlite:///{sqlite_database.where}"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as other:  # fmt: skip
        assert other.stdout.readline() == "[('later',)]\n"
        with sqlite_database.reading() as tx:
            assert tx.rows("select text from word") == [("later",)]
            restore(sqlite_database, tmp_path / "x.backup", SETS)
            assert tx.rows("select text from word") == [("later",)]  # this block keeps its snapshot
        other.stdin.write("\n")
        other.stdin.flush()
        assert other.stdout.readline() == "[('saved',)]\n"
    assert other.returncode == 0
    assert Path(sqlite_database.where).stat().st_ino == inode
    with sqlite_database.reading() as tx:
        assert tx.rows("select text from word order by id") == [("saved",), ("other",)]


def test_sqlite_a_restore_waits_for_a_writer_of_another_process(sqlite_database, tmp_path):
    migrate(sqlite_database, "words", STEPS, lambda reason: None)
    backup(sqlite_database, tmp_path / "x.backup")
    other = apsw.Connection(sqlite_database.where)
    other.execute("begin immediate")
    link, waited = sqlite_database.writer.link, threading.Event()

    def watched(tries: int) -> bool:
        waited.set()
        return link._busy(tries)

    def free() -> None:
        waited.wait()
        other.execute("rollback")
        other.close()

    link.connection.set_busy_handler(watched)
    thread = threading.Thread(target=free)
    thread.start()
    restore(sqlite_database, tmp_path / "x.backup", SETS)
    thread.join()
    assert sqlite_database.check() == []


def test_sqlite_a_torn_database_can_be_restored(tmp_path):
    from tokonoma.store.database import open_database, sqlite_url

    path = tmp_path / "x.db"
    database = open_database(sqlite_url(path), durable=False)
    migrate(database, "words", STEPS, lambda reason: None)
    fill(database, [str(n) * 300 for n in range(200)])
    before = state(database)
    backup(database, tmp_path / "x.backup")
    database.close()
    with path.open("r+b") as file:
        file.seek(4096 * 6)
        file.write(os.urandom(4096 * 10))
    database = open_database(sqlite_url(path), durable=False)
    assert database.check()
    restored = restore(database, tmp_path / "x.backup", SETS)
    assert state(database) == before
    assert restored.safety is not None
    with pytest.raises(Invalid):
        verify(restored.safety)  # the torn pages were kept as they were
    database.close()


def test_sqlite_a_changed_letter_inside_a_row_is_found(sqlite_database, tmp_path):
    migrate(sqlite_database, "words", STEPS, lambda reason: None)
    fill(sqlite_database, ["needle"])
    made = backup(sqlite_database, tmp_path / "x.backup")
    assert abs(made.created_at - now()) < 3_600_000
    content = made.path.read_bytes()
    made.path.write_bytes(content.replace(b"needle", b"noodle"))
    with pytest.raises(Invalid) as refused:
        verify(made.path)
    assert refused.value.reason == "damaged"


def test_sqlite_a_backup_is_a_plain_database_and_a_plain_copy_is_a_backup(sqlite_database, tmp_path):
    migrate(sqlite_database, "words", STEPS, lambda reason: None)
    fill(sqlite_database, HARD)
    backup(sqlite_database, tmp_path / "x.backup")
    shell = sqlite3.connect(tmp_path / "x.backup")
    assert shell.execute("select count(*) from word").fetchall() == [(len(HARD),)]
    assert shell.execute("pragma integrity_check").fetchall() == [("ok",)]
    shell.execute("vacuum into ?", [str(tmp_path / "plain.db")])
    shell.close()
    change(sqlite_database)
    assert restore(sqlite_database, tmp_path / "plain.db", SETS).contents.tables["word"] == len(HARD)


def test_sqlite_the_database_is_no_backup_of_itself(sqlite_database):
    migrate(sqlite_database, "words", STEPS, lambda reason: None)
    with pytest.raises(Invalid):
        restore(sqlite_database, Path(sqlite_database.where), SETS)


# PostgreSQL alone


def rewritten(source: Path, target: Path, change_manifest) -> Path:
    """The archive with another manifest, which fits the zip but not the rows."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "manifest.json":
                manifest = json.loads(content)
                change_manifest(manifest)
                content = json.dumps(manifest).encode()
            new.writestr(name, content)
    return target


@pytest.mark.parametrize(
    ("change_manifest", "reason"),
    [
        (lambda m: m.update(format=2), "newer_schema"),
        (lambda m: m["tables"][0].update(rows=1), "damaged"),
        (lambda m: m["tables"][0].update(sha256="0" * 64), "damaged"),
        (lambda m: m["tables"][2].update(digest="0" * 64), "restore"),
        (lambda m: m["tables"][2].update(columns=["id"]), "other_schema"),
        (lambda m: m["tables"][0].pop("rows"), "damaged"),
        (lambda m: m["migrations"].update(others=["1"]), "unknown_schema"),
        (lambda m: m["migrations"].update(words=[]), "other_schema"),
        (lambda m: m.pop("tables"), "damaged"),
    ],
)
def test_postgres_an_archive_that_does_not_fit_is_refused(postgres_database, tmp_path, change_manifest, reason):
    migrate(postgres_database, "words", STEPS, lambda reason: None)
    fill(postgres_database, ["a"])
    backup(postgres_database, tmp_path / "x.backup")
    change(postgres_database)
    before = state(postgres_database)
    with pytest.raises(Refusal) as refused:
        restore(postgres_database, rewritten(tmp_path / "x.backup", tmp_path / "y", change_manifest), SETS)
    assert refused.value.reason == reason
    assert state(postgres_database) == before
    with postgres_database.writing() as tx:  # the counter, too, is where it was
        assert tx.row("insert into word (text) values ('z') returning id") == (before[0][-1][0] + 1,)


def test_postgres_other_migrations_are_refused(postgres_database, tmp_path):
    newer = (*STEPS, Migration("002_more", ("create table more (id {identity})",)))
    migrate(postgres_database, "words", STEPS, lambda reason: None)
    backup(postgres_database, tmp_path / "x.backup")
    migrate(postgres_database, "words", newer, lambda reason: None)
    with pytest.raises(Unready) as refused:
        restore(postgres_database, tmp_path / "x.backup", {"words": newer})
    assert (refused.value.reason, refused.value.details["sets"]) == ("other_schema", ["words"])


def test_postgres_tables_that_refer_in_circles_come_back(postgres_database, tmp_path):
    steps = (
        Migration(
            "001_circle",
            (
                "create table a (id {big} primary key, b {big})",
                "create table b (id {big} primary key, a {big} not null references a (id) on delete cascade)",
                "alter table a add constraint a_b foreign key (b) references b (id)",
            ),
        ),
    )
    migrate(postgres_database, "circle", steps, lambda reason: None)
    with postgres_database.writing() as tx:
        tx.run("insert into a values (1, null)")
        tx.run("insert into b values (2, 1)")
        tx.run("update a set b = 2")
    backup(postgres_database, tmp_path / "x.backup")
    restore(postgres_database, tmp_path / "x.backup", {"circle": steps})
    with postgres_database.reading() as tx:
        assert tx.rows("select a.id, b.id from a join b on a.b = b.id and b.a = a.id") == [(1, 2)]
    with pytest.raises(Conflict), postgres_database.writing() as tx:  # the references hold again
        tx.run("update a set b = 7")


def test_postgres_an_archive_travels_to_another_server(postgres, postgres_database, tmp_path):
    from tokonoma.store.database import open_database

    migrate(postgres_database, "words", STEPS, lambda reason: None)
    fill(postgres_database, HARD)
    backup(postgres_database, tmp_path / "x.backup")
    shutil.move(tmp_path / "x.backup", tmp_path / "moved")
    name = postgres.take()
    other = open_database(postgres.url(name), durable=False)
    migrate(other, "words", STEPS, lambda reason: None)
    restore(other, tmp_path / "moved", SETS)
    assert state(other) == state(postgres_database)
    other.close()
    postgres.give(name)
