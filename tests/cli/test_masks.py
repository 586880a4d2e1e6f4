"""`masks show` and `masks try`: what exactly a credential sees."""

import json

import pytest
from talk import Lines

from tokonoma.app import App
from tokonoma.app.accounts import store_account
from tokonoma.keyring.accounts import NewAccount


@pytest.fixture
def agent(run, home):
    words = ("--root", "/team", "--mask", "*:destroy,github@work:write", "--extras", "github.update_pr")
    assert run("keys", "create", "agent", *words).exit_code == 0
    app = App({"home": str(home), "durable": False}, {})
    for name in ("work", "own"):
        store_account(app, NewAccount("github", name, "/"), {"token": "canary"})
    app.close()


def test_everything_that_a_key_sees_is_shown(run, value, agent):
    told = value("masks", "show", "key:agent", "--json")
    assert (told["credential"], told["root"], told["default"]) == ("key:agent", "/team", "/team")
    assert (told["mask"], told["extras"]) == (["*:destroy", "github@work:write"], ["github.update_pr"])
    seen = {module["name"]: module for module in told["seen"]}
    tools = {f"{name}.{tool['name']}": tool for name, module in seen.items() for tool in module["tools"]}
    assert tools["memory.save"] == {"name": "save", "effect": "write", "extra": False}
    assert not [name for name, tool in tools.items() if tool["effect"] == "destroy"]
    assert seen["github"]["accounts"] == ["own", "work"]
    assert tools["github.list_prs"]["accounts"] == ["own", "work"]
    assert tools["github.create_issue"]["accounts"] == ["own"]
    assert tools["github.update_pr"] == {"name": "update_pr", "effect": "write", "extra": True, "accounts": ["own"]}
    assert "jira" not in seen
    result = run("masks", "show", "agent")
    lines = [line.split() for line in result.stdout.splitlines()]
    assert lines[0] == ["MODULE", "TOOL", "EFFECT", "ACCOUNTS"]
    assert ["github", "update_pr", "write", "(extra)", "own"] in lines
    assert ["memory", "save", "write", "-"] in lines
    assert len(lines) == 1 + len(tools)
    assert "Namespaces: /team and below, beginning in /team." in result.stderr


def test_what_is_shown_is_what_the_client_lists(value, agent, home):
    """Of the owner, whose client is in this process."""
    told = value("masks", "show", "owner", "--json")
    app = App({"home": str(home), "durable": False, "direct": "all"}, {})
    app.modules.look_now()
    listed = [tool["name"] for tool in Lines(app).ask("tools/list")["result"]["tools"]]
    own = {tool.path: tool.listed for info in app.registry.list_all().values() for tool in info.entries}
    app.close()
    assert [own[f"{module['name']}.{tool['name']}"] for module in told["seen"] for tool in module["tools"]] == listed[
        6:
    ]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["agent", "memory.save"], 0, "allowed: nothing hides it"),
        (["agent", "memory_save"], 1, "Write the tool as MODULE.TOOL"),
        (["agent", "memory.memory_save"], 0, "allowed"),
        (["agent", "memory.delete"], 1, "hidden by mask *:destroy: the mask hides memory.delete"),
        (["agent", "github.create_issue"], 0, "allowed"),
        (["agent", "github.create_issue", "--account", "work"], 1, "hidden by mask github@work:write"),
        (["agent", "github.create_issue", "--account", "other"], 1, "hidden by account other: no account"),
        (["agent", "memory.save", "--namespace", "/team/x/"], 0, "allowed"),
        (["agent", "memory.save", "--namespace", "/home"], 1, "hidden by root /team: /home lies outside /team"),
        (["agent", "jira.serch"], 1, "Did you mean"),
        (["agent", "jira.get_issue"], 1, "hidden by account (none): no account of jira is connected"),
        (["owner", "github.update_pr"], 1, "hidden by extras (none)"),
        (["agent", "memroy.save"], 1, "Did you mean 'memory'?"),
        (["nobody", "memory.save"], 1, "Nothing is called 'nobody'"),
        (["key:nobody", "memory.save"], 1, "no key called 'nobody'"),
        (["agent", "memory.save", "--modules-off", "memory"], 1, "hidden by modules_off memory"),
    ],
)
def test_a_tool_is_tried(run, agent, words, code, says):
    result = run("masks", "try", *words)
    assert (result.exit_code, says in result.output) == (code, True), result.output


def test_a_trial_as_json(run, agent):
    result = run("masks", "try", "key:agent", "memory.delete", "--json")
    assert (result.exit_code, json.loads(result.stdout)) == (
        1,
        {
            "credential": "key:agent",
            "tool": "memory.delete",
            "allowed": False,
            "rule": "mask",
            "value": "*:destroy",
            "message": "the mask hides memory.delete",
        },
    )


def test_a_name_that_two_have_is_not_guessed(run, value):
    run("keys", "create", "owner", "--mask", "*")
    assert "Several are called 'owner': key:owner, owner" in run("masks", "show", "owner").stderr
    assert value("masks", "show", "key:owner", "--json")["seen"] == []
    assert "0 tools in 0 modules" in run("masks", "show", "key:owner").stderr


def test_an_expired_key_is_not_shown(run, frozen_clock):
    run("keys", "create", "short", "--expires", "30m")
    frozen_clock.advance(31 * 60_000)
    assert "has expired" in run("masks", "show", "short").stderr
