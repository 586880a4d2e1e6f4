"""specs/004, 3.1.3 一覧, 3.4 タグ・ステータス, 3.5 現在状態: over the wire, on both databases."""

import pytest
from specs.items_client import Items


@pytest.fixture
def shelf(items):
    """Twelve items of two types, one in each status, with tags and priorities."""
    made = []
    for number, status in enumerate(each["name"] for each in items.get_statuses()["items"]):
        type = "docs" if number % 3 == 0 else "issue"
        priority = ("LOW", "CRITICAL", "MEDIUM")[number % 3]
        made.append(
            items.make(
                f"item {number:02d}", type=type, status=status, priority=priority, tags=[f"t{number % 2}"],
                category="even" if number % 2 == 0 else "odd",
            )
        )  # fmt: skip
    return made


def titles(page):
    return [each["title"] for each in page["items"]]


def test_closed_ones_come_only_when_asked_for(items, shelf):
    assert len(items.get_items()["items"]) == 8
    assert len(items.get_items(includeClosedStatuses=True)["items"]) == 12
    assert titles(items.get_items(statuses=["Closed", "Open"], sort="id")) == ["item 00", "item 09"]
    assert "content" not in items.get_items()["items"][0]


def test_filters_join(items, shelf):
    assert titles(items.get_items(type="docs", sort="id")) == ["item 00", "item 03", "item 06"]
    assert titles(items.get_items(tag="t1", type="issue", sort="id")) == ["item 01", "item 05", "item 07"]
    assert titles(items.get_items(priority="CRITICAL", category="odd", sort="id")) == ["item 01", "item 07"]
    assert items.get_items(type="nothing")["items"] == []
    assert items.refused("get_items", statuses=["Open", "Shut"])["code"] == 1004
    assert items.refused("get_items", priority="Shut")["code"] == 1002


def test_days_are_whole_and_both_belong_to_the_range(app, items, shelf):
    day = 86_400_000
    with app.database.writing() as statements:
        for number, item in enumerate(shelf):
            at = 1_767_225_600_000 + number * day + day // 2  # noon, from 2026-01-01 on
            statements.run("update item set updated_at = :at where id = :id", at=at, id=item["id"])
    asked = {"includeClosedStatuses": True, "sort": "id"}
    assert titles(items.get_items(start_date="2026-01-02", end_date="2026-01-04", **asked)) == [
        "item 01", "item 02", "item 03",
    ]  # fmt: skip
    assert len(items.get_items(start_date="2026-01-11", **asked)["items"]) == 2
    assert titles(items.get_items(end_date="2026-01-01", **asked)) == ["item 00"]
    assert items.refused("get_items", start_date="2026-01-02", end_date="2026-01-01")["code"] == 1002
    assert items.refused("get_items", start_date="soon")["code"] == 1002


@pytest.mark.parametrize("sort", ["updated", "created", "priority", "title", "id"])
@pytest.mark.parametrize("order", ["asc", "desc"])
def test_every_order_pages_through_every_item_once(items, shelf, sort, order):
    asked = {"sort": sort, "order": order, "includeClosedStatuses": True}
    whole = titles(items.get_items(limit=100, **asked))
    seen, cursor = [], None
    while True:
        page = items.get_items(limit=5, cursor=cursor, **asked)
        seen += titles(page)
        if not page["has_more"]:
            break
        cursor = page["next_cursor"]
    assert seen == whole
    assert sorted(seen) == sorted(each["title"] for each in shelf)
    if sort == "title":
        assert seen == sorted(seen, reverse=order == "desc")


def test_a_cursor_of_another_order_is_refused(items, shelf):
    cursor = items.get_items(limit=2)["next_cursor"]
    assert items.refused("get_items", sort="title", cursor=cursor)["code"] == -32602


