"""specs/004, 3.1 基本CRUD操作 and 3.6 高度な操作: over the wire, on both databases."""

import pytest
from specs.items_client import Items
from talk import Http, Lines

from tokonoma.auth import api_keys as keys
from tokonoma.auth.api_keys import build_reach


def test_an_item_is_made_and_read_back_as_it_was(talk):
    items = Items(talk)
    content = "床の間\n<script>alert(1)</script> Map<K, V> “q” ☃ \\ ' ; drop table item; --\u3000end "
    fields = {
        "title": "設計 <Box<T>>", "description": "二行の\n説明", "content": content, "status": "In Progress",
        "priority": "HIGH", "category": "基盤", "start_date": "2026-01-02T03:04:05Z", "end_date": "2026-02-01",
        "version": "v1.2", "tags": ["設計", "a b"],
    }  # fmt: skip
    made = items.create_item(type="docs", **fields)
    read = items.get(made)
    assert read == made
    assert {name: read[name] for name in fields if not name.endswith("_date")} == {
        name: value for name, value in fields.items() if not name.endswith("_date")
    }
    assert (read["start_date"], read["end_date"]) == ("2026-01-02T03:04:05.000Z", "2026-02-01T00:00:00.000Z")
    assert read["address"] == f"docs-{read['id']}"
    assert (read["revision"], read["created_at"]) == (1, read["updated_at"])


def test_defaults(items):
    made = items.make()
    assert (made["status"], made["priority"], made["content"], made["tags"]) == ("Open", "MEDIUM", "", [])
    assert [made[name] for name in ("category", "start_date", "end_date", "version")] == [None] * 4


def test_tools_are_listed_under_the_names_of_the_specification(app):
    app.dispatcher._direct = ("items",)
    listed = {each["name"] for each in Lines(app).ask("tools/list")["result"]["tools"]}
    assert {
        "create_item", "get_item_detail", "get_items", "update_item", "delete_item", "search_items", "search_suggest",
        "get_related_items", "find_path", "get_tags", "search_items_by_tag", "get_statuses", "get_current_state",
        "update_current_state", "change_item_type", "bulk_update",
    } <= listed  # fmt: skip
    assert Lines(app).value("create_item", type="issue", title="by its own name")["id"] == 1


def test_a_change_names_its_fields_and_leaves_the_rest(items):
    made = items.make(description="d", content="c", tags=["x"], category="k", version="1", start_date="2026-01-01")
    changed = items.update_item(type="issue", id=made["id"], title="new", status="Review")
    assert (changed["title"], changed["status"], changed["revision"]) == ("new", "Review", 2)
    assert [changed[name] for name in ("description", "content", "tags", "category")] == ["d", "c", ["x"], "k"]
    cleared = items.update_item(
        type="issue", id=made["id"], description="", category="", version="", start_date="", tags=[]
    )
    assert (cleared["description"], cleared["category"], cleared["version"], cleared["start_date"]) == ("",) + (
        None,
    ) * 3
    assert cleared["tags"] == []
    same = items.update_item(type="issue", id=made["id"], title="new")
    assert same["revision"] == cleared["revision"]


def test_a_stale_revision_is_refused_and_nothing_changes(items):
    made = items.make()
    items.update_item(type="issue", id=made["id"], title="theirs", expected_revision=1)
    for tool, more in (("update_item", {"title": "mine"}), ("delete_item", {})):
        error = items.refused(tool, type="issue", id=made["id"], expected_revision=1, **more)
        assert error["code"] == 1004
        assert error["data"]["details"]["current_revision"] == 2
    assert items.get(made)["title"] == "theirs"


def test_an_item_is_sought_under_its_type(items):
    made = items.make(type="docs")
    error = items.refused("get_item_detail", type="issue", id=made["id"])
    assert error["code"] == 1001
    assert error["data"]["type"] == "ItemNotFoundError"
    assert error["data"]["details"] == {"type": "issue", "id": made["id"], "requested_id": f"issue-{made['id']}"}
    for tool in ("update_item", "delete_item", "restore_item", "get_item_history", "get_related_items"):
        assert items.refused(tool, type="issue", id=made["id"])["code"] == 1001
    assert items.get_item_detail(type="items", id=made["id"])["type"] == "docs"


