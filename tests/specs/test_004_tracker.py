"""Items as a tracker: addresses, titles, times and orders in queries, tags, comments, mentions, revisions, bulk."""

import pytest
from specs.items_client import Items


def ids(page):
    return [each["id"] for each in page["items"]]


# Search


@pytest.mark.parametrize(
    "query", ["bug-2", "#2", "items-2", "tokonoma://items/2", "#2 is:open", '"bug-2"', "#2 AND lamp"]
)
def test_an_item_is_found_by_its_address(items, query):
    items.make("about number 2", type="bug", content="2 lamps")
    wanted = items.make("lamp", type="bug")
    assert ids(items.search_items(query=query, mode="text"))[0] == wanted["id"]


@pytest.mark.parametrize("query", ["docs-2", "#2 is:closed", "#2 -lamp", "#99", "-#2 type:bug lamp"])
def test_an_address_that_does_not_fit_finds_nothing(items, query):
    items.make("first")
    items.make("lamp", type="bug")
    assert 2 not in ids(items.search_items(query=query, mode="text"))


def test_an_old_address_still_finds(items):
    made = items.make("lamp", type="bug")
    items.change_item_type(from_type="bug", from_id=made["id"], to_type="docs")
    assert ids(items.search_items(query="bug-1", mode="text")) == [1]


def test_title_looks_at_titles_only(items):
    items.make("Printer offline")
    items.make("Scanner", content="printer")
    assert ids(items.search_items(query="title:PRINTER")) == [1]
    assert ids(items.search_items(query='title:"printer off" type:issue')) == [1]
    assert ids(items.search_items(query="-title:printer")) == [2]
    assert sorted(ids(items.search_items(query="title:printer OR title:scan"))) == [1, 2]


DAY = 86_400_000
TIMES = {
    "updated:7d": [2], "updated:4w": [1, 2], "updated:<7d": [1], "created:30d..7d": [1], "updated:yesterday": [],
    "updated:>=today": [2], "due:7d": [2], "due:<today": [1], "due:2w": [2], "has:due due:>1d": [2], "updated:24h": [2],
}  # fmt: skip


@pytest.mark.parametrize(("query", "found"), TIMES.items(), ids=TIMES)
def test_times_are_relative_to_now(items, frozen_clock, query, found):
    frozen_clock.at -= frozen_clock.at % DAY - DAY // 2  # noon
    frozen_clock.at -= 20 * DAY
    items.make("old", end_date="2020-01-01")
    frozen_clock.at += 20 * DAY
    made = items.make("new")
    items.update_item(type="issue", id=made["id"], end_date=_format(frozen_clock.at + 3 * DAY))
    assert sorted(ids(items.search_items(query=query))) == found


def _format(at: int) -> str:
    from tokonoma.core.clock import format_time

    return format_time(at)


def test_a_bad_time_says_what_can_be_written(items):
    error = items.refused("search_items", query="updated:7x")
    assert "today or 7d" in error["message"]


def test_results_are_sorted_over_the_whole_store(items):
    for title, priority, due in (("b", "LOW", "2027-01-02"), ("a", "HIGH", None), ("c", "HIGH", "2027-01-01")):
        items.make(f"{title} lamp", priority=priority, end_date=due)
    orders = {
        "title": [2, 1, 3], "priority": [3, 2, 1], "due": [3, 1, 2], "id": [1, 2, 3], "created": [3, 2, 1],
        "updated": [3, 2, 1],
    }  # fmt: skip
    for sort, expected in orders.items():
        assert ids(items.search_items(query="lamp", sort=sort)) == expected, sort
        assert ids(items.get_items(sort=sort)) == expected, sort
    assert ids(items.search_items(query="lamp", sort="due", order="desc")) == [1, 3, 2]  # without a date: last
    assert ids(items.search_items(query="lamp nothing", sort="id")) == []  # every word must occur
    first = items.search_items(query="lamp", sort="title", limit=2)
    assert (ids(first), first["next_offset"]) == ([2, 1], 2)
    assert ids(items.search_items(query="lamp", sort="title", limit=2, offset=2)) == [3]


