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
