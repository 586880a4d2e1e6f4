"""specs/002, ユーザーレベルマスク: a key decides alike over lists, schemas, calls and batches."""

import json

import pytest
from talk import Http, Lines

from tokonoma.auth import api_keys as keys
from tokonoma.auth.api_keys import build_reach

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}


@pytest.fixture
def key(app):
    def create(name, expires_at=None, **reach) -> str:
        with app.database.writing() as statements:
            return keys.create_key(statements, name, build_reach(**reach), expires_at)

    return create


def test_while_no_key_exists_a_caller_on_this_machine_is_the_owner(app):
    assert Http(app).call("system", "where")["places"]["home"] == str(app.home)


def test_a_caller_from_elsewhere_is_nobody_without_a_key(app):
    response = Http(app, remote="192.0.2.7").answered(LIST)
    assert response.status_code == 401


def test_once_a_key_exists_it_is_required_and_its_holder_is_not_the_owner(app, key):
    token = key(name="laptop")
    response = Http(app).answered(LIST)
    assert response.status_code == 401
    assert response.headers["www-authenticate"].startswith("Bearer")
    assert Http(app, token).answered(LIST).status_code == 200
    assert Http(app, token + "x").answered(LIST).status_code == 401
    assert Http(app, token).refused("system", "where")["code"] == "PERMISSION_DENIED"
    assert Lines(app).call("system", "where")["places"]


def test_a_revoked_key_opens_nothing(app, key):
    token = key(name="laptop")
    talk = Http(app, token)
    assert talk.call("system", "status")
    with app.database.writing() as statements:
        keys.revoke_key(statements, "laptop")
    app.authenticator.forget()  # it remembers for a second
    assert talk.answered(LIST).status_code == 401


def test_a_running_server_follows_when_access_is_opened_again(app, key):
    token = key(name="laptop")
    assert Http(app).answered(LIST).status_code == 401
    with app.database.writing() as statements:
        keys.revoke_key(statements, "laptop")
        keys.open_access(statements)
    app.authenticator.forget()  # it remembers for a second
    assert Http(app).answered(LIST).status_code == 200
    assert Http(app, token).answered(LIST).status_code == 401
    assert Http(app, remote="192.0.2.7").answered(LIST).status_code == 401


SYSTEM = ("status", "where", "recent", "timeline", "days", "related")
MASKS = {
    "the module is not among its modules": {"modules": ["memory"]},
    "the module is masked": {"mask": ["system"]},
    "all its tools are masked": {"mask": [f"system.{name}" for name in SYSTEM]},
}


@pytest.mark.parametrize("grant", MASKS.values(), ids=MASKS)
def test_a_masked_module_does_not_exist_anywhere(app, key, grant):
    talk = Http(app, key(name="guest", **grant))
    assert "system" not in talk.ask("tools/list")["result"]["tools"][0]["description"].split("Modules:")[-1]
    told = [
        talk.error("get_module_schema", module="system"),
        talk.refused("system", "status"),
        talk.ask("tools/call", name="system_status", arguments={})["error"],
        talk.error("batch", jsonl='{"id":"a","module":"system","tool":"status"}'),
    ]
    unknown = [
        talk.error("get_module_schema", module="xystem"),
        talk.refused("xystem", "status"),
        talk.ask("tools/call", name="xystem_status", arguments={})["error"],
        talk.error("batch", jsonl='{"id":"a","module":"xystem","tool":"status"}'),
    ]
    # Word for word what is said of a module that was never there, and whose name is as near to the others.
    assert json.dumps(told).replace("system", "xystem") == json.dumps(unknown)


def test_a_masked_tool_does_not_exist_anywhere(app, key):
    talk = Http(app, key(name="guest", mask=["system.recent"]))
    schema = json.dumps(talk.value("get_module_schema", module="system"))
    assert "status" in schema
    assert "recent(" not in schema
    assert talk.refused("system", "recent")["details"]["tools"] == [each for each in SYSTEM if each != "recent"]
    error = talk.error("batch", jsonl='{"id":"a","module":"system","tool":"recent"}')
    assert "'where'" not in error["message"]
    assert error["code"] == "INVALID_ARGUMENT"


def test_each_sees_only_its_own_calls(app, key):
    first, second = Http(app, key(name="first")), Http(app, key(name="second"))
    first.call("system", "status")
    app.journal.flush()
    assert [item["tool"] for item in first.call("system", "recent")["items"]] == ["status"]
    assert second.call("system", "recent")["items"] == []


def test_a_caller_behind_a_proxy_on_this_machine_is_not_the_owner(app):
    response = Http(app).post(
        LIST, **{"x-forwarded-for": "203.0.113.9", "accept": "application/json, text/event-stream"}
    )
    assert response.status_code == 401
