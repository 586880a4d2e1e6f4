"""Backups: whole, verified, taken while others write, restored as a whole or not at all."""

import os
import random
import stat
import threading
from pathlib import Path

import pytest
from store.words import HARD, SETS, STEPS, change, fill, state

from tokonoma.core.errors import Conflict, Invalid, Refusal, Unready
from tokonoma.core.module import Migration
from tokonoma.store import backup as backups
from tokonoma.store.backup import create_backup, restore_backup, verify_backup
from tokonoma.store.database import Database
from tokonoma.store.migrate import migrate


@pytest.fixture
def words(database: Database) -> Database:
    migrate(database, "words", STEPS, lambda reason: None)
    fill(database, HARD)
    return database


def test_what_was_saved_comes_back(words, tmp_path):
    before, target = state(words), tmp_path / "x.backup"
    made = create_backup(words, target)
    assert (made.path, made.kind, made.size) == (target, words.kind, target.stat().st_size)
    assert dict(made.tables) == {"word": 7, "pair": 7, "empty": 0}
    assert dict(made.migrations) == {"words": ["001_words"]}
    assert verify_backup(target).tables == made.tables
    change(words)
    restored = restore_backup(words, target, SETS)
    assert restored.contents.tables == made.tables
    assert state(words) == before
    assert words.find_problems() == []


def test_numbers_go_on_where_they_were(words, tmp_path):
    with words.writing() as tx:
        last = tx.row("insert into word (text) values ('x') returning id")[0]
        tx.run("delete from word where text = 'x'")
    create_backup(words, tmp_path / "x.backup")
    change(words)
    restore_backup(words, tmp_path / "x.backup", SETS)
    with words.writing() as tx:
        assert tx.row("insert into word (text) values ('y') returning id")[0] == last + 1
        row = tx.row("insert into empty default values returning id, twice")
        assert row[1] == row[0] * 2


def test_a_backup_is_its_owners_alone_and_leaves_nothing_beside_it(words, tmp_path):
    folder = tmp_path / "backups"
    folder.mkdir()
    create_backup(words, folder / "x.backup")
    verify_backup(folder / "x.backup")
    assert [each.name for each in folder.iterdir()] == ["x.backup"]
    assert stat.S_IMODE((folder / "x.backup").stat().st_mode) == 0o600


def test_a_backup_does_not_replace_a_file(words, tmp_path):
    (tmp_path / "x.backup").write_text("mine")
    with pytest.raises(Conflict):
        create_backup(words, tmp_path / "x.backup")
    with pytest.raises(Invalid):
        create_backup(words, tmp_path / "no folder" / "x.backup")
    assert (tmp_path / "x.backup").read_text() == "mine"


def test_a_backup_that_fails_leaves_nothing(words, tmp_path, monkeypatch):
    folder = tmp_path / "backups"
    folder.mkdir()
    monkeypatch.setattr(backups, "verify_backup", lambda path: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        create_backup(words, folder / "x.backup")
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
    made = [create_backup(words, tmp_path / f"{n}.backup") for n in range(3)]
    go_on.clear()
    thread.join()
    for each in made:
        assert each.tables["word"] == each.tables["pair"]
    restore_backup(words, made[1].path, SETS)
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
    create_backup(words, tmp_path / "x.backup")
    change(words)
    before, refused = state(words), 0
    for seed in range(40):
        try:
            found = verify_backup(spoiled(tmp_path / "x.backup", tmp_path / "bad", seed))
        except Refusal as refusal:
            assert refusal.reason in ("damaged", "not_a_backup", "newer_schema")
            refused += 1
            with pytest.raises(Refusal):
                restore_backup(words, tmp_path / "bad", SETS)
        else:
            # Bytes that nobody reads (dates of the zip, the seal's own): what is read is whole.
            assert dict(found.tables) == {"word": 7, "pair": 7, "empty": 0}
    assert refused > 35
    assert state(words) == before
    assert words.find_problems() == []


@pytest.mark.parametrize("content", [b"", b"hello", b"PK", b"PK\x05\x06" + bytes(18)])
def test_what_is_no_backup_is_refused(words, tmp_path, content):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(Invalid) as refused:
        restore_backup(words, tmp_path / "x", SETS)
    assert refused.value.reason in ("not_a_backup", "damaged")
    with pytest.raises(Invalid):
        verify_backup(tmp_path / "nothing")


def test_tables_of_a_newer_program_are_refused(words, tmp_path):
    newer = (*STEPS, Migration("002_more", ("create table more (id {identity})",)))
    migrate(words, "words", newer, lambda reason: None)
    create_backup(words, tmp_path / "x.backup")
    before = state(words)
    with pytest.raises(Unready) as refused:
        restore_backup(words, tmp_path / "x.backup", SETS)
    assert (refused.value.reason, refused.value.details["migration"]) == ("newer_schema", "002_more")
    with pytest.raises(Unready) as refused:
        restore_backup(words, tmp_path / "x.backup", {})
    assert (refused.value.reason, refused.value.details["set"]) == ("unknown_schema", "words")
    assert state(words) == before


def test_a_database_without_tables_has_nothing_to_save(database, tmp_path):
    with pytest.raises(Unready) as refused:
        create_backup(database, tmp_path / "x.backup")
    assert refused.value.reason == "empty"


def test_a_backup_of_the_other_database_is_refused(sqlite_database, postgres_database, tmp_path):
    for database in (sqlite_database, postgres_database):
        migrate(database, "words", STEPS, lambda reason: None)
        create_backup(database, tmp_path / f"{database.kind}.backup")
    with pytest.raises(Invalid) as refused:
        restore_backup(sqlite_database, tmp_path / "postgresql.backup", SETS)
    assert refused.value.reason == "other_database"
    with pytest.raises(Invalid):
        restore_backup(postgres_database, tmp_path / "sqlite.backup", SETS)


def test_what_was_there_before_a_restore_is_kept(words, tmp_path):
    create_backup(words, tmp_path / "x.backup")
    change(words)
    before = state(words)
    (tmp_path / "safe").mkdir()
    restored = restore_backup(words, tmp_path / "x.backup", SETS, safety=tmp_path / "safe")
    assert state(words) != before
    assert restored.safety is not None
    assert restored.safety.parent == tmp_path / "safe"
    restore_backup(words, restored.safety, SETS, safety=tmp_path / "safe")
    assert state(words) == before


def test_what_a_killed_backup_left_is_removed_by_a_later_one(words, tmp_path):
    left, fresh, other = (tmp_path / name for name in (".a.backup.0123abcd.partial", ".b.4567cdef.partial", ".c"))
    for path, hours in ((left, 2), (fresh, 0), (other, 2)):
        path.write_bytes(b"half")
        at = path.stat().st_mtime - 3_600 * hours
        os.utime(path, (at, at))
    create_backup(words, tmp_path / "x.backup")
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == [fresh.name, other.name, "x.backup"]
