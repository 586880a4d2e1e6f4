"""`uninstall`: everything that was written outside the home goes, and nothing in it unless its path is typed."""

import json
import sys

import pytest

from tokonoma.cli import uninstall

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the paths of this test are Linux's")


@pytest.fixture
def user(tmp_path):
    return tmp_path / "user"


@linux
def test_entries_and_hooks_go_and_others_stay(run, value, user, home):
    value("call", "system", "status")
    (user / ".cursor").mkdir()
    (user / ".cursor" / "mcp.json").write_text(json.dumps({"mcpServers": {"other": {"command": "x"}}, "a": 1}))
    for words in (["cursor"], ["vscode", "--http", "--key"], ["claude-desktop"], ["claude-code"]):
        assert run("install", *words).exit_code == 0
    assert run("install", "claude-code", "--hooks").exit_code == 0
    listed = run("uninstall", "--dry-run")
    assert listed.stdout.count("would remove") == 5
    result = run("uninstall")
    assert result.exit_code == 0, result.output
    assert json.loads((user / ".cursor" / "mcp.json").read_text()) == {
        "mcpServers": {"other": {"command": "x"}},
        "a": 1,
    }
    assert json.loads((user / ".config" / "Code" / "User" / "mcp.json").read_text()) == {"servers": {}, "inputs": []}
    assert "hooks" not in json.loads((user / ".claude" / "settings.json").read_text())
    assert f"kept in {home}" in result.stdout
    assert (home / "tokonoma.db").exists()
    assert "would remove" not in run("uninstall", "--dry-run").stdout


@linux
def test_a_server_of_the_same_name_that_is_another_stays(run, user):
    (user / ".cursor").mkdir()
    text = json.dumps({"mcpServers": {"tokonoma": {"command": "/opt/florist", "args": ["--vase"]}}})
    (user / ".cursor" / "mcp.json").write_text(text)
    result = run("uninstall")
    assert "left alone" in result.stderr
    assert (user / ".cursor" / "mcp.json").read_text() == text


@linux
def test_a_file_that_cannot_be_rewritten_is_named(run, user):
    (user / ".cursor").mkdir()
    text = '{"mcpServers": {"tokonoma": {"command": "tokonoma"}}} // mine'
    (user / ".cursor" / "mcp.json").write_text(text)
    result = run("uninstall")
    assert "by hand" in result.stderr
    assert (user / ".cursor" / "mcp.json").read_text() == text


def test_data_are_not_deleted_without_a_person(run, value, home):
    value("call", "system", "status")
    result = run("uninstall", "--delete-data", stdin=f"{home}\n")
    assert result.exit_code == 1
    assert (home / "tokonoma.db").exists()


@pytest.fixture
def person(monkeypatch):
    monkeypatch.setattr(uninstall, "stands_at_terminal", lambda: True)


def test_data_are_deleted_when_the_path_is_typed(run, value, home, person):
    value("call", "system", "status")
    (home / "letter.txt").write_text("mine")
    assert run("uninstall", "--delete-data", stdin="yes\n").exit_code == 1
    assert (home / "tokonoma.db").exists()
    result = run("uninstall", "--delete-data", stdin=f"{home}\n")
    assert result.exit_code == 0, result.output
    assert [path.name for path in home.iterdir()] == ["letter.txt"]
    assert "it contains other files" in result.stdout


def test_an_empty_home_goes_too(run, value, home, person):
    value("call", "vault", "vault_create", '{"path": "a.md", "content": "x"}')
    assert run("backup").exit_code == 0
    assert run("uninstall", "--delete-data", stdin=f"{home}\n").exit_code == 0
    assert not home.exists()


def test_files_elsewhere_stay(run, value, home, person, tmp_path):
    vault = tmp_path / "notes"
    value("call", "vault", "vault_create", '{"path": "a.md", "content": "x"}', TOKONOMA_VAULT_ROOT=str(vault))
    result = run("uninstall", "--delete-data", stdin=f"{home}\n", TOKONOMA_VAULT_ROOT=str(vault))
    assert result.exit_code == 0, result.output
    assert (vault / "a.md").read_text() == "x"
    assert f"vault: {vault}" in result.stdout
