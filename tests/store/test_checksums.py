"""Checksums of SQLite's pages: a changed bit is an error, whatever it hits; older files get theirs, once."""

import random
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import apsw
import pytest
from store.words import SETS, STEPS, fill, state

from tokonoma.core.errors import Unavailable, Unready
from tokonoma.store.backup import create_backup, restore_backup
from tokonoma.store.database import format_sqlite_url, open_database
from tokonoma.store.migrate import migrate
from tokonoma.store.sqlite import checksums
from tokonoma.store.sqlite.convert import add_checksums, is_alone

PAGE = 4096
SECRET = "letter by letter "


@pytest.fixture
def path(tmp_path):
    """A closed file with small rows, large values and an index."""
    return build(tmp_path / "x.db")


def build(path: Path) -> Path:
    database = open_database(format_sqlite_url(path), durable=False)
    migrate(database, "words", STEPS, lambda reason: None)
    fill(database, [f"{SECRET}{number} " * (1 + number % 3 * 300) for number in range(60)])
    database.close()
    return path


@pytest.fixture
def old(tmp_path, monkeypatch):
    """A file from before there were checksums."""
    with monkeypatch.context() as patched:
        patched.setattr(checksums, "_load_vfs", lambda: None)
        path = build(tmp_path / "old.db")
    assert path.read_bytes()[20] == 0
    return path


def opened(path: Path):
    return open_database(format_sqlite_url(path), durable=False)


def change(path: Path, offset: int, content: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(content)


def find_overflow_page(path: Path) -> int:
    link = apsw.Connection(str(path))
    found = link.execute("select max(pageno) from dbstat where pagetype = 'overflow' and name = 'word'").fetchall()
    link.close()
    number = found[0][0]
    assert isinstance(number, int)
    return number


def test_a_changed_letter_is_an_error_that_shows_no_data(path):
    content = path.read_bytes()
    change(path, content.index(SECRET.encode()) + 3, b"X")
    database = opened(path)
    with pytest.raises(Unavailable) as refused, database.reading() as tx:
        tx.rows("select * from word")
    assert refused.value.reason == "corrupt"
    assert "tokonoma doctor" in refused.value.message
    assert SECRET not in refused.value.message
    problems = database.find_problems()
    assert re.fullmatch(r"Tree \d+ page \d+.*does not match its checksum", problems[0])
    assert not any("\n" in problem or "letter by" in problem for problem in problems)
    database.close()


def test_a_changed_bit_anywhere_is_noticed(path):
    content, chance = path.read_bytes(), random.Random(5)
    for _ in range(40):
        at = chance.randrange(len(content))
        path.write_bytes(content)
        change(path, at, bytes([content[at] ^ 1 << chance.randrange(8)]))
        try:
            database = opened(path)
        except Unavailable as refused:
            assert refused.reason == "corrupt"
        else:
            assert database.find_problems(), at
            database.close()


@pytest.mark.parametrize("value", [0, 9])
def test_the_byte_that_turns_checksums_on_is_guarded_itself(path, value):
    change(path, 20, bytes([value]))
    with pytest.raises(Unavailable) as refused:
        opened(path)
    assert refused.value.reason == "corrupt"


def test_an_empty_page_of_a_large_value_is_found(path):
    number = find_overflow_page(path)
    change(path, (number - 1) * PAGE, bytes(PAGE))
    database = opened(path)
    assert f"page {number}, which belongs to word, holds only zeros" in database.find_problems()
    database.close()


def test_a_file_cut_within_its_last_page_is_found(path):
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 100)
    database = opened(path)
    assert "the file is 100 bytes shorter than its pages" in database.find_problems()
    database.close()


def test_a_copy_has_the_checksums_of_its_own_pages(path, tmp_path):
    database = opened(path)
    fill(
        database, [f"{number} in the log " * 700 for number in range(900)]
    )  # more than a cache holds: written in any order
    create_backup(database, tmp_path / "x.backup")
    before = state(database)
    database.close()
    copy = opened(tmp_path / "x.backup")
    assert copy.has_checksums()
    assert copy.find_problems() == []
    assert state(copy) == before
    copy.close()


def test_a_file_from_before_gets_checksums_and_keeps_its_rows(old):
    database = opened(old)
    before = state(database)
    assert not database.has_checksums()
    assert not is_alone(old)
    assert not add_checksums(old)  # this connection would go on to write pages without them
    database.close()
    assert is_alone(old)
    assert add_checksums(old)
    database = opened(old)
    assert database.has_checksums()
    assert database.find_problems() == []
    assert state(database) == before
    database.close()
    assert old.read_bytes()[20] == 8


def test_a_process_killed_while_it_adds_them_loses_nothing(old):
    database = opened(old)
    fill(database, [f"more {number} " * 2000 for number in range(300)])
    before = state(database)
    database.close()
    script = (
        "import sys, os; from pathlib import Path; from tokonoma.store.sqlite import convert\n"
        "def kill(*_): os.kill(os.getpid(), 9)\n"
        "read = convert.read_rows\n"
        "def stop(connection, sql): rows = read(connection, sql); sql == 'vacuum' and kill(); return rows\n"
        "def halfway(connection, sql):\n"
        "    if sql == 'vacuum': connection.set_progress_handler(kill, int(sys.argv[2]))\n"
        "    return read(connection, sql)\n"
        "convert.read_rows = halfway if int(sys.argv[2]) else stop\n"
        "convert.add_checksums(Path(sys.argv[1]))\n"
    )
    for steps in (100, 2_000, 0):  # 0: when all is in the log and nothing in the file
        killed = subprocess.run([sys.executable, "-c", script, str(old), str(steps)], check=False)
        assert killed.returncode == -9
        database = opened(old)
        assert database.find_problems() == []
        assert state(database) == before
        fill(database, [f"after {steps}"])
        before = state(database)
        database.close()
    assert add_checksums(old)
    database = opened(old)
    assert (state(database), database.has_checksums()) == (before, True)
    database.close()


def test_a_backup_from_before_gets_checksums_when_it_is_restored(old, tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(checksums, "_load_vfs", lambda: None)
        database = opened(old)
        before = state(database)
        create_backup(database, tmp_path / "old.backup")
        database.close()
    database = opened(tmp_path / "new.db")
    restore_backup(database, tmp_path / "old.backup", SETS)
    assert state(database) == before
    database.close()
    database = opened(tmp_path / "new.db")
    assert database.has_checksums()
    assert database.find_problems() == []
    database.close()
    assert not list(tmp_path.glob(".restore-*"))


def test_without_the_extension_a_file_with_checksums_is_refused_and_others_work(path, old, monkeypatch):
    monkeypatch.setattr(checksums, "_load_vfs", lambda: None)
    before = path.read_bytes()
    with pytest.raises(Unready, match="apsw") as refused:
        opened(path)
    assert refused.value.reason == "checksums"
    assert path.read_bytes() == before
    database = opened(old)
    assert not database.has_checksums()
    assert not is_alone(old)
    fill(database, ["works"])
    assert database.find_problems() == []
    database.close()


def test_pages_that_another_program_wrote_can_be_taken_over(path):
    other = sqlite3.connect(path)
    other.execute("update word set text = 'by hand' where id = 1")
    other.commit()
    other.close()
    database = opened(path)
    assert database.find_problems()
    database.close()
    assert add_checksums(path, trust=True)
    database = opened(path)
    assert database.find_problems() == []
    with database.reading() as tx:
        assert tx.row("select text from word where id = 1") == ("by hand",)
    database.close()
