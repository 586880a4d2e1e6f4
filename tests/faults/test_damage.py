"""Damaged files of a database: what was changed is noticed, at the start, by a read or by the doctor."""

import os
import random
import shutil
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tokonoma.app import App
from tokonoma.app.doctor.database import check_heads, check_integrity, check_journal
from tokonoma.app.store import find_heads_file
from tokonoma.core.errors import Refusal
from tokonoma.journal.chain import TABLES
from tokonoma.journal.heads import read_heads
from tokonoma.store.database import format_sqlite_url, open_database
from tokonoma.store.migrate import migrate

HERE = Path(__file__).parent
SOAK = os.environ.get("TOKONOMA_SOAK") == "1"
SHARE = 1.0 if SOAK else 0.01
MAIN, LOG, SHARED, HEADS = "tokonoma.db", "tokonoma.db-wal", "tokonoma.db-shm", "tokonoma.db-heads"


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A home with records, vectors and a journal: one half in the file, one in the log of a killed server."""
    home = tmp_path_factory.mktemp("damage") / "home"
    fill = [sys.executable, str(HERE / "filling.py"), str(home)]
    subprocess.run([*fill, "close"], check=True, timeout=300)
    with subprocess.Popen([*fill, "stay"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdout.readline() == b"ready\n"
        os.kill(server.pid, signal.SIGKILL)
    assert {MAIN, LOG, SHARED, HEADS} <= {path.name for path in home.iterdir()}
    return home


def flip(content: bytearray, chance: random.Random) -> None:
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)


def cut(content: bytearray, chance: random.Random) -> None:
    del content[chance.choice([chance.randrange(len(content)), chance.randrange(len(content)) // 4096 * 4096]) :]


def blank(content: bytearray, chance: random.Random) -> None:
    """Zeroes: a few bytes, a sector or some pages."""
    size = chance.choice([3, 512, 4096, 4096, 3 * 4096])
    start = chance.randrange(len(content))
    if size >= 4096:
        start = start // 4096 * 4096
    size = min(size, len(content) - start)
    content[start : start + size] = bytes(size)


def read_everything(app: App):
    """Every row of every table, also of those behind the index; leases run out by themselves."""
    with app.database.reading() as rows:
        names = rows.rows("select name from sqlite_schema where type = 'table' and name <> 'job_lease' order by name")
        tables = [name for (name,) in names if name not in ("words", "frequency")]
        return {name: sorted(map(repr, rows.rows(f"select * from {name}"))) for name in tables}


def look(home: Path, whole) -> str:
    """Who notices that something is wrong: start, read or doctor; else whether anything is: MISSED or same."""
    app = App({"home": str(home), "log_level": "error"}, {})
    try:
        try:
            if app.journal.get_gap() is not None:
                return "start"
        except Refusal:
            return "start"
        try:
            found = read_everything(app)
        except Refusal:
            return "read"
        database = app.database
        checks = [*check_integrity(database), *check_journal(database)]
        checks += check_heads(database, find_heads_file(app.home, database))
        if any(finding.state != "ok" for finding in checks):
            return "doctor"
        return "same" if found == whole else "MISSED"
    finally:
        app.close()


@pytest.fixture(scope="module")
def whole(filled, tmp_path_factory):
    home = tmp_path_factory.mktemp("whole") / "home"
    shutil.copytree(filled, home)
    app = App({"home": str(home), "log_level": "error"}, {})
    found = read_everything(app)
    app.close()
    assert look(home, found) == "same"  # nothing is noticed where nothing is wrong
    return found


def damage(filled, whole, folder: Path, name: str, change, times: int) -> Counter[str]:
    """Damage copies of the home until `times` of them were changed by it, or as often in vain."""
    told: Counter[str] = Counter()
    for seed in range(10 * times):
        home = folder / "home"
        shutil.copytree(filled, home)
        content = bytearray((home / name).read_bytes())
        change(content, random.Random(f"{name} {change.__name__} {seed}"))
        (home / name).write_bytes(content)
        told[look(home, whole)] += 1
        shutil.rmtree(home)
        if told.total() - told["same"] == times:
            break
    sys.stderr.write(f"{name} {change.__name__} {dict(told)}\n")  # -s shows who noticed
    return told


KINDS = {
    "log-flips": (LOG, flip, 100),
    "log-cuts": (LOG, cut, 50),
    "log-zeroes": (LOG, blank, 50),
    "file-flips": (MAIN, flip, 200),
    "file-cuts": (MAIN, cut, 60),
    "file-zeroes": (MAIN, blank, 110),
    "heads-flips": (HEADS, flip, 30),
}


@pytest.mark.soak
@pytest.mark.parametrize("kind", KINDS)
def test_no_damage_changes_anything_unnoticed(filled, whole, tmp_path, kind):
    """600 damages that change something in a soak, a handful otherwise."""
    name, change, full = KINDS[kind]
    times = max(1, int(full * SHARE))
    told = damage(filled, whole, tmp_path, name, change, times)
    assert told["MISSED"] == 0, told
    assert told.total() - told["same"] == times


def test_what_every_start_builds_anew_may_be_damaged(filled, whole, tmp_path):
    assert damage(filled, whole, tmp_path, SHARED, flip, 1) == {"same": 10}


def start_noting(url: str, heads: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, str(HERE / "noting.py"), url, str(heads)], stdout=subprocess.PIPE, text=True
    )


@pytest.mark.soak
def test_killed_processes_raise_no_alarm(tmp_path):
    """400 kills in a soak, 4 otherwise; every time one of two processes that write to the same files."""
    chance, heads = random.Random(400), tmp_path / "x.db-heads"
    url = format_sqlite_url(tmp_path / "x.db")
    database = open_database(url)
    migrate(database, "journal", TABLES, lambda reason: None)
    with database.writing() as tx:
        tx.run("create table line (id {identity}, text {text} not null)")
    processes = [start_noting(url, heads), start_noting(url, heads)]
    for _ in range(400 if SOAK else 4):
        victim = processes.pop(0)
        for _ in range(chance.randrange(1, 40)):
            assert victim.stdout.readline()
        victim.kill()
        victim.communicate()
        findings = [*check_heads(database, heads), *check_integrity(database), *check_journal(database)]
        assert [finding for finding in findings if finding.state != "ok"] == []
        assert read_heads(heads).entries
        processes.append(start_noting(url, heads))
        if chance.random() < 0.1:  # or the checks take longer than the killing
            with database.writing() as tx:
                tx.run("delete from line")
    for each in processes:
        each.kill()
        each.communicate()
    database.close()
    database = open_database(url)  # the log is read anew
    assert [each.state for each in (*check_heads(database, heads), *check_integrity(database))] == ["ok", "ok"]
    database.close()
