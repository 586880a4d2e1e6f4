"""system: what it says of the server, to the owner and to a key."""

import pytest
from talk import Http, Lines

from tokonoma.app import App
from tokonoma.auth import api_keys


@pytest.fixture
def app(tmp_path):
    app = App({"home": str(tmp_path), "durable": False, "embed_provider": "none"}, {})
    yield app
    app.close()


def test_status_counts_the_tools_that_the_caller_sees(app):
    owner = {each["name"]: each["tools"] for each in Lines(app).call("system", "status")["modules"]}
    with app.write_as_owner("keys.create") as statements:
        token = api_keys.create_key(statements, "reader", api_keys.build_reach(mask=["*:write", "*:destroy", "claims"]))
    seen = {each["name"]: each["tools"] for each in Http(app, token).call("system", "status")["modules"]}
    assert seen.keys() == owner.keys() - {"claims", "bridge"}  # bridge only writes
    assert seen["system"] == owner["system"]
    assert seen["memory"] < owner["memory"]


def test_recent_calls_are_those_of_the_caller(app):
    talk = Lines(app)
    talk.call("memory", "list")
    app.journal.flush()
    assert talk.call("system", "recent", limit=1)["items"][0]["tool"] == "list"


def test_days_count_what_was_changed_where_the_caller_may_look(app):
    talk = Lines(app)
    for place in ("/work", "/work/ops", "/home"):
        talk.call("memory", "save", content=f"A memo in {place}", namespace=place)
    talk.call("items", "create_item", type="issue", title="An item")
    (today,) = talk.call("system", "days", since="2000-01-01")["items"]
    assert (today["count"], today["modules"]) == (4, {"items": 1, "memory": 3})
    assert talk.call("system", "days", since="2000-01-01", namespace="/work")["items"][0]["count"] == 2
    assert talk.call("system", "days", since="2000-01-01", modules=["items"])["items"][0]["modules"] == {"items": 1}
    assert talk.call("system", "days", since="2000-01-01", until="2000-12-31")["items"] == []
    shifted = [talk.call("system", "days", since="2000-01-01", offset_minutes=each)["items"] for each in (-840, 840)]
    assert shifted[0][0]["day"] < shifted[1][0]["day"]  # 28 hours apart
    with app.write_as_owner("keys.create") as statements:
        token = api_keys.create_key(statements, "ops", api_keys.build_reach(root="/work/ops", mask=["items"]))
    assert Http(app, token).call("system", "days", since="2000-01-01")["items"][0]["count"] == 1


def test_related_leaves_out_what_is_only_near(app):
    talk = Lines(app)
    ids = [talk.call("memory", "save", content=f"The meeting, part {each}")["memo_id"] for each in range(3)]
    talk.call("memory", "relation.save", sourceMemoId=ids[0], targetMemoId=ids[1], tag="next", weight=1.0)
    address = f"tokonoma://memory/{ids[0]}"
    kinds = [each["kind"] for each in talk.call("system", "related", address=address)["items"]]
    assert kinds == ["next", "near"]
    assert [each["kind"] for each in talk.call("system", "related", address=address, near=False)["items"]] == ["next"]
