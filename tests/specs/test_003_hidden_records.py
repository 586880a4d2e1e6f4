"""specs/003: what the policy hides from everybody, the owner can list without reading it, forget and purge."""

import json
from pathlib import Path

from policy.houses import enforce, key
from talk import Http, Lines

HIDING = """
version: 2
labels:
  - { space: /hr, class: secret }
  - { module: items, class: secret }
  - { module: claims, class: secret }
  - { module: vault, path: 'hr/*', class: secret }
"""
TEXT = "連絡先 zorgl.quux@example.com"


def fill(talk: Lines, app) -> dict[str, str]:
    """Module → the address of a record that is visible now."""
    memo = talk.call("memory", "save", content=TEXT, title="quux title", namespace="/hr")["memo_id"]
    item = talk.call("items", "create_item", type="docs", title="quux title", content=TEXT)
    claim = talk.call(
        "claims", "upsert", text=TEXT, provenance={"at": "2026-01-01T00:00:00Z", "actor": "x"}, scope="project"
    )["data"]["id"]
    talk.call("vault", "create", path="hr/staff.md", content=f"# quux title\n\n{TEXT}\n")
    return {
        "memory": f"tokonoma://memory/{memo}",
        "items": f"tokonoma://items/{item['id']}",
        "claims": f"tokonoma://claims/{claim}",
    }


def test_hidden_records_are_listed_forgotten_and_purged_by_the_owner(app, terminal):
    talk, agent = Lines(app), Http(app, key(app, "agent"))
    addresses = fill(talk, app)
    assert talk.call("system", "status")["sizes"]["hidden_by_policy"] == 0
    enforce(app, HIDING)
    assert talk.refused("memory", "get", memo_id=addresses["memory"].rpartition("/")[2])["code"] == "NOT_FOUND"
    assert talk.call("system", "status")["sizes"]["hidden_by_policy"] == 4
    assert "hidden_by_policy" not in agent.call("system", "status")["sizes"]
    listed = terminal("policy", "records", "--class", "secret", "--json")
    assert "quux" not in listed
    found = {each["address"]: each for each in json.loads(listed)["items"]}
    assert addresses.items() <= {each["module"]: address for address, each in found.items()}.items()
    assert {each["module"] for each in found.values()} == {"memory", "items", "claims", "vault"}
    assert {each["kinds"] for each in found.values()} == {"email"}
    assert all(each["at"] for each in found.values())
    assert "it hides 4 records from you" in terminal("doctor", "--port", "0")
    for address in addresses.values():
        assert f"Deleted: {address}" in terminal("policy", "forget", address, "--yes")
    assert "not found" in terminal("policy", "forget", addresses["memory"], "--yes", fails=True).lower()
    assert talk.call("system", "status")["sizes"]["hidden_by_policy"] == 1
    terminal("purge", "--trash-days", "0", "--yes")
    (left,) = json.loads(terminal("policy", "records", "--json"))["items"]
    told = terminal("policy", "forget", left["address"], "--yes", fails=True)  # a file is deleted where it is
    folder = Path(talk.call("system", "where")["places"]["vault"])
    assert f"delete that in {folder}" in told
    (folder / "hr" / "staff.md").unlink()
    talk.call("vault", "ls")
    assert json.loads(terminal("policy", "records", "--json"))["items"] == []
    assert talk.call("system", "status")["sizes"]["hidden_by_policy"] == 0
    terminal("policy", "rollback", "0.1.0")
    assert talk.refused("memory", "restore", memo_id=addresses["memory"].rpartition("/")[2])["code"] == "NOT_FOUND"


def test_a_deleted_record_is_listed_until_it_is_purged(app, terminal):
    talk = Lines(app)
    memo = talk.call("memory", "save", content=TEXT, namespace="/hr")["memo_id"]
    talk.call("memory", "delete", memo_id=memo)
    enforce(app, HIDING)
    found = json.loads(terminal("policy", "records", "--json"))["items"]
    addresses = [f"tokonoma://memory/{memo}", f"tokonoma://memory/{memo}@1"]  # with the version before the deletion
    assert [(each["address"], each["indexed"]) for each in found] == [(each, False) for each in addresses]
    assert "not indexed" in terminal("policy", "records")
    terminal("purge", "--trash-days", "0", "--yes")
    assert json.loads(terminal("policy", "records", "--json"))["items"] == []
    assert "1 record" not in terminal("policy", "records")
    assert "cannot be forgotten here" in terminal("policy", "forget", "tokonoma://system/x", "--yes", fails=True)
