"""`install claude-code --hooks`: the settings of Claude Code keep everything, and can be as before."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.cli.install.hooks import MATCHER, add_hooks, build_hooks, remove_hooks
from tokonoma.core.errors import Invalid

FILE = Path("settings.json")
OTHER = {"type": "command", "command": "echo hello"}
MINE = build_hooks(["/opt/tokonoma"], [], {})
GROUPS = st.lists(
    st.fixed_dictionaries({"hooks": st.lists(st.sampled_from([OTHER, {"type": "prompt", "prompt": "x"}]), max_size=2)})
    | st.just({"matcher": "Bash", "hooks": [OTHER]})
    | st.sampled_from(["odd", 1, None, {"hooks": "odd"}]),
    min_size=1,
    max_size=3,
)
SETTINGS = st.dictionaries(st.sampled_from(["model", "env", "permissions"]), st.integers()).flatmap(
    lambda rest: st.dictionaries(st.sampled_from(["PreToolUse", "UserPromptSubmit", "Stop"]), GROUPS).map(
        lambda hooks: {**rest, "hooks": hooks} if hooks else rest
    )
)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "user" / ".claude" / "settings.json"


@given(SETTINGS)
def test_adding_keeps_everything_and_removing_restores_it(settings):
    added = add_hooks(settings, MINE, FILE)
    assert {name: value for name, value in added.items() if name != "hooks"} == {
        name: value for name, value in settings.items() if name != "hooks"
    }
    for event, groups in settings.get("hooks", {}).items():
        assert added["hooks"][event][: len(groups)] == groups
    assert add_hooks(added, MINE, FILE) == added
    assert remove_hooks(added, FILE) == settings
    moved = add_hooks(added, build_hooks(["/elsewhere/tokonoma"], [], {}), FILE)
    assert "/opt/tokonoma" not in json.dumps(moved)
    assert remove_hooks(moved, FILE) == settings


def test_a_hook_of_ours_in_a_group_of_others_is_removed_alone():
    shared = {"matcher": "Bash", "hooks": [OTHER, *MINE["PreToolUse"][0]["hooks"]]}
    assert remove_hooks({"hooks": {"PreToolUse": [shared]}}, FILE) == {
        "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [OTHER]}]}
    }


def test_the_file_is_written_with_absolute_paths_and_restored(run, file, home):
    file.parent.mkdir()
    before: dict[str, Any] = {"model": "opus", "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [OTHER]}]}}
    file.write_text(json.dumps(before, indent=4))
    assert run("install", "claude-code", "--hooks").exit_code == 0
    written = json.loads(file.read_text())
    assert written["model"] == "opus"
    theirs, ours = written["hooks"]["PreToolUse"]
    assert theirs == before["hooks"]["PreToolUse"][0]
    assert ours["matcher"] == MATCHER
    (hook,) = ours["hooks"]
    assert hook["command"].startswith(f"TOKONOMA_HOME={home} /")
    assert "exit 2" in hook["command"]
    assert json.loads(file.with_name("settings.json.bak").read_text()) == before
    text = file.read_text()
    again = run("install", "claude-code", "--hooks")
    assert "nothing was changed" in again.stderr
    assert file.read_text() == text
    assert run("install", "claude-code", "--hooks", "--remove").exit_code == 0
    assert json.loads(file.read_text()) == before
    assert "contains no hooks" in run("install", "claude-code", "--hooks", "--remove").stderr


def test_a_project_gets_its_own_file_that_is_not_committed(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("install", "claude-code", "--hooks", "--scope", "project").exit_code == 0
    assert "hooks" in json.loads((tmp_path / ".claude" / "settings.local.json").read_text())


def test_a_dry_run_prints_and_writes_nothing(run, file):
    shown = run("install", "claude-code", "--hooks", "--dry-run")
    assert set(json.loads(shown.stdout)["hooks"]) == {"PreToolUse", "UserPromptSubmit"}
    assert not file.exists()


@pytest.mark.parametrize("text", ["{ // comment\n}", '{"hooks": []}', '{"hooks": {"PreToolUse": {}}}', "nonsense"])
def test_a_file_that_is_not_understood_is_not_changed(run, file, text):
    file.parent.mkdir()
    file.write_text(text)
    refused = run("install", "claude-code", "--hooks")
    assert refused.exit_code == 1
    assert "Or add this by hand" in refused.stderr
    assert file.read_text() == text
    if text.startswith('{"hooks"'):
        with pytest.raises(Invalid):
            remove_hooks(json.loads(text), file)


@pytest.mark.parametrize("words", ["cursor --hooks", "claude-code --remove", "claude-code --hooks --http"])
def test_options_that_do_not_fit_are_refused(run, words):
    assert run("install", *words.split()).exit_code == 2
