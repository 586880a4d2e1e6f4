"""A move that is killed at any step: nothing has happened, or everything has once somebody looks."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from faults.moving import FILES
from talk import Lines

from tokonoma.app import App
from tokonoma.journal.verify import verify

HERE = Path(__file__).parent
SOAK = os.environ.get("TOKONOMA_SOAK") == "1"
full = [pytest.mark.soak, pytest.mark.skipif(not SOAK, reason="the full count: make soak")]
MOVED = {"a.md": "[x](new/y.md) [[y]]\n", "b/b.md": "[x](../new/y.md)\n", "new/y.md": "# X\n[a](../a.md)\n"}


def read_files(vault: Path) -> dict[str, str]:
    return {path.relative_to(vault).as_posix(): path.read_text() for path in vault.rglob("*.md")}


def list_versions(vault: Path) -> set[str]:
    return {path.name for path in (vault / ".system" / "versions").rglob("*") if path.is_file()}


@pytest.mark.parametrize("every", [5, pytest.param(1, marks=full)], ids=["quick", "full"])
def test_a_killed_move_is_undone_or_completed(tmp_path, every):
    environ = {**os.environ, "PYTHONPATH": str(HERE.parent)}
    subprocess.run([sys.executable, str(HERE / "moving.py"), str(tmp_path), str(every)], check=True, env=environ)
    outcomes: list[bool] = []
    halves: list[Path] = []
    for home in sorted(tmp_path.iterdir()):
        vault = home / "workspace" / "vault"
        if read_files(vault) not in (FILES, MOVED):
            halves.append(home)
            shutil.copytree(home, copy_of(home))
        outcomes.append(check_recovered(home, vault, complete=home in halves))
    assert outcomes == sorted(outcomes)  # from some step on, it happens
    assert set(outcomes) == {False, True}
    check_changed_since(copy_of(halves[0]))


def copy_of(home: Path) -> Path:
    return home.parent.parent / f"{home.parent.name}-{home.name}"


def check_recovered(home: Path, vault: Path, complete: bool) -> bool:
    app = App({"home": str(home), "log_level": "error", "durable": False}, {})
    talk = Lines(app)
    talk.call("vault", "ls")
    files = read_files(vault)
    assert files == MOVED or (files == FILES and not complete), home.name
    for path, text in files.items():
        assert talk.call("vault", "read", path=path, full=True)["text"] == text
    with app.database.reading() as rows:
        states = {state for (state,) in rows.rows("select distinct state from vault_change")}
        befores = {before for (before,) in rows.rows("select before from vault_change")}
        assert states <= ({"done"} if files == MOVED else {"undone"}), home.name
        assert verify(rows).problems == ()
    if files == MOVED:
        assert befores <= list_versions(vault)
        past = talk.call("vault", "history", path="a.md")["items"]
        talk.call("vault", "restore", path="a.md", version=past[0]["previous_version"])
        assert (vault / "a.md").read_text() == FILES["a.md"]
        assert not complete or list_versions(vault) - befores <= {past[0]["version"]}  # it was replaced just now
    app.close()
    return files == MOVED


def check_changed_since(home: Path) -> None:
    """A file that somebody has changed after the kill keeps its text."""
    vault = home / "workspace" / "vault"
    (vault / "b/b.md").write_text("mine\n")
    app = App({"home": str(home), "log_level": "error", "durable": False}, {})
    Lines(app).call("vault", "ls")
    assert read_files(vault) == {**MOVED, "b/b.md": "mine\n"}
    app.close()
