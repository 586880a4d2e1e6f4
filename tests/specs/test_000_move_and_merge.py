"""specs/000, メモの移動と統合: memos move and merge with their relations, over the wire, on both databases."""

import pytest
from policy.houses import enforce, key
from talk import Http, Lines

from tokonoma.cli.call import call_owner_tool

NOBODY = "0190a000-0000-7000-8000-000000000000"


@pytest.fixture
def talk(app) -> Lines:
    return Lines(app)


def save(talk, content="x", **params):
    return talk.call("memory", "save", content=content, **params)["memo_id"]


def relate(talk, source, target, tag="t", namespace="/", **more):
    ends = {"sourceMemoId": source, "targetMemoId": target}
    return talk.call("memory", "relation.save", **ends, tag=tag, namespace=namespace, **more)


def move(talk, *ids, to, **more):
    return talk.call("memory", "move", memo_ids=list(ids), to=to, **more)


def merge(talk, keep, *others, **more):
    return talk.call("memory", "merge", keep=keep, merge=list(others), **more)


def edges(talk, namespace="/"):
    found = talk.call("memory", "relation.list", namespace=namespace)["edges"]
    return {(each["sourceMemoId"], each["targetMemoId"], each["tag"], each["namespace"]) for each in found}


# Moving


def test_memos_move_with_their_history_and_are_found_there(talk):
    one, other = save(talk, "tea in the morning", namespace="a"), save(talk, "rice", namespace="a/deep")
    talk.call("memory", "save", memo_id=one, content="tea in the evening")
    told = move(talk, one, other, one, to="/b")
    assert told["items"] == [
        {"memo_id": one, "namespace": "/b", "version": 3},
        {"memo_id": other, "namespace": "/b", "version": 2},
    ]
    assert talk.call("memory", "search", query="tea", mode="text", namespace="a")["items"] == []
    assert [
        each["memo_id"] for each in talk.call("memory", "search", query="tea", namespace="b", mode="text")["items"]
    ] == [one]
    versions = talk.call("memory", "history", memo_id=one)["items"]
    assert [(each["namespace"], each["change"]) for each in versions] == [
        ("/b", "moved"), ("/a", "saved"), ("/a", "saved"),
    ]  # fmt: skip
    assert move(talk, one, to="/b")["items"] == [{"memo_id": one, "namespace": "/b", "version": 3}]


def test_a_move_is_checked_as_a_whole(talk):
    one, other = save(talk, namespace="a"), save(talk, namespace="a")
    error = talk.refused("memory", "move", memo_ids=[one, NOBODY], to="b")
    assert (error["code"], error["details"]["memo_id"]) == ("NOT_FOUND", NOBODY)
    error = talk.refused("memory", "move", memo_ids=[one], to="b", expected_version=2)
    assert (error["code"], error["details"]["current_version"]) == ("CONFLICT", 1)
    assert (
        talk.refused("memory", "move", memo_ids=[one, other], to="b", expected_version=1)["code"] == "INVALID_ARGUMENT"
    )
    assert talk.call("memory", "get", memo_id=one)["namespace"] == "/a"
    assert move(talk, one, to="b", expected_version=1)["items"][0]["version"] == 2


def test_relations_stay_go_along_or_go_to_the_common_namespace_and_are_named(talk):
    a, b, c = (save(talk, namespace=place) for place in ("home/x", "home/x", "home/y"))
    relate(talk, a, b, "inner", "/home/x")
    relate(talk, a, c, "wide", "/home")
    relate(talk, b, a, "root", "/")
    told = move(talk, a, to="/home/y")["relations"]
    assert told["kept"] == 2
    assert told["moved"] == [{"sourceMemoId": a, "targetMemoId": b, "tag": "inner", "namespace": "/home"}]
    told = move(talk, b, c, a, to="/office")["relations"]
    assert told["kept"] == 1
    assert {(each["tag"], each["namespace"]) for each in told["moved"]} == {("inner", "/office"), ("wide", "/office")}
    assert edges(talk, "/office") == {(a, b, "inner", "/office"), (a, c, "wide", "/office")}
    assert len(edges(talk)) == 3


def test_two_relations_never_become_one(talk):
    a, b = save(talk, namespace="home/x"), save(talk, namespace="home/x")
    relate(talk, a, b, namespace="/home/x", weight=0.1)
    relate(talk, a, b, namespace="/home", weight=0.2)
    told = move(talk, a, to="/home/y")["relations"]  # /home is taken
    assert [each["namespace"] for each in told["moved"]] == ["/"]
    assert edges(talk) == {(a, b, "t", "/"), (a, b, "t", "/home")}
    move(talk, a, to="/home/x")
    relate(talk, a, b, namespace="/home/x")
    error = talk.refused("memory", "move", memo_ids=[a], to="/home/y")
    assert (error["code"], error["details"]["tag"]) == ("CONFLICT", "t")
    assert talk.call("memory", "get", memo_id=a)["namespace"] == "/home/x"
    assert len(edges(talk)) == 3


