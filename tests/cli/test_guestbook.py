"""The example plugin on both databases: spaces, pages, addresses."""

from collections.abc import Generator
from typing import Any

import pytest
from talk import Http, Lines

from tokonoma.app import App
from tokonoma.auth import api_keys as keys
from tokonoma.catalogue.plugins.enable import enable_plugin


@pytest.fixture
def app(database_url, tmp_path, site, monkeypatch) -> Generator[App]:
    monkeypatch.syspath_prepend(str(site))
    home = tmp_path / "home"
    enable_plugin(home, "guestbook")
    house = App({"home": str(home), "database_url": database_url, "durable": False, "direct": "guestbook"}, {})
    yield house
    house.close()


def signed(talk, words: str, **more: str) -> str:
    return talk.call("guestbook", "sign", name="Ada", words=words, **more)["id"]


def test_its_tools_are_listed_when_asked_for(app):
    names = [tool["name"] for tool in Lines(app).ask("tools/list")["result"]["tools"]]
    assert names == ["get_module_schema", "call", "batch", "guestbook_sign", "guestbook_entries", "guestbook_page"]


def test_pages_hold_every_entry_once_newest_first(app):
    talk = Lines(app)
    ids = [signed(talk, f"entry {n}") for n in range(7)]
    found: list[str] = []
    page: dict[str, Any] = {"has_more": True}
    while page["has_more"]:
        page = talk.call("guestbook", "entries", limit=3, cursor=page.get("next_cursor"))
        found += [entry["id"] for entry in page["items"]]
    assert sorted(found) == sorted(ids)
    assert found == sorted(found, reverse=True)


def test_a_key_sees_and_writes_its_own_root_alone(app):
    owner = Lines(app)
    signed(owner, "outside")
    with app.database.writing() as statements:
        key = keys.create_key(statements, "team", keys.build_reach(root="/team", default="/team/today"))
    team = Http(app, key)
    signed(team, "today")
    signed(team, "from the root", namespace="/plans")
    told = team.call("guestbook", "entries")["items"]
    assert {(entry["namespace"], entry["words"]) for entry in told} == {
        ("/today", "today"),
        ("/plans", "from the root"),
    }
    assert len(owner.call("guestbook", "entries")["items"]) == 3
    assert team.refused("guestbook", "sign", name="A", words="b", namespace="../../x")["code"] == "INVALID_ARGUMENT"


def test_its_address_leads_to_the_record_for_those_who_may_see_it(app):
    address = f"tokonoma://guestbook/{signed(Lines(app), '床の間')}"
    with app.database.reading() as rows:
        record = app.registry.read_record(rows, address)
        assert record is not None
        assert (record.module, record.text, record.namespace, record.classification) == (
            "guestbook",
            "床の間",
            "/",
            "internal",
        )
        assert app.registry.read_record(rows, "tokonoma://guestbook/none") is None


@pytest.mark.parametrize("params", [{"name": "", "words": "x"}, {"name": "x" * 81, "words": "x"}, {"name": "x"}])
def test_bad_parameters_get_the_signature_back(app, params):
    error = Lines(app).refused("guestbook", "sign", **params)
    assert error["code"] == "INVALID_ARGUMENT"
    assert error["details"]["signature"].startswith("sign(name: str 1..80")


def test_the_page_is_a_document_beside_the_answer(app):
    owner = Lines(app)
    signed(owner, "a fine alcove")
    result = owner.tool("call", module="guestbook", tool_name="page", params={"title": "Visitors"})
    assert result["structuredContent"] == {"entries": 1}
    resource = result["content"][1]["resource"]
    assert resource["mimeType"] == "text/markdown"
    assert resource["text"].startswith("# Visitors")
    assert "a fine alcove" in resource["text"]
    assert owner.refused("guestbook", "page", title=1)["details"]["problems"][0]["field"] == "title"
