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
from tokonoma.app.store import find_heads_file
from tokonoma.cli.doctor.database import check_heads, check_integrity, check_journal
from tokonoma.core.errors import Refusal

HERE = Path(__file__).parent
SOAK = os.environ.get("TOKONOMA_SOAK") == "1"
TURNS = range(200 if SOAK else 2)
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


def damage(filled, whole, folder: Path, name: str, change, seeds) -> Counter[str]:
    told: Counter[str] = Counter()
    for seed in seeds:
        home = folder / "home"
        shutil.copytree(filled, home)
        content = bytearray((home / name).read_bytes())
        change(content, random.Random(f"{name} {change.__name__} {seed}"))
        (home / name).write_bytes(content)
        told[look(home, whole)] += 1
        shutil.rmtree(home)
    print(name, change.__name__, dict(told))  # -s shows who noticed
    return told


KINDS = [
    pytest.param(LOG, flip, TURNS[: len(TURNS) // 2], id="log-flips"),
    pytest.param(LOG, cut, TURNS[: len(TURNS) // 4], id="log-cuts"),
    pytest.param(LOG, blank, TURNS[: len(TURNS) // 4], id="log-zeroes"),
    pytest.param(MAIN, flip, TURNS, id="file-flips"),
    pytest.param(MAIN, cut, TURNS[: len(TURNS) // 4], id="file-cuts"),
    pytest.param(MAIN, blank, TURNS[: len(TURNS) // 2], id="file-zeroes"),
    pytest.param(SHARED, flip, TURNS[: len(TURNS) // 10], id="shared-flips"),
    pytest.param(HEADS, flip, TURNS[: len(TURNS) * 3 // 20], id="heads-flips"),
]


@pytest.mark.soak
@pytest.mark.parametrize(("name", "change", "seeds"), KINDS)
def test_no_damage_changes_anything_unnoticed(filled, whole, tmp_path, name, change, seeds):
    """600 damages in a soak, a handful otherwise."""
    told = damage(filled, whole, tmp_path, name, change, seeds or range(1))
    assert told["MISSED"] == 0, told