def test_the_trash_gives_back_an_item_with_its_links(items):
    one, other = items.make("one", tags=["t"]), items.make("other")
    items.add_relation(type="issue", id=one["id"], target=other["address"], kind="blocks")
    told = items.delete_item(type="issue", id=one["id"])
    assert told["deleted"] is True
    assert items.refused("get_item_detail", type="issue", id=one["id"])["code"] == 1001
    assert items.refused("delete_item", type="issue", id=one["id"])["code"] == 1001
    assert [each["id"] for each in items.get_items(type="issue")["items"]] == [other["id"]]
    assert items.get_tags()["items"] == []
    assert [each["id"] for each in items.get_items(state="trash")["items"]] == [one["id"]]
    beside = items.get(other)
    assert (beside["related"], beside["vanished"]) == ([], [one["address"]])
    assert items.restore_item(type="issue", id=one["id"])["related"] == [other["address"]]
    assert items.get(other)["relations"][0]["kind"] == "blocked_by"
    error = items.refused("restore_item", type="issue", id=one["id"])
    assert (error["code"], error["data"]["details"]["field"]) == (1004, "id")


def test_a_link_to_the_trash_survives_a_change_of_the_other_links(items):
    hub, gone, new = items.make("hub"), items.make("gone"), items.make("new")
    items.update_item(type="issue", id=hub["id"], related=[gone["address"]])
    items.delete_item(type="issue", id=gone["id"])
    assert items.update_item(type="issue", id=hub["id"], related=[new["address"]])["related"] == [new["address"]]
    items.restore_item(type="issue", id=gone["id"])
    assert items.get(hub)["related"] == [gone["address"], new["address"]]


def test_another_type_keeps_number_links_and_history_and_the_old_address(items):
    other = items.make("other")
    made = items.make("a thought", type="idea", related=[other["address"]])
    told = items.change_item_type(from_type="idea", from_id=made["id"], to_type="decision")
    assert (told["id"], told["address"], told["previous_address"]) == (
        made["id"], f"decision-{made['id']}", made["address"],
    )  # fmt: skip
    assert told["related"] == [other["address"]]
    assert items.get(other)["related"] == [told["address"]]
    assert items.get_item_detail(type="idea", id=made["id"])["type"] == "decision"
    assert items.make("third", related=[made["address"]])["related"] == [told["address"]]
    history = items.get_item_history(type="decision", id=made["id"])["items"]
    retyped = next(each for each in history if each["action"] == "retyped")
    assert retyped["changes"] == {"type": {"from": "idea", "to": "decision"}}
    error = items.refused("change_item_type", from_type="idea", from_id=made["id"], to_type="decision")
    assert error["code"] == 1004
    assert items.refused("change_item_type", from_type="idea", from_id=made["id"], to_type="Not Ok")["code"] == 1002
    back = items.change_item_type(from_type="decision", from_id=made["id"], to_type="idea")
    assert back["address"] == made["address"]
    assert items.get_item_detail(type="decision", id=made["id"])["type"] == "idea"


def test_history_tells_who_changed_what_newest_first_in_pages(app, items):
    made = items.make("first")
    for number in range(5):
        items.update_item(type="issue", id=made["id"], title=f"title {number}", content="x" * 600)
    items.delete_item(type="issue", id=made["id"])
    seen, cursor = [], None
    while True:
        page = items.get_item_history(type="issue", id=made["id"], limit=3, cursor=cursor)
        seen += page["items"]
        if not page["has_more"]:
            break
        cursor = page["next_cursor"]
    assert [each["action"] for each in seen] == ["deleted", *["updated"] * 5, "created"]
    assert seen[1]["changes"] == {"title": {"from": "title 3", "to": "title 4"}}
    assert [each["revision"] for each in seen] == [7, 6, 5, 4, 3, 2, 1]
    assert {(each["by"], each["transport"]) for each in seen} == {("owner", "stdio")}
    first = seen[-2]["changes"]["content"]
    assert (first["from"], first["to"]) == ("", "x" * 500 + "… (600 characters)")
    app.journal.flush()
    with app.database.reading() as rows:
        entered = {row[0] for row in rows.rows("select request_id from journal where outcome = 'committed'")}
    assert {each["request_id"] for each in seen} <= entered


