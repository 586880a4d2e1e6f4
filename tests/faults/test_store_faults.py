"""Many processes on one file, and processes that die while they write."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tokonoma.store.database import Database, format_sqlite_url, open_database

HERE = Path(__file__).parent
SOAK = os.environ.get("TOKONOMA_SOAK") == "1"
soak = pytest.mark.soak
only_when_soaking = pytest.mark.skipif(not SOAK, reason="the full count: make soak")


def worker(name: str, *words: str) -> "subprocess.Popen[str]":
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, str(HERE / name), *words], stdin=pipe, stdout=pipe, stderr=pipe, text=True)


@pytest.mark.parametrize("times", [15, pytest.param(1500, marks=[soak, only_when_soaking])], ids=["quick", "full"])
def test_three_processes_that_read_and_write_lose_nothing(database_url, times):
    database = open_database(database_url)
    with database.writing() as tx:
        tx.run("create table counter (id {big} primary key, number {big} not null)")
        tx.run("insert into counter values (1, 0)")
    processes = [worker("counting.py", database_url, str(times)) for _ in range(3)]
    for each in processes:
        each.stdin.write("go\n")
        each.stdin.flush()
    answers = [(each.communicate(), each.returncode) for each in processes]
    assert [code for _, code in answers] == [0, 0, 0], answers
    assert [said for (_, said), _ in answers] == ["", "", ""]
    with database.reading() as tx:
        assert tx.row("select number from counter") == (3 * times,)
    database.close()


def kill_while_writing(url: str, after: int, first: int) -> int:
    """Start a writer, kill it once it has acknowledged `after` numbers; the last number that it acknowledged."""
    with worker("scribbling.py", url, str(first)) as process:
        for _ in range(after):
            assert process.stdout.readline(), process.stderr.read()
        os.kill(process.pid, signal.SIGKILL)
        # What it said before it died was acknowledged too. A line that was cut off was not.
        said = [first + after, *(int(line) for line in process.stdout.read().split("\n")[:-1])]
    return max(said)


def check(database: Database, acknowledged: int) -> int:
    """Everything up to the last acknowledged number is there, whole; the last number that is."""
    assert database.find_problems() == []
    with database.reading() as tx:
        rows = tx.rows("select l.id, l.text, t.id from line l left join twin t on t.id = l.id order by l.id")
        twins = tx.row("select count(*) from twin")
    assert [row[0] for row in rows] == list(range(1, len(rows) + 1))
    assert len(rows) >= acknowledged
    assert all(text == f"{number}:" * 3000 and twin == number for number, text, twin in rows)
    assert twins == (len(rows),)
    return len(rows)


@pytest.mark.parametrize("kills", [3, pytest.param(100, marks=[soak, only_when_soaking])], ids=["quick", "full"])
def test_a_killed_writer_loses_nothing_that_it_acknowledged(tmp_path, kills):
    chance = random.Random(kills)
    url = format_sqlite_url(tmp_path / "x.db")
    database = open_database(url)
    with database.writing() as tx:
        tx.run("create table line (id {big} primary key, text {text} not null)")
        tx.run("create table twin (id {big} primary key)")
    database.close()
    last = 0
    for _ in range(kills):
        acknowledged = kill_while_writing(url, chance.randrange(1, 150), last)
        database = open_database(url)
        last = check(database, acknowledged)
        if last > 1_000:  # or the check takes longer than the killing
            with database.writing() as tx:
                tx.run("delete from line")
                tx.run("delete from twin")
            last = 0
        database.close()


def test_a_writer_killed_beside_others_does_not_stop_them(tmp_path):
    """The dead one's lock goes with it: this process, which had the file open all the while, writes on."""
    url = format_sqlite_url(tmp_path / "x.db")
    database = open_database(url)
    with database.writing() as tx:
        tx.run("create table line (id {big} primary key, text {text} not null)")
        tx.run("create table twin (id {big} primary key)")
    last = check(database, kill_while_writing(url, 20, 0))
    with database.writing() as tx:
        tx.run("insert into line values (:id, :text)", id=last + 1, text=f"{last + 1}:" * 3000)
        tx.run("insert into twin values (:id)", id=last + 1)
    assert check(database, last + 1) == last + 1
    database.close()