def test_tags_are_counted_and_lead_to_their_items(talk):
    items = Items(talk)
    items.make("a", tags=["設計", "x"])
    items.make("b", tags=["x"], status="Closed")
    items.make("c", tags=["x"], type="docs")
    assert items.get_tags()["items"] == [{"tag": "x", "count": 3}, {"tag": "設計", "count": 1}]
    first = items.get_tags(limit=1)
    assert items.get_tags(limit=1, cursor=first["next_cursor"])["items"][0]["tag"] == "設計"
    assert titles(items.search_items_by_tag(tag="x")) == ["c", "b", "a"]
    assert titles(items.search_items_by_tag(tag="x", types=["docs", "nothing"])) == ["c"]
    assert items.search_items_by_tag(tag="y")["items"] == []
    page = items.search_items_by_tag(tag="x", limit=2)
    assert titles(items.search_items_by_tag(tag="x", limit=2, cursor=page["next_cursor"])) == ["a"]


def test_statuses_tell_which_close_an_item(talk):
    told = Items(talk).get_statuses()["items"]
    assert [each["name"] for each in told if each["is_closable"]] == ["Completed", "Closed", "Canceled", "Rejected"]
    assert len(told) == 12


def test_ready_items_are_open_and_not_blocked_by_open_ones(items):
    low, high = items.make("low", priority="LOW"), items.make("high", priority="HIGH")
    blocker, last = items.make("blocker"), items.make("last", status="Closed")
    items.add_relation(type="issue", id=high["id"], target=blocker["address"], kind="blocked_by")
    items.add_relation(type="issue", id=low["id"], target=high["address"], kind="related")
    items.add_relation(type="issue", id=low["id"], target=last["address"], kind="blocked_by")
    assert titles(items.get_ready_items()) == ["blocker", "low"]
    items.update_item(type="issue", id=blocker["id"], status="Completed")
    assert titles(items.get_ready_items()) == ["high", "low"]
    assert titles(items.get_ready_items(type="docs")) == []


def test_stats_count_what_is_there(items, shelf):
    items.add_relation(type="docs", id=shelf[0]["id"], target=shelf[1]["address"])
    items.delete_item(type="issue", id=shelf[2]["id"])
    told = items.get_stats()
    assert (told["total"], told["open"], told["closed"], told["trash"], told["links"]) == (11, 7, 4, 1, 1)
    assert told["by_type"] == {"issue": 7, "docs": 4}
    assert sum(told["by_status"].values()) == sum(told["by_priority"].values()) == 11
    assert told["top_tags"] == {"t1": 6, "t0": 5}


def test_the_current_state_is_the_newest_and_keeps_what_was(talk):
    items = Items(talk)
    empty = items.get_current_state()
    assert (empty["content"], empty["revision"], empty["metadata"]["updated_at"]) == ("", 0, None)
    made = items.make()
    first = items.update_current_state(
        content="# 作業中", updated_by="ai-start", related=[made["address"]], tags=["今日"]
    )
    assert first["metadata"]["updated_by"] == "ai-start"
    second = items.update_current_state(content="終わり", expected_revision=1)
    assert (second["revision"], second["metadata"]["related"], second["metadata"]["tags"]) == (
        2, [made["address"]], ["今日"],
    )  # fmt: skip
    assert items.get_current_state() == second
    items.delete_item(type="issue", id=made["id"])
    assert items.get_current_state()["metadata"]["vanished"] == [made["address"]]
    items.restore_item(type="issue", id=made["id"])
    assert items.get_current_state(revision=1)["content"] == "# 作業中"
    assert [each["revision"] for each in items.get_current_state(history=5)["history"]] == [2, 1]
    assert items.refused("update_current_state", content="x", expected_revision=1)["code"] == 1004
    assert items.refused("update_current_state", content="x", related=["docs-99"])["code"] == 1004
    assert items.refused("update_current_state", content="x" * 102_401)["code"] == 1002
    assert items.refused("get_current_state", revision=9)["code"] == 1001
    assert items.get_current_state() == second