def test_hidden_relations_go_along_without_being_named(app, talk):
    enforce(
        app,
        "version: 2.0\ncallers: { owner: ['*'], 'key:bot': ['answer:task'] }\n"
        "boundary_classes: { pii: { allow: ['owner:eyes'] }, internal: { allow: ['*'] } }\n",
    )
    a, b = save(talk, namespace="x"), save(talk, namespace="x")
    relate(talk, a, b, "secret", "/x", reason="ask taro.yamada@example.jp")
    bot = Http(app, key(app, "bot"))
    assert move(bot, a, to="/y")["relations"] == {"kept": 0, "moved": []}
    assert edges(talk) == {(a, b, "secret", "/")}


def test_a_key_moves_inside_its_root_only_and_does_not_see_where_a_memo_was(app, talk):
    memo, inner = save(talk, "earlier text", namespace="/private"), save(talk, namespace="/team/a")
    bot = Http(app, key(app, "bot", root="/team"))
    assert bot.refused("memory", "move", memo_ids=[memo], to="/a")["code"] == "NOT_FOUND"
    assert bot.refused("memory", "move", memo_ids=[inner], to="../..")["code"] == "INVALID_ARGUMENT"
    assert move(bot, inner, to="/private")["items"][0]["namespace"] == "/private"
    assert talk.call("memory", "get", memo_id=inner)["namespace"] == "/team/private"
    move(talk, memo, to="/team/a")
    told = bot.call("memory", "history", memo_id=memo)["items"]
    assert [each.get("namespace") for each in told] == ["/a", None]
    move(talk, memo, to="/private")
    assert bot.refused("memory", "history", memo_id=memo)["code"] == "NOT_FOUND"


def test_a_memo_in_the_trash_moves_and_stays_there(talk):
    memo = save(talk, namespace="a")
    talk.call("memory", "delete", memo_id=memo)
    move(talk, memo, to="/b")
    assert [each["memo_id"] for each in talk.call("memory", "list", namespace="b", state="trash")["items"]] == [memo]
    assert talk.call("memory", "restore", memo_id=memo)["namespace"] == "/b"


def test_the_place_decides_the_class_of_earlier_versions_too(app, talk):
    enforce(
        app,
        "version: 2.0\ncallers: { owner: ['*'], 'key:bot': ['answer:task'] }\n"
        "boundary_classes: { pii: { allow: ['owner:eyes'] }, internal: { allow: ['*'] } }\n"
        "masks: [{ module: memory, space: /open, kinds: [email], class: internal }]\n",
    )
    memo = save(talk, "ask taro.yamada@example.jp", namespace="/open")
    talk.call("memory", "save", memo_id=memo, content="ask him")
    bot = Http(app, key(app, "bot"))
    assert len(bot.call("memory", "history", memo_id=memo)["items"]) == 2
    move(talk, memo, to="/closed")
    assert [each["version"] for each in bot.call("memory", "history", memo_id=memo)["items"]] == [3, 2]


# Merging


def test_merged_memos_are_one_with_their_metadata_and_the_others_point_to_it(talk):
    keep = save(talk, "buy tea", title="shopping", metadata={"tags": ["a", "b"], "n": 1, "who": {"x": 1}})
    one = save(talk, "buy the tea", metadata={"tags": ["b", "c"], "n": 2, "who": {"y": 2}})
    other = save(talk, "Buy  Tea", metadata={"n": True, "only": "here"})
    assert talk.refused("memory", "merge", keep=keep, merge=[one], expected_version=2)["code"] == "CONFLICT"
    told = merge(talk, keep, one, other, expected_version=1)
    assert told["metadata"] == {"tags": ["a", "b", "c"], "n": 1, "who": {"x": 1, "y": 2}, "only": "here"}
    assert told["conflicts"] == [{"key": "n", "memo_id": one}, {"key": "n", "memo_id": other}]
    assert (told["memo_id"], told["version"]) == (keep, 2)
    assert told["merged"] == [{"memo_id": one, "version": 2}, {"memo_id": other, "version": 2}]
    assert talk.call("memory", "get", memo_id=keep)["content"] == "buy tea"
    error = talk.refused("memory", "get", memo_id=one)
    assert (error["code"], error["details"]["merged_into"]) == ("NOT_FOUND", keep)
    trash = talk.call("memory", "list", state="trash")["items"]
    assert {each["memo_id"]: each["merged_into"] for each in trash} == {one: keep, other: keep}
    newest = talk.call("memory", "history", memo_id=keep)["items"][0]
    assert (newest["change"], newest["merged"]) == ("merged", [one, other])
    assert talk.call("memory", "history", memo_id=one)["items"][0]["merged_into"] == keep
    assert [each["memo_id"] for each in talk.call("memory", "search", query="tea", mode="text")["items"]] == [keep]


