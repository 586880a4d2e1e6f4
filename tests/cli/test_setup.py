"""`setup` and `demo`, as a person and as a script run them."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from transfer import servers

from tokonoma.cli.demo_talk import TALKS
from tokonoma.cli.setup.words import WORDS


@pytest.fixture
def user(environ) -> Path:
    """The home of a person with Cursor, and with two other memory servers."""
    folder = Path(environ["HOME"])
    (folder / ".cursor").mkdir()
    servers.fill_basic_memory(folder)
    servers.fill_mem0(folder)
    return folder


def read_settings(home: Path) -> dict[str, object]:
    file = home / "tokonoma.toml"
    return tomllib.loads(file.read_text("utf-8")) if file.exists() else {}


def test_without_a_terminal_it_asks_for_yes_and_changes_nothing(run, user, home):
    result = run("setup")
    assert result.exit_code == 1
    assert "--yes" in result.output
    assert not home.exists()
    assert not (user / ".cursor" / "mcp.json").exists()


def test_a_dry_run_names_everything_and_changes_nothing(run, value, user, home, tmp_path):
    (tmp_path / "manuals").mkdir()
    result = run("setup", "--dry-run", "--language", "en", "--manuals", str(tmp_path / "manuals"))
    assert result.exit_code == 0, result.output
    for part in ("mcp.json", "basic-memory", "mem0", "language = en", "manuals_root = ", WORDS["en"]["dry"]):
        assert part in result.output
    assert not (user / ".cursor" / "mcp.json").exists()
    assert read_settings(home) == {}
    assert value("call", "memory", "list")["items"] == []


def test_yes_does_what_is_found_and_may_be_repeated(run, value, user, home, tmp_path):
    (tmp_path / "manuals").mkdir()
    words = ("setup", "--yes", "--language", "ja", "--manuals", str(tmp_path / "manuals"))
    first = run(*words)
    assert first.exit_code == 0, first.output
    assert read_settings(home) == {"language": "ja", "manuals_root": str(tmp_path / "manuals")}
    entry = json.loads((user / ".cursor" / "mcp.json").read_text())["mcpServers"]["tokonoma"]
    assert entry["args"] == ["stdio"]  # the language is in the settings, not in the command of the client
    saved = {each["content"] for each in value("call", "memory", "list")["items"]}
    assert any("Green tea at nine." in each for each in saved)
    assert "Likes green tea" in saved
    again = run(*words)
    assert again.exit_code == 0, again.output
    assert WORDS["ja"]["connected"].format(title="Cursor") in again.output
    assert len(value("call", "memory", "list")["items"]) == len(saved)


def test_flags_leave_questions_out(run, value, user, home):
    result = run("setup", "--yes", "--no-clients", "--no-import", "--no-hooks")
    assert result.exit_code == 0, result.output
    assert not (user / ".cursor" / "mcp.json").exists()
    assert value("call", "memory", "list")["items"] == []
    assert run("setup", "--yes", "--client", "vscode", "--no-import").exit_code == 0
    assert (user / ".config" / "Code" / "User" / "mcp.json").exists()
    assert not (user / ".cursor" / "mcp.json").exists()


def test_answers_at_a_terminal_count(run, user, home, monkeypatch):
    monkeypatch.setattr("tokonoma.cli.setup.stands_at_terminal", lambda: True)
    answers = ["en", "n", "", "n", "n"]  # language, Cursor, manuals, two imports
    result = run("setup", stdin="\n".join(answers) + "\n")
    assert result.exit_code == 0, result.output
    assert read_settings(home) == {"language": "en"}
    assert not (user / ".cursor" / "mcp.json").exists()


def test_what_fails_is_told_and_the_rest_is_done(run, value, user):
    (user / ".cursor" / "mcp.json").write_text("{ // mine\n}")
    result = run("setup", "--yes")
    assert result.exit_code == 1
    assert "comments" in result.output
    assert len(value("call", "memory", "list")["items"]) == 2


def test_a_folder_that_is_not_there_is_refused_first(run, user, home):
    result = run("setup", "--yes", "--manuals", "/not/there")
    assert (result.exit_code, read_settings(home)) == (1, {})
    assert not (user / ".cursor" / "mcp.json").exists()


def test_both_languages_say_the_same():
    assert WORDS["en"].keys() == WORDS["ja"].keys()
    for name, text in WORDS["en"].items():
        assert sorted(re.findall(r"\{\w+\}", text)) == sorted(re.findall(r"\{\w+\}", WORDS["ja"][name])), name
    english, japanese = ([(step.tool, sorted(step.params)) for step in TALKS[each].steps] for each in ("en", "ja"))
    assert english == japanese


@pytest.mark.parametrize(
    ("language", "asked", "found"),
    [
        ("en", "金曜日にリリースしてもいい？", "→ Releases go out on Tuesday mornings. Never deploy on a Friday."),
        ("ja", "合鍵はどこに置いた？", "→ The front door has a new lock. The spare key is in the kitchen drawer."),
    ],
)
def test_the_demo_recalls_across_languages_and_leaves_nothing(run, home, tmp_path, monkeypatch, language, asked, found):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temp"))
    (tmp_path / "temp").mkdir()
    result = run("demo", "--language", language)
    assert result.exit_code == 0, result.output
    lines = [line.strip() for line in result.output.splitlines()]
    place = next(number for number, line in enumerate(lines) if line.endswith(asked))
    assert lines[place + 2] == found
    assert TALKS[language].replaced in result.output
    assert list((tmp_path / "temp").iterdir()) == []
    assert not home.exists()


def test_the_demo_can_be_kept(run, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temp"))
    (tmp_path / "temp").mkdir()
    result = run("demo", "--keep", "--language", "en")
    (folder,) = (tmp_path / "temp").iterdir()
    assert str(folder) in result.output
    kept = run("memory", "list", "--home", str(folder))
    assert "Releases go out" in kept.output
