"""Links of the kinds blocks and parent_of never form a circle, whoever writes them and by whatever way."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from talk import Lines

from tokonoma.cli.call import call_owner_tool


def link(items, one, kind, other):
    return items.add_relation(type=one["type"], id=one["id"], target=other["address"], kind=kind)


def refuse(items, one, kind, other):
    return items.refused("add_relation", type=one["type"], id=one["id"], target=other["address"], kind=kind)


@pytest.mark.parametrize(("kind", "back"), [("blocks", "blocked_by"), ("parent_of", "child_of")])
def test_a_circle_is_refused_with_its_path(items, kind, back):
    a, b, c = (items.make(name) for name in "abc")
    link(items, a, kind, b)
    link(items, c, back, b)  # the same direction, told from the other end
    for error in (refuse(items, c, kind, a), refuse(items, a, back, c)):
        assert error["code"] == 1004
        path = f"issue-3 {kind} issue-1 {kind} issue-2 {kind} issue-3"
        assert error["data"]["details"]["path"] == path
        assert path in error["message"]
    assert refuse(items, b, kind, a)["data"]["details"]["path"] == f"issue-2 {kind} issue-1 {kind} issue-2"
    assert items.get(c)["related"] == ["issue-2"]
    assert link(items, c, "related", a)["changed"] is True
    assert link(items, a, kind, b)["changed"] is False
    assert link(items, a, kind, c)["changed"] is True  # a second way is no circle


def test_items_in_the_trash_keep_their_place_in_a_circle(items):
    a, b, c = (items.make(name) for name in "abc")
    link(items, a, "blocks", b)
    link(items, b, "blocks", c)
    items.delete_item(type="issue", id=b["id"])
    assert refuse(items, c, "blocks", a)["code"] == 1004


def test_an_import_leaves_out_the_link_that_closes_a_circle_and_says_so(app, items):
    uids = [f"00000000-0000-7000-8000-00000000000{number}" for number in range(3)]
    given = [{"uid": uid, "type": "issue", "title": uid} for uid in uids]
    call_owner_tool(app, "items", "import", {"items": given})
    links: list[dict[str, Any]] = [
        {"uid": uid, "links": [{"to": f"issue-{(number + 1) % 3 + 1}", "kind": "blocks"}]}
        for number, uid in enumerate(uids)
    ]
    # Each names the links of the one before, too: an item's links are those of its file.
    links[1]["links"].append({"to": "issue-1", "kind": "blocked_by"})
    links[2]["links"].append({"to": "issue-2", "kind": "blocked_by"})
    told = call_owner_tool(app, "items", "import.links", {"items": links, "accepted": uids})
    assert [each["to"] for each in told["lost"]] == ["issue-1"]
    assert "issue-3 blocks issue-1 blocks issue-2 blocks issue-3" in told["lost"][0]["why"]
    assert [each["kind"] for each in items.get({"type": "issue", "id": 3})["relations"]] == ["blocked_by"]


def test_writers_at_the_same_moment_cannot_close_a_circle_together(app, items):
    made = [items.make(str(number)) for number in range(4)]

    def close(number: int) -> int:
        talk, refused = Lines(app), 0
        for shift in range(4):
            one, other = made[(number + shift) % 4], made[(number + shift + 1) % 4]
            asked = {"type": "issue", "id": one["id"], "target": other["address"], "kind": "blocks"}
            told = talk.tool("call", module="items", tool_name="add_relation", params=asked)
            refused += bool(told.get("isError"))
        return refused

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(close, range(4))) >= 4  # everyone tries every link, and one of the four closes the circle
    with app.database.reading() as rows:
        links = rows.rows("select item_id, other_id from item_link where kind = 'blocks'")
    assert len(links) == 3
