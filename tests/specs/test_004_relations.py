"""specs/004, related: links both ways, their kinds, and links to other modules' records."""

from talk import Http

from tokonoma.auth import api_keys as keys
from tokonoma.auth.api_keys import build_reach


def test_links_are_kept_both_ways_and_related_replaces_them(items):
    a, b, c = (items.make(name) for name in "abc")
    linked = items.update_item(type="issue", id=a["id"], related=[b["address"], f"items-{c['id']}"])
    assert linked["related"] == [b["address"], c["address"]]
    assert items.get(b)["related"] == items.get(c)["related"] == [a["address"]]
    items.update_item(type="issue", id=a["id"], related=[f"tokonoma://items/{c['id']}"])
    assert (items.get(b)["related"], items.get(c)["related"]) == ([], [a["address"]])
    assert items.update_item(type="issue", id=a["id"], title="t")["related"] == [c["address"]]
    assert items.update_item(type="issue", id=c["id"], related=[])["related"] == []
    assert items.get(a)["related"] == []


def test_a_link_counts_a_revision_on_both_ends_so_that_nobody_overwrites_it_unseen(items):
    a, b = items.make("a"), items.make("b")
    items.add_relation(type="issue", id=a["id"], target=b["address"])
    error = items.refused("update_item", type="issue", id=b["id"], related=[], expected_revision=b["revision"])
    assert error["code"] == 1004
    assert items.get(b)["related"] == [a["address"]]
    history = items.get_item_history(type="issue", id=b["id"])["items"]
    assert history[0]["changes"] == {"related": {"added": [a["address"]], "kind": "related"}}


def test_kinds_are_seen_from_both_ends_and_survive_a_change_of_related(items):
    a, b, c = (items.make(name) for name in "abc")
    told = items.add_relation(type="issue", id=a["id"], target=b["address"], kind="blocks")
    assert told["changed"] is True
    assert items.add_relation(type="issue", id=a["id"], target=b["address"], kind="blocks")["changed"] is False
    items.update_item(type="issue", id=a["id"], related=[b["address"], c["address"]])
    kinds = {each["address"]: each["kind"] for each in items.get(a)["relations"]}
    assert kinds == {b["address"]: "blocks", c["address"]: "related"}
    assert [each["kind"] for each in items.get(b)["relations"]] == ["blocked_by"]
    items.add_relation(type="issue", id=a["id"], target=b["address"], kind="parent_of")
    assert items.get(a)["related"] == [b["address"], c["address"]]
    items.remove_relation(type="issue", id=b["id"], target=a["address"], kind="blocked_by")
    assert [each["kind"] for each in items.get(a)["relations"]] == ["parent_of", "related"]
    items.remove_relation(type="issue", id=b["id"], target=a["address"])
    assert items.get(a)["related"] == [c["address"]]


def test_bad_links_are_refused(items):
    a = items.make("a")
    for params, code, field in (
        ({"target": "issue-99"}, 1004, "related[0]"),
        ({"target": "what?"}, 1002, "target"),
        ({"target": a["address"]}, 1002, "related[0]"),
        ({"target": a["address"], "kind": "loves"}, 1002, "kind"),
    ):
        error = items.refused("add_relation", type="issue", id=a["id"], **params)
        assert (error["code"], error["data"]["details"]["field"]) == (code, field)
    assert items.refused("remove_relation", type="issue", id=a["id"], target="issue-99")["code"] == 1004
    assert items.refused("update_item", type="issue", id=a["id"], related=[a["address"]])["code"] == 1002
    assert items.get(a)["revision"] == 1


def test_records_of_other_modules_are_shown_with_title_and_reported_when_they_vanish(items):
    memo = items.talk.call("memory", "save", content="合鍵は引き出しにある。\nmore", namespace="home")
    titled = items.talk.call("memory", "save", content="x", title="玄関")
    addresses = [f"tokonoma://memory/{each['memo_id']}" for each in (memo, titled)]
    made = items.make("鍵", related=addresses)
    assert {each["title"]: (each["module"], each["kind"]) for each in made["relations"]} == {
        "合鍵は引き出しにある。": ("memory", "related"), "玄関": ("memory", "related"),
    }  # fmt: skip
    assert sorted(made["related"]) == sorted(addresses)
    items.talk.call("memory", "delete", memo_id=memo["memo_id"])
    read = items.get(made)
    assert (read["related"], read["vanished"]) == ([addresses[1]], [addresses[0]])
    # What has vanished can still be named, and be taken away.
    kept = items.update_item(type="issue", id=made["id"], related=addresses)
    assert kept["vanished"] == [addresses[0]]
    items.remove_relation(type="issue", id=made["id"], target=addresses[0])
    assert "vanished" not in items.get(made)
    error = items.refused("add_relation", type="issue", id=made["id"], target=addresses[1], kind="blocks")
    assert (error["code"], error["data"]["details"]["field"]) == (1002, "kind")


def test_a_link_does_not_show_what_a_key_must_not_see(app, items):
    memo = items.talk.call("memory", "save", content="a secret of the owner")
    address = f"tokonoma://memory/{memo['memo_id']}"
    made = items.make("with a memo", related=[address])
    with app.database.writing() as statements:
        token = keys.create_key(statements, "guest", build_reach(mask=["memory"]))
    from specs.items_client import Items

    guest = Items(Http(app, token))
    seen = guest.get(made)
    assert (seen["related"], seen["vanished"]) == ([], [address])
    assert "secret" not in str(seen)
    assert guest.refused("create_item", type="issue", title="x", related=[address])["code"] == 1004
