"""`tokonoma sync`: its report, its list of conflicts and its exit codes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import Run


@pytest.fixture
def at(run: Run, tmp_path: Path) -> Callable[..., Any]:
    """Run a command in one of two homes; its output."""
    (tmp_path / "shared").mkdir()

    def invoke(home: str, *words: str, code: int = 0) -> str:
        done = run(*words, TOKONOMA_HOME=str(tmp_path / home))
        assert done.exit_code == code, done.output
        return done.output

    return invoke


def test_two_homes(at: Callable[..., str], tmp_path: Path) -> None:
    folder = str(tmp_path / "shared")
    memo_id = json.loads(at("one", "call", "memory", "save", '{"content": "first"}'))["memo_id"]
    assert "no other home yet" in at("one", "sync", folder)
    assert "1 taken" in at("two", "sync", folder)
    for home, text in (("one", "mine"), ("two", "yours")):
        at(home, "call", "memory", "save", json.dumps({"memo_id": memo_id, "content": text}))
    at("one", "sync", folder)
    assert at("two", "sync", "--conflicts") == "There are no conflicts.\n"
    would = at("two", "sync", folder, "--dry-run")
    assert "Would sync" in would
    assert "1 conflict: `tokonoma sync --conflicts` lists them." in would
    told = json.loads(at("two", "sync", folder, "--json"))
    (conflict,) = told["conflicts"]
    assert (conflict["record"], conflict["clashes"], conflict["other"]["content"]) == (memo_id, ["content"], "mine")
    assert f"the other text is memo {conflict['copy']}" in at("two", "sync", "--conflicts")
    at("one", "sync", folder)
    assert json.loads(at("one", "sync", "--conflicts", "--json"))["conflicts"][0]["copy"] == conflict["copy"]
    assert "nothing has changed" in at("one", "sync", folder)


def test_what_is_wrong_with_the_target(at: Callable[..., str], tmp_path: Path) -> None:
    assert "There is no folder" in at("one", "sync", str(tmp_path / "away"), code=1)
    assert "Name a folder" in at("one", "sync", code=2)
    at("one", "sync", str(tmp_path / "shared"))
    (file,) = (tmp_path / "shared" / "tokonoma-sync").glob("*.jsonl")
    file.write_bytes(file.read_bytes()[:-5])
    assert "It has not arrived completely." in at("two", "sync", str(tmp_path / "shared"), code=1)
    file.write_text(json.dumps({"type": "tokonoma-sync", "format": 2}) + "\n")
    assert "Update it" in at("two", "sync", str(tmp_path / "shared"), code=1)
