"""`profiles`, and `--profile` of keys."""

import pytest

REACH = ("root", "default", "modules", "mask", "extras")


def pick(response):
    return [response.get(name, []) for name in REACH]


def test_a_profile_gives_its_reach_to_keys(run, value):
    assert "no profiles" in run("profiles", "list").stderr
    shown = run("profiles", "set", "reader", "--root", "/team", "--mask", "*:write,*:destroy", "--extras", "jira.*")
    assert "reader  /team  /team    all      *:destroy,*:write  jira.*" in shown.stdout
    assert run("keys", "create", "a", "--profile", "reader").exit_code == 0
    assert run("keys", "create", "b", "--profile", "reader", "--default", "/team/b", "--mask", "").exit_code == 0
    assert run("keys", "create", "c", "--modules", "memory").exit_code == 0
    assert run("keys", "set", "c", "--profile", "reader", "--extras", "").exit_code == 0
    assert run("profiles", "set", "reader", "--root", "/other", "--modules", "items").exit_code == 0
    keys = {each["name"]: pick(each) for each in value("keys", "list", "--json")}
    hidden = ["*:destroy", "*:write"]
    assert keys["a"] == ["/team", "/team", "all", hidden, ["jira.*"]]
    assert keys["b"] == ["/team", "/team/b", "all", [], ["jira.*"]]
    assert keys["c"] == ["/team", "/team", "all", hidden, []]
    [profile] = value("profiles", "list", "--json")
    assert pick(profile) == ["/other", "/other", ["items"], hidden, ["jira.*"]]
    assert run("profiles", "remove", "reader").exit_code == 0
    assert run("profiles", "remove", "reader").exit_code == 1
    assert value("profiles", "list", "--json") == []


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["profiles", "set", "x", "--mask", "sistem"], 1, "Did you mean 'system'?"),
        (["profiles", "set", "x", "--extras", "system.sync_read"], 1, "no extra tool"),
        (["profiles", "set", "x", "--profile", "redaer"], 1, "Did you mean 'reader'?"),
        (["profiles", "set", "a\nb"], 2, "Use at most 64 letters"),
        (["keys", "create", "x", "--profile", "nothing"], 1, "There are: reader."),
        (["keys", "create", "x", "--sync", "--profile", "reader"], 1, "sees everything"),
    ],
)
def test_what_is_wrong_is_said_and_changes_nothing(run, value, words, code, says):
    run("profiles", "set", "reader")
    result = run(*words)
    assert (result.exit_code, says in result.stderr) == (code, True), result.output
    assert [each["name"] for each in value("profiles", "list", "--json")] == ["reader"]
    assert value("keys", "list", "--json") == []


def test_a_profile_as_a_start_for_another(run, value):
    run("profiles", "set", "reader", "--mask", "*:write")
    run("profiles", "set", "team", "--profile", "reader", "--root", "/team")
    assert [(each["name"], each["root"], each["mask"]) for each in value("profiles", "list", "--json")] == [
        ("reader", "/", ["*:write"]),
        ("team", "/team", ["*:write"]),
    ]