def test_many_are_changed_at_once_in_the_order_asked(talk):
    items = Items(talk)
    made = [items.make(f"item {number}") for number in range(5)]
    told = items.bulk_update(
        updates=[{"type": "issue", "id": each["id"], "data": {"status": "Closed", "tags": ["done"]}} for each in made]
    )
    assert told["updated"] == 5
    assert [(each["index"], each["id"], each["revision"]) for each in told["items"]] == [
        (number, each["id"], 2) for number, each in enumerate(made)
    ]
    again = items.bulk_update(updates=[{"type": "issue", "id": made[0]["id"], "data": {"status": "Closed"}}])
    assert (again["updated"], again["items"][0]["changed"]) == (0, False)


def test_one_bad_line_among_a_hundred_changes_nothing_and_all_that_is_wrong_is_told(items):
    made = [items.make(f"item {number}") for number in range(100)]
    updates = [{"type": "issue", "id": each["id"], "data": {"status": "Closed"}} for each in made]
    updates[41]["data"] = {"status": "Shut", "priority": "Urgent", "related": ["docs-99"]}
    updates[42]["id"] = 4242
    updates[43]["expected_revision"] = 7
    updates[44]["id"] = updates[45]["id"]
    error = items.refused("bulk_update", updates=updates)
    assert error["code"] == 1004
    told = [(each["code"], each["field"]) for each in error["data"]["details"]["errors"]]
    assert told == [
        (1004, "updates[41].data.status"),
        (1002, "updates[41].data.priority"),
        (1004, "updates[41].data.related[0]"),
        (1001, "updates[42].id"),
        (1004, "updates[43].expected_revision"),
        (1002, "updates[45].id"),
    ]
    assert len(items.get_items(type="issue", statuses=["Open"], limit=100)["items"]) == 100
    assert {each["revision"] for each in items.get_items(type="issue", limit=100)["items"]} == {1}
    assert items.refused("bulk_update", updates=[*updates, updates[0]])["code"] == -32602


@pytest.mark.parametrize("tool", ["get_item_detail", "update_item", "delete_item", "restore_item", "get_item_history"])
def test_numbers_that_no_item_can_have_are_not_found(items, tool):
    for number in (0, -1, 2**63, 10**30):
        assert items.refused(tool, type="issue", id=number)["code"] in (1001, -32602)
    assert items.refused(tool, type="issue", id=True)["code"] == -32602
    assert items.refused(tool, type="a\0b", id=1)["code"] == 1001


def test_a_key_sees_its_own_items_and_cannot_link_to_others(app, items):
    mine = items.make("the owner's")
    with app.database.writing() as statements:
        token = keys.create_key(statements, "guest", build_reach(root="/team", default="/team"))
    guest = Items(Http(app, token))
    theirs = guest.make("the guest's", tags=["theirs"])
    assert [each["title"] for each in guest.get_items()["items"]] == ["the guest's"]
    for tool in ("get_item_detail", "update_item", "delete_item", "get_item_history"):
        assert guest.refused(tool, type="issue", id=mine["id"])["code"] == 1001
    assert guest.refused("update_item", type="issue", id=theirs["id"], related=[mine["address"]])["code"] == 1004
    assert guest.refused("add_relation", type="issue", id=theirs["id"], target=mine["address"])["code"] == 1004
    items.add_relation(type="issue", id=mine["id"], target=theirs["address"])
    seen = guest.get(theirs)
    assert (seen["related"], seen.get("vanished")) == ([], None)
    assert guest.get_stats()["total"] == 1
    assert [each["tag"] for each in guest.get_tags()["items"]] == ["theirs"]
    guest.update_current_state(content="ours")
    assert items.get_current_state()["content"] == ""
