"""A backup and a restore that are killed: no half backup, and every file is the old one or the new one."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from talk import Lines

from tokonoma.app import App
from tokonoma.store.backup import verify_backup

HERE = Path(__file__).parent
FILES = ("a.md", "b.md", "c/d.md")


def run(*arguments: str) -> int:
    return subprocess.run([sys.executable, str(HERE / "restoring.py"), *arguments], capture_output=True).returncode


def call(home: Path, *tools: tuple[str, dict[str, str]]) -> None:
    app = App({"home": str(home), "log_level": "error", "durable": False}, {})
    for tool, params in tools:
        Lines(app).call("vault", tool, **params)
    app.close()


@pytest.fixture
def home(tmp_path) -> Path:
    home = tmp_path / "home"
    call(home, *(("create", {"path": path, "content": "old"}) for path in FILES))
    return home


def texts(home: Path) -> list[str]:
    return [(home / "workspace" / "vault" / path).read_text() for path in FILES]


def test_a_killed_backup_leaves_no_backup(home, tmp_path):
    assert run("backup", str(home), str(tmp_path / "x.backup"), "2") == -signal.SIGKILL
    assert not (tmp_path / "x.backup").exists()
    assert run("backup", str(home), str(tmp_path / "x.backup"), "99") == 0
    assert verify_backup(tmp_path / "x.backup").files.count == 3


@pytest.mark.parametrize(("step", "count"), [("stage_file", 1), ("place_staged", 0), ("place_staged", 2)])
def test_a_killed_restore_leaves_old_or_new_files_and_can_be_repeated(home, tmp_path, step, count):
    assert run("backup", str(home), str(tmp_path / "x.backup"), "99") == 0
    call(home, *(("write", {"path": path, "content": "new", "mode": "overwrite"}) for path in FILES))
    assert run(step, str(home), str(tmp_path / "x.backup"), str(count)) == -signal.SIGKILL
    assert sorted(texts(home)) == ["new"] * (3 - count if step == "place_staged" else 3) + ["old"] * (
        count if step == "place_staged" else 0
    )
    assert list((home / "workspace" / "vault" / ".system" / "restore").iterdir())
    assert run("place_staged", str(home), str(tmp_path / "x.backup"), "99") == 0
    assert texts(home) == ["old"] * 3
    assert not (home / "workspace" / "vault" / ".system" / "restore").exists()
    call(home, ("write", {"path": "a.md", "content": "later", "mode": "overwrite"}))
