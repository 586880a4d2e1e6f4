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
from tokonoma.files.folder import open_root
from tokonoma.files.versions import read_version
from tokonoma.journal.verify import verify

HERE = Path(__file__).parent
SOAK = os.environ.get("TOKONOMA_SOAK") == "1"
full = [pytest.mark.soak, pytest.mark.skipif(not SOAK, reason="the full count: make soak")]


def killed(home: Path, first: int, chance: random.Random, mode: str) -> int:
    """The last number that was acknowledged by a writer that was killed at some moment."""
    environ = {**os.environ, "PYTHONPATH": str(HERE.parent)}
    process = subprocess.Popen(
        [sys.executable, str(HERE / "vaulting.py"), str(home), str(first), mode],
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


@pytest.mark.parametrize("mode", ["overwrite", "append"])
@pytest.mark.parametrize("kills", [4, pytest.param(500, marks=full)], ids=["quick", "full"])
def test_killing_a_writer_leaves_the_old_or_the_new_version_and_its_history(tmp_path, kills, mode):
    chance, home, times = random.Random(kills), tmp_path / "home", 300 if mode == "append" else 3000
    app = App({"home": str(home), "log_level": "error"}, {})
    Lines(app).call("vault", "create", path="a.md", content="0:" * times)
    app.close()
    last = 0
    for _ in range(kills):
        acknowledged = killed(home, last, chance, mode)
        app = App({"home": str(home), "log_level": "error"}, {})
        talk = Lines(app)
        text = (home / "workspace" / "vault" / "a.md").read_text()
        last = int(text.rpartition("\n")[2].partition(":")[0])
        numbers = range(last + 1) if mode == "append" else [last]
        assert text == "\n".join(f"{number}:" * times for number in numbers)
        assert last >= acknowledged
        past = talk.call("vault", "history", path="a.md", limit=200)["items"]
        shown = talk.call("vault", "read", path="a.md", range={"start_line": 1, "end_line": 1})
        assert past[0]["version"] == shown["version"]
        with open_root(str(home / "workspace" / "vault")) as folder, app.database.reading() as rows:
            for newer, older in pairwise(past):
                assert newer["previous_version"] == older["version"]
                assert len(read_version(rows, folder, older["version"])) == newer["previous_bytes"]
            assert rows.row("select count(*) from vault_change where state = 'open'") == (0,)
            assert verify(rows).problems == ()
        app.close()
