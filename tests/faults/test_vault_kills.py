"""A writer of the vault that is killed: each file is the old version or the new one, and the history is intact."""

import os
import random
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from talk import Lines

from tokonoma.app import App
from tokonoma.files.atomic import read_version
from tokonoma.files.folder import open_root
from tokonoma.journal.verify import verify

HERE = Path(__file__).parent
SOAK = os.environ.get("TOKONOMA_SOAK") == "1"
full = [pytest.mark.soak, pytest.mark.skipif(not SOAK, reason="the full count: make soak")]


def killed(home: Path, first: int, chance: random.Random) -> int:
    """The last number that was acknowledged by a writer that was killed at some moment."""
    environ = {**os.environ, "PYTHONPATH": str(HERE.parent)}
    process = subprocess.Popen(
        [sys.executable, str(HERE / "vaulting.py"), str(home), str(first)],
        stdout=subprocess.PIPE,
        text=True,
        env=environ,
    )
    with process:
        for _ in range(chance.randrange(1, 12)):
            assert process.stdout.readline()
        # Into the middle of a write: a moment that differs each time.
        for _ in range(chance.randrange(0, 200_000)):
            pass
        os.kill(process.pid, signal.SIGKILL)
        said = [int(line) for line in process.stdout.read().split("\n")[:-1]]
    return max(said, default=first)


@pytest.mark.parametrize("kills", [4, pytest.param(500, marks=full)], ids=["quick", "full"])
def test_killing_a_writer_leaves_the_old_or_the_new_version_and_its_history(tmp_path, kills):
    chance, home = random.Random(kills), tmp_path / "home"
    app = App({"home": str(home), "log_level": "error"}, {})
    Lines(app).call("vault", "create", path="a.md", content="0:" * 3000)
    app.close()
    last = 0
    for _ in range(kills):
        acknowledged = killed(home, last, chance)
        app = App({"home": str(home), "log_level": "error"}, {})
        talk = Lines(app)
        text = (home / "workspace" / "vault" / "a.md").read_text()
        last = int(text.partition(":")[0])
        assert text == f"{last}:" * 3000
        assert last >= acknowledged
        past = talk.call("vault", "history", path="a.md", limit=200)["items"]
        shown = talk.call("vault", "read", path="a.md", range={"start_line": 1, "end_line": 1})
        assert past[0]["version"] == shown["version"]
        with open_root(str(home / "workspace" / "vault")) as folder:
            for newer, older in pairwise(past):
                assert newer["previous_version"] == older["version"]
                assert read_version(folder, newer["previous_version"])
        with app.database.reading() as rows:
            assert rows.row("select count(*) from vault_change where state = 'open'") == (0,)
            assert verify(rows).problems == ()
        app.close()
