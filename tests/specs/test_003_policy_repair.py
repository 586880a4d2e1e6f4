"""specs/003, POLICY_MISSING: nothing is allowed without a readable policy, and the terminal repairs it."""

import json

import pytest
from policy.houses import key
from talk import Http, Lines

from tokonoma.app import App
from tokonoma.core.policy import PolicyVersion
from tokonoma.policy import versions

PLAIN = "version: 3\n"


def break_policy(app: App, how: str) -> None:
    """As a downgrade, a damaged row or a lost one leaves it."""
    texts = {
        "from a later program": "version: 2\nfrom_a_later_program: {}\n",
        "no YAML": "version: [",
        "coming": "x: 1",
    }
    with app.write_as_owner("policy.apply") as statements:
        wanted = PolicyVersion(-1, "2.0.0", texts.get(how, PLAIN), 0, "owner", "", "")
        versions.save_version(statements, wanted)
        if how != "coming":
            statements.run("update policy_head set number = coming, coming = null where id = 1")
            statements.run("delete from policy_relabel where id = 1")
        if how == "a lost row":
            statements.run("delete from policy_version")
    app.policies.invalidate()


@pytest.mark.parametrize("how", ["from a later program", "no YAML", "a lost row", "coming"])
def test_the_terminal_repairs_a_policy_that_cannot_be_read(app, terminal, tmp_path, how):
    owner, agent = Lines(app), Http(app, key(app, "agent"))
    owner.call("memory", "save", content="the roof leaks")
    break_policy(app, how)
    for talk in (owner, agent):
        for module, tool, params in (
            ("memory", "list", {}),
            ("memory", "save", {"content": "x"}),
            ("claims", "list", {}),
        ):
            assert talk.refused(module, tool, **params)["code"] == "POLICY_MISSING"
        assert talk.refused("items", "get_items", type="docs")["data"]["type"] == "POLICY_MISSING"
    assert "pending" in owner.call("claims", "policy.apply", yaml=PLAIN)["data"]
    found = json.loads(terminal("doctor", "--json", "--port", "0", fails=True))["findings"]
    advice = next(each for each in found if each["name"] == "policy")
    assert advice["state"] == "fail"
    assert "tokonoma policy rollback VERSION" in advice["do"]
    assert "0.1.0" in terminal("policy", "show", "--history")
    assert "doctor" in terminal("policy", "test", "x", fails=True)
    if how == "a lost row":
        assert "not in the database" in terminal("policy", "show", fails=True)
    else:
        assert terminal("policy", "show")
    file = tmp_path / "plain.yaml"
    file.write_text(PLAIN)
    assert "It loosens: the policy in force cannot be read" in terminal("policy", "apply", str(file), "--dry-run")
    assert "In force: 3.0.0" in terminal("policy", "apply", str(file))
    app.policies.invalidate()
    assert len(owner.call("memory", "list")["items"]) == 1
    break_policy(app, how)
    assert "In force: 0.1.1" in terminal("policy", "rollback", "0.1.0")
    app.policies.invalidate()
    assert len(owner.call("memory", "list")["items"]) == 1
    assert json.loads(terminal("doctor", "--json", "--port", "0", fails=False))["ok"]


def test_a_write_that_meets_the_broken_policy_first_says_so_too(app):
    owner = Lines(app)
    owner.call("memory", "save", content="the roof leaks")  # the policy is cached for a second now
    app.policies.get_active()
    cached = app.policies._current
    break_policy(app, "no YAML")
    app.policies._current, app.policies._cached_until = cached, 10**12
    assert owner.refused("memory", "save", content="x")["code"] == "POLICY_MISSING"
