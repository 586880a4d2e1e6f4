"""More new files than a caller waits for: told, worked off in the background, and complete in the end."""

import json
from pathlib import Path

import pytest
from talk import Lines

from tokonoma.app import App
from tokonoma.cli.call import call_tool
from tokonoma.files import backlog

FILES = 250


@pytest.fixture
def app(tmp_path):
    house = App({"home": str(tmp_path / "home"), "durable": False, "embed_provider": "none"}, {})
    yield house
    house.close()


def filled(folder: Path) -> None:
    folder.mkdir(parents=True)
    for number in range(FILES):
        (folder / f"{number:03}.md").write_text(f"# Note {number}\ntea\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("where", "module", "tool"), [("vault/notes", "vault", "ls"), ("manuals/notes", "manual", "ls")]
)
def test_a_call_that_would_last_too_long_says_so_and_the_rest_goes_on(app, tmp_path, monkeypatch, where, module, tool):
    filled(tmp_path / "home" / "workspace" / where)
    monkeypatch.setattr(backlog, "WAIT_SECONDS", 0.0)
    talk, told = Lines(app), []
    for _ in range(600):
        answer = talk.tool("call", module=module, tool_name=tool, params={})
        if not answer.get("isError"):
            break
        told.append(json.loads(answer["content"][0]["text"])["error"])
    assert talk.call(module, tool)["total"] == FILES
    assert told[0]["details"]["reason"] == "indexing"
    assert told[0]["details"]["total"] == FILES
    assert "ask again" in told[0]["message"]
    assert all(0 <= each["details"]["done"] <= each["details"]["total"] for each in told)


def test_who_sits_at_the_terminal_waits(app, tmp_path, monkeypatch):
    filled(tmp_path / "home" / "workspace" / "vault" / "notes")
    monkeypatch.setattr(backlog, "WAIT_SECONDS", 0.0)
    assert call_tool(app, "vault", "ls")["total"] == FILES


def test_a_house_that_closes_meanwhile_loses_nothing(tmp_path, monkeypatch):
    filled(tmp_path / "home" / "workspace" / "vault" / "notes")
    monkeypatch.setattr(backlog, "WAIT_SECONDS", 0.0)
    first = App({"home": str(tmp_path / "home"), "durable": False, "embed_provider": "none"}, {})
    assert Lines(first).tool("call", module="vault", tool_name="ls", params={})["isError"]
    first.close()
    monkeypatch.setattr(backlog, "WAIT_SECONDS", 60.0)
    second = App({"home": str(tmp_path / "home"), "durable": False, "embed_provider": "none"}, {})
    assert Lines(second).call("vault", "ls")["total"] == FILES
    second.close()