def test_pages_in_the_order_of_due_dates_hold_each_item_once(items):
    for number in range(7):
        items.make(str(number), end_date=f"2027-01-0{1 + number % 3}" if number % 2 else None)
    for order in ("asc", "desc"):
        seen, cursor = [], None
        while True:
            page = items.get_items(sort="due", order=order, limit=2, **({"cursor": cursor} if cursor else {}))
            seen += ids(page)
            if not page["has_more"]:
                break
            cursor = page["next_cursor"]
        assert sorted(seen) == [1, 2, 3, 4, 5, 6, 7]
        assert set(seen[-4:]) == {1, 3, 5, 7}  # without a date


# Tags


def test_tags_are_the_same_in_any_case(items):
    made = items.make("one", tags=["Bug", "bug", "ＢＵＧ", "x"])
    assert made["tags"] == ["Bug", "x"]
    items.make("two", tags=["BUG"])
    assert items.get_tags()["items"] == [{"tag": "BUG", "count": 2}, {"tag": "x", "count": 1}]
    assert sorted(ids(items.search_items_by_tag(tag="bUg"))) == [1, 2]
    assert sorted(ids(items.get_items(tag="ｂug"))) == [1, 2]
    assert sorted(ids(items.search_items(query="tag:bug"))) == [1, 2]
    assert sorted(ids(items.search_items(query="one two tag:bug", mode="text"))) == [1, 2]
    assert items.get_stats()["top_tags"] == {"BUG": 2, "x": 1}
    changed = items.update_item(type="issue", id=1, add_tags=["BUG", "y"], remove_tags=["X"])
    assert changed["tags"] == ["Bug", "y"]


def test_a_tag_is_renamed_and_merged_everywhere(items):
    items.make("one", tags=["bug", "x", "defect"])
    items.make("two", tags=["Bug"], status="Closed")
    items.make("gone", tags=["BUG"])
    items.delete_item(type="issue", id=3)
    assert items.rename_tag(tag="bug", to="Defect") == {"tag": "Defect", "items": 3}
    assert items.get({"type": "issue", "id": 1})["tags"] == ["Defect", "x"]
    assert items.get_tags()["items"] == [{"tag": "Defect", "count": 2}, {"tag": "x", "count": 1}]
    assert items.restore_item(type="issue", id=3)["tags"] == ["Defect"]
    assert items.get_item_history(type="issue", id=2)["items"][0]["changes"] == {
        "tags": {"from": ["Bug"], "to": ["Defect"]}
    }
    assert items.rename_tag(tag="defect", to="") == {"tag": "", "items": 3}
    assert items.refused("rename_tag", tag="defect", to="y")["code"] == 1001


# Comments, mentions, revisions


def test_comments_are_kept_shown_and_searched(talk):
    items = Items(talk)
    made = items.make("lamp", content="x")
    for number in range(23):
        items.update_item(type="issue", id=made["id"], comment=f"note {number} zebra")
    told = items.get(made)
    assert [each["text"] for each in told["comments"]] == [f"note {number} zebra" for number in range(3, 23)]
    assert told["comments"][0].keys() == {"at", "by", "text"}
    assert told["more_comments"] == 3
    assert len(items.get_item_detail(type="issue", id=1, comments=100)["comments"]) == 23
    assert ids(items.search_items(query='"note 2 zebra"')) == [1]
    assert items.get_item_history(type="issue", id=1, limit=1)["items"][0]["changes"] == {"comment": "note 22 zebra"}
    assert "comments" not in items.search_items(query="zebra")["items"][0]


def test_texts_link_to_what_they_name(items):
    target = items.make("Roof plan", type="docs")
    made = items.make("fix", content="see docs-1, not utf-8 or docs-99 or x/docs-1; [[later]] and [[ROOF  plan]]")
    relations = [(each["address"], each["kind"]) for each in made["relations"]]
    assert relations == [("docs-1", "mentions")]
    assert [(each["address"], each["kind"]) for each in items.get(target)["relations"]] == [("issue-2", "mentioned_by")]
    assert made["related"] == []
    assert items.get(target)["revision"] == 1
    later = items.make("Later", type="note")
    assert [each["kind"] for each in items.get(later)["relations"]] == ["mentioned_by"]
    items.update_item(type="issue", id=2, related=["note-3"])
    items.update_item(type="issue", id=2, related=[])  # links by hand, not those of the text
    assert {each["address"] for each in items.get(made)["relations"]} == {"docs-1", "note-3"}
    assert items.find_path(from_type="docs", from_id=1, to_type="note", to_id=3)["shortest_path_length"] == 2
    items.update_item(type="issue", id=2, content="nothing")
    assert items.get(made)["relations"] == []
    assert items.get(target)["relations"] == []
    items.update_item(type="issue", id=2, comment="as said in docs-1")
    assert [each["address"] for each in items.get(made)["relations"]] == ["docs-1"]
    assert items.refused("add_relation", type="issue", id=2, target="docs-1", kind="mentions")["code"] == 1002


