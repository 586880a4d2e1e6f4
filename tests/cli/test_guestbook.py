"""The example plugin on both databases: spaces, pages, addresses."""

import json
from collections.abc import Generator
from dataclasses import replace
from typing import Any

import pytest
from policy.houses import DENYING, MASKING, enforce, key
from talk import Http, Lines

from tokonoma.app import App
from tokonoma.auth import api_keys as keys
from tokonoma.catalogue import CATALOGUE_FILE, read_catalogue
from tokonoma.catalogue.plugins import PluginWatch
from tokonoma.catalogue.plugins.enable import enable_plugin
from tokonoma.core.desk import Desk
from tokonoma.core.module import Migration
from tokonoma.gateway import META_TOOLS
from tokonoma.store.migrate import migrate

pytestmark = pytest.mark.migrated


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
    assert names == [*META_TOOLS, "guestbook_sign", "guestbook_entries", "guestbook_page"]


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
        team_key = keys.create_key(statements, "team", keys.build_reach(root="/team", default="/team/today"))
    team = Http(app, team_key)
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


MAIL = "zorgl.quux@example.org"


@pytest.fixture(params=["shipped", "without the hook"])
def plugin(request, app, monkeypatch):
    """The guestbook as it is shipped, and as it was when a home had enabled it before a hook was asked for."""
    if request.param != "shipped":
        import tokonoma_guestbook  # type: ignore[import-not-found]

        monkeypatch.setattr(tokonoma_guestbook, "MODULE", replace(tokonoma_guestbook.MODULE, reclassify=None))
    return request.param


def read_all(talk):
    """Everything that the guestbook tells this caller."""
    page = talk.tool("call", module="guestbook", tool_name="page", params={})
    return json.dumps([talk.call("guestbook", "entries"), page], ensure_ascii=False)


def test_what_the_policy_masks_for_a_caller_is_masked_in_a_plugin_too(app, plugin):
    owner = Lines(app)
    signed(owner, f"write to {MAIL}")
    ada = Http(app, key(app, "ada"))
    assert MAIL in read_all(ada)
    enforce(app, MASKING)
    told = read_all(ada)
    assert MAIL not in told
    assert "write to [masked:email]" in told
    signed(owner, f"now to {MAIL}")
    assert MAIL not in read_all(ada)


def test_what_the_policy_hides_from_a_caller_is_not_told_by_a_plugin(app, plugin):
    owner = Lines(app)
    address = f"tokonoma://guestbook/{signed(owner, f'write to {MAIL}')}"
    ada = Http(app, key(app, "ada"))
    enforce(app, DENYING)
    assert MAIL not in read_all(ada)
    if plugin == "shipped":
        assert ada.call("guestbook", "entries")["items"] == []
        assert MAIL in read_all(owner)
    copied = {"from_ref": {"address": address}, "to_path": "copy.md"}
    assert ada.refused("bridge", "copy_section", **copied)["code"] == "not_found"
    owner.call("bridge", "copy_section", **copied)


def test_entries_from_before_the_hook_get_the_class_that_the_index_has(app, monkeypatch):
    import tokonoma_guestbook  # type: ignore[import-not-found]

    new = tokonoma_guestbook.MODULE
    monkeypatch.setattr(tokonoma_guestbook, "MODULE", replace(new, reclassify=None, tables=new.tables[:1]))
    signed(Lines(app), f"write to {MAIL}")
    signed(Lines(app), "plain")
    labels = "select label from guestbook_entry order by words"
    with app.database.reading() as rows:
        assert rows.rows(labels) == [("internal",), ("internal",)]
    migrate(app.database, "guestbook", new.tables, lambda reason: None)
    with app.database.reading() as rows:
        assert rows.rows(labels) == [("internal",), ("pii",)]


def test_a_table_of_a_plugin_without_a_class_is_screened_in_any_spelling(app, monkeypatch):
    def tell(desk: Desk) -> dict[str, str]:
        """Tells what it has noted."""
        with desk.write() as tx:
            tx.run("insert into guestbook_note (text) values (:text)", text=f"ask {MAIL}")
            ((text,),) = tx.rows("SELECT text FROM GuestBook_Note")
        return {"told": text}

    import tokonoma_guestbook  # type: ignore[import-not-found]

    new = tokonoma_guestbook.MODULE
    note = Migration("003_note", ("create table guestbook_note (text text)",))
    entries = next(tool for tool in new.tools if tool.name == "entries")
    tools = (replace(entries, run=tell, effect="write"),)
    monkeypatch.setattr(tokonoma_guestbook, "MODULE", replace(new, tools=tools, tables=(*new.tables, note)))
    enable_plugin(app.home, "guestbook")
    ada = Http(app, key(app, "ada"))
    enforce(app, MASKING)
    assert "guestbook_note" in app.registry.unclassified_tables()
    assert "guestbook_entry" not in app.registry.unclassified_tables()
    app.registry.replace_modules(PluginWatch(app.home, read_catalogue(CATALOGUE_FILE)).read_all())
    assert ada.call("guestbook", "entries") == {"told": "ask [masked:email]"}