@pytest.mark.parametrize(
    ("more", "content"),
    [
        ({"content": "tea, rice"}, "tea, rice"),
        ({"join": True}, "Buy tea today\n\nBuy rice"),
        ({}, "Buy tea today"),
    ],
    ids=["chosen", "joined", "kept"],
)
def test_the_content_is_chosen_joined_or_kept(talk, more, content):
    keep, one, other = save(talk, "Buy tea today"), save(talk, "buy TEA"), save(talk, "Buy rice")
    merge(talk, keep, one, other, **more)
    assert talk.call("memory", "get", memo_id=keep)["content"] == content


def test_relations_go_to_the_kept_memo_without_duplicates_and_loops(talk):
    keep, one, other = save(talk, namespace="/a"), save(talk, namespace="/b"), save(talk, namespace="/b")
    x, y = save(talk, namespace="/b"), save(talk, namespace="/b")
    relate(talk, one, x, "same", "/b", weight=0.3)
    relate(talk, other, x, "same", "/b")
    relate(talk, keep, y, "had", "/")
    relate(talk, one, y, "had", "/b")
    relate(talk, y, other, "back", "/b", reason="why")
    relate(talk, one, other, "loop", "/b")
    relate(talk, keep, one, "loop", "/")
    told = merge(talk, keep, one, other)
    assert told["relations"] == {"moved": 2, "duplicates": 2, "loops": 2}
    assert edges(talk) == {(keep, x, "same", "/"), (keep, y, "had", "/"), (y, keep, "back", "/")}
    found = {each["tag"]: each for each in talk.call("memory", "relation.list", namespace="/")["edges"]}
    assert (found["same"]["weight"], found["back"]["reason"]) == (0.3, "why")


def test_restoring_undoes_a_merge(talk, frozen_clock):
    keep, one, other, x = save(talk, "kept"), save(talk, "one"), save(talk, "other"), save(talk, "x")
    relate(talk, one, x, "both")
    relate(talk, other, x, "both")
    relate(talk, x, one, "back")
    relate(talk, one, keep, "was")
    before = edges(talk)
    frozen_clock.at += 1000
    merge(talk, keep, one, other, content="all")
    assert edges(talk) == {(keep, x, "both", "/"), (x, keep, "back", "/")}
    frozen_clock.at += 1000
    talk.call("memory", "restore", memo_id=one)
    assert (keep, x, "both", "/") in edges(talk)  # the other one had it, too
    assert (x, keep, "back", "/") not in edges(talk)
    talk.call("memory", "restore", memo_id=other)
    talk.call("memory", "restore", memo_id=keep, version=1)
    assert edges(talk) == before
    assert talk.call("memory", "get", memo_id=keep)["content"] == "kept"
    assert "merged_into" not in talk.call("memory", "get", memo_id=one)


def test_a_relation_that_was_changed_since_stays_after_an_undo(talk, frozen_clock):
    keep, one, x = save(talk), save(talk), save(talk)
    relate(talk, one, x)
    frozen_clock.at += 1000
    merge(talk, keep, one)
    relate(talk, keep, x, weight=0.5)
    talk.call("memory", "restore", memo_id=one)
    assert edges(talk) == {(keep, x, "t", "/"), (one, x, "t", "/")}


def test_what_cannot_be_merged_is_refused_and_nothing_changes(app, talk):
    keep, one = save(talk, "k"), save(talk, "o")
    for params, code in (
        ({"merge": [keep]}, "INVALID_ARGUMENT"),
        ({"merge": [one, NOBODY]}, "NOT_FOUND"),
        ({"merge": [one], "content": " "}, "INVALID_ARGUMENT"),
        ({"merge": [one], "content": "x", "join": True}, "INVALID_ARGUMENT"),
        ({"merge": []}, "INVALID_ARGUMENT"),
    ):
        assert talk.refused("memory", "merge", keep=keep, **params)["code"] == code
    bot = Http(app, key(app, "bot", root="/team"))
    assert bot.refused("memory", "merge", keep=keep, merge=[one])["code"] == "NOT_FOUND"
    careful = Http(app, key(app, "careful", mask=["*:destroy"]))
    assert careful.refused("memory", "merge", keep=keep, merge=[one])["code"] == "NOT_FOUND"
    assert {each["version"] for each in talk.call("memory", "list")["items"]} == {1}


def test_a_merged_memo_is_as_strict_as_the_strictest(app, talk):
    keep, one = save(talk, "open"), save(talk, "closed")
    memos = call_owner_tool(app, "memory", "export", {})["memos"]
    closed = next(each for each in memos if each["memo_id"] == one)
    call_owner_tool(app, "memory", "import", {"memos": [{**closed, "boundary": "pii", "version": 2}], "relations": []})
    merge(talk, keep, one, join=True)
    with app.database.reading() as rows:
        assert rows.row("select label from memo where id = :id", id=keep)[0] == "pii"
        assert rows.row("select label from document")[0] == "pii"