def test_an_item_goes_back_to_a_revision(items):
    made = items.make("first", content="one", tags=["a"], priority="HIGH", end_date="2027-01-01")
    items.update_item(type="issue", id=1, title="second", content="two", tags=["b"], end_date="", comment="kept")
    other = items.make("other")
    items.add_relation(type="issue", id=1, target=other["address"])
    items.update_item(type="issue", id=1, status="Closed", title="third")
    back = items.restore_item(type="issue", id=1, revision=1)
    assert [back[name] for name in ("title", "content", "tags", "status", "end_date")] == [
        "first", "one", ["a"], "Open", made["end_date"],
    ]  # fmt: skip
    assert (back["revision"], back["related"]) == (5, ["issue-2"])
    assert [each["text"] for each in back["comments"]] == ["kept"]
    again = items.restore_item(type="issue", id=1, revision=3, expected_revision=5)
    assert [again[name] for name in ("title", "content", "tags", "end_date")] == ["second", "two", ["b"], None]
    assert items.get_item_history(type="issue", id=1, limit=1)["items"][0]["action"] == "reverted"
    assert items.restore_item(type="issue", id=1, revision=6)["revision"] == 6  # nothing to change
    assert items.refused("restore_item", type="issue", id=1, revision=9)["code"] == 1004
    assert items.refused("restore_item", type="issue", id=1, revision=1, expected_revision=2)["code"] == 1004
    items.delete_item(type="issue", id=1)
    assert items.restore_item(type="issue", id=1, revision=1)["title"] == "first"
    assert ids(items.search_items(query='"first"')) == [1]


# Many at once


def test_a_query_chooses_what_a_bulk_update_changes(items):
    for number in range(4):
        items.make(f"lamp {number}", type="bug" if number % 2 else "docs", tags=["t"])
    asked = {"query": "lamp type:bug", "data": {"status": "Closed", "add_tags": ["done"], "comment": "swept"}}
    dry = items.bulk_update(**asked, dry_run=True)
    assert (dry["updated"], [each["address"] for each in dry["items"]]) == (0, ["bug-2", "bug-4"])
    assert items.get_items(statuses=["Closed"])["items"] == []
    told = items.bulk_update(**asked)
    assert (told["updated"], [each["id"] for each in told["items"]]) == (2, [2, 4])
    assert items.get({"type": "bug", "id": 2})["tags"] == ["t", "done"]
    assert items.bulk_update(query="nothing lamp", data={"status": "Closed"}) == {"updated": 0, "items": []}
    for wrong in (
        {},
        {"query": "x"},
        {"data": {}},
        {"query": "x", "data": {}, "updates": [{"type": "a", "id": 1, "data": {}}]},
    ):
        assert items.refused("bulk_update", **wrong)["code"] == -32602, wrong
    error = items.refused("bulk_update", query="lamp", data={"status": "Shut"})
    assert (error["code"], error["data"]["details"]["field"]) == (1004, "data.status")


def test_a_query_that_finds_too_many_changes_nothing(app, items):
    from specs.test_004_exact import import_many

    import_many(app, 501, lambda number: {"type": "docs", "title": f"n{number}"})
    error = items.refused("bulk_update", query="type:docs", data={"status": "Closed"})
    assert (error["code"], "more than 500" in error["message"]) == (1004, True)
    assert items.get_stats()["closed"] == 0


def test_ready_items_come_by_urgency_and_due_date(items):
    for priority, due in (("LOW", "2027-01-01"), ("HIGH", None), ("HIGH", "2027-03-01"), ("HIGH", "2027-02-01")):
        items.make(str(due), priority=priority, end_date=due)
    assert ids(items.get_ready_items()) == [4, 3, 2, 1]
    assert ids(items.get_ready_items(sort="due")) == [1, 4, 3, 2]
    assert ids(items.get_ready_items(due_before="2027-02-01")) == [4, 1]
    page = items.get_ready_items(limit=3)
    assert ids(items.get_ready_items(limit=3, cursor=page["next_cursor"])) == [1]
    assert items.refused("get_ready_items", due_before="soon")["code"] == 1002
