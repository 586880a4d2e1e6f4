"""specs/000, メモ操作ツール: save, get, list, namespaces, delete, restore, over the wire, on both databases."""

import threading

import pytest
from talk import Http, Lines

from tokonoma.auth import api_keys as keys
from tokonoma.auth.api_keys import build_reach
from tokonoma.core.clock import format_time, now

NOBODY = "0190a000-0000-7000-8000-000000000000"


def save(talk, **params):
    return talk.call("memory", "save", **params)


def test_a_saved_memo_is_summed_up_and_read_back_as_it_was(talk):
    content = "床の間に掛ける軸を選ぶ。\n<b>“quotes”</b> ☃ \\ ' ; drop table memo; --"
    told = save(talk, namespace="notes/今日", content=content, title="軸", metadata={"tags": ["茶", "a"], "n": 1.5})
    assert told["namespace"] == "/notes/今日"
    assert told["version"] == 1
    assert told["created_at"] == told["updated_at"]
    read = talk.call("memory", "get", memo_id=told["memo_id"])
    assert read["content"] == content
    assert read["content_length"] == len(content)
    assert read["metadata"] == {"tags": ["茶", "a"], "n": 1.5}
    assert read["title"] == "軸"


def test_a_change_counts_versions_and_keeps_what_is_not_named(talk):
    memo = save(talk, content="one", title="t", metadata={"a": 1, "b": {"c": 2, "d": 3}})
    changed = save(talk, memo_id=memo["memo_id"], metadata={"a": None, "b": {"c": 4}, "e": 5})
    assert changed["version"] == 2
    assert changed["metadata"] == {"b": {"c": 4, "d": 3}, "e": 5}
    assert changed["created_at"] == memo["created_at"]
    replaced = save(talk, memo_id=memo["memo_id"], metadata={"z": 1}, metadata_mode="replace", content="two")
    assert replaced["metadata"] == {"z": 1}
    read = talk.call("memory", "get", memo_id=memo["memo_id"])
    assert (read["content"], read["title"], read["version"]) == ("two", "t", 3)


def test_a_stale_version_is_refused_with_the_current_one_and_a_diff_and_nothing_changes(talk):
    memo = save(talk, content="first line\nsecond")
    save(talk, memo_id=memo["memo_id"], content="first line\nchanged by another", expected_version=1)
    error = talk.refused("memory", "save", memo_id=memo["memo_id"], content="first line\nmine", expected_version=1)
    assert error["code"] == "CONFLICT"
    assert error["details"]["current_version"] == 2
    assert "-changed by another" in error["details"]["diff"]
    assert talk.call("memory", "get", memo_id=memo["memo_id"])["content"] == "first line\nchanged by another"


def test_many_memos_are_saved_in_order_or_not_at_all(talk):
    told = save(talk, namespace="many", memos=[{"content": f"memo {n}"} for n in range(30)])
    assert len(told["items"]) == 30
    read = talk.call("memory", "get", memo_id=told["items"][7]["memo_id"])
    assert (read["content"], read["namespace"]) == ("memo 7", "/many")
    error = talk.refused("memory", "save", namespace="many", memos=[{"content": "new"}, {"content": " "}])
    assert "memos[1].content" in error["message"]
    assert talk.call("memory", "namespaces")["items"] == [{"namespace": "/many", "memos": 30}]


BAD = {
    "no content": ({}, "content"),
    "empty content": ({"content": "  "}, "content"),
    "content of a wrong type": ({"content": 3}, "content"),
    "an unknown field": ({"content": "x", "colour": "red"}, "colour"),
    "more than 1 MiB": ({"content": "あ" * 400_000}, "1048576"),
    "10 MB": ({"content": "x" * 10_000_000}, "1048576"),
    "NUL in the content": ({"content": "a\0b"}, "NUL"),
    "NUL in the title": ({"content": "x", "title": "a\0b"}, "NUL"),
    "NUL in the thread": ({"content": "x", "thread": "\0"}, "NUL"),
    "NUL in metadata": ({"content": "x", "metadata": {"a": ["b", "c\0"]}}, "NUL"),
    "NUL in a key of metadata": ({"content": "x", "metadata": {"a\0": 1}}, "NUL"),
    "NUL in the last of many": ({"memos": [{"content": "x"}, {"content": "y"}, {"content": "z\0"}]}, "NUL"),
    "a metadata bomb": ({"content": "x", "metadata": {"a": "x" * 70_000}}, "65536"),
    "metadata too deep": (
        {"content": "x", "metadata": {"a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": {}}}}}}}}}},
        "8",
    ),
    "above the root": ({"content": "x", "namespace": "../.."}, "above the root"),
    "both expiries": ({"content": "x", "ttl_seconds": 5, "expires_at": "2099-01-01"}, "not both"),
    "an expiry that is no time": ({"content": "x", "expires_at": "soon"}, "expires_at"),
    "an expiry in the past": ({"content": "x", "expires_at": "2001-01-01"}, "past"),
    "a version without a memo": ({"content": "x", "expected_version": 1}, "memo_id"),
    "content beside memos": ({"content": "x", "memos": [{"content": "y"}]}, "each memo"),
    "too many memos": ({"memos": [{"content": "y"}] * 1001}, "1000"),
}


@pytest.mark.parametrize(("params", "word"), BAD.values(), ids=BAD)
def test_bad_input_is_named_and_nothing_is_saved(talk, params, word):
    error = talk.refused("memory", "save", **params)
    assert error["code"] == "INVALID_ARGUMENT"
    assert word in error["message"]
    assert talk.call("memory", "list")["items"] == []


@pytest.mark.parametrize(
    ("tool", "params"),
    [
        ("save", {"memo_id": NOBODY, "content": "x"}),
        ("get", {"memo_id": NOBODY}),
        ("get", {"memo_id": "not a uuid"}),
        ("delete", {"memo_id": NOBODY}),
        ("restore", {"memo_id": NOBODY}),
    ],
)
def test_what_is_not_there_is_not_found(talk, tool, params):
    assert talk.refused("memory", tool, **params)["code"] == "NOT_FOUND"


def test_calls_that_change_the_same_memos_in_another_order_wait_for_each_other(app):
    ids = [Lines(app).call("memory", "save", content=f"memo {number}")["memo_id"] for number in range(6)]
    errors: list[object] = []

    def change(ordered: list[str]) -> None:
        talk = Lines(app)
        for turn in range(25):
            memos = [{"memo_id": each, "content": f"turn {turn}"} for each in ordered]
            told = talk.tool("call", module="memory", tool_name="save", params={"memos": memos})
            if told.get("isError"):
                errors.append(told)

    writers = [threading.Thread(target=change, args=(order,)) for order in (ids, ids[::-1], ids[3:] + ids[:3])]
    for each in writers:
        each.start()
    for each in writers:
        each.join()
    assert errors == []
    assert Lines(app).call("memory", "get", memo_id=ids[0])["version"] == 1 + 3 * 25


def test_a_memo_is_sought_only_in_the_namespace_that_is_named(talk):
    memo = save(talk, namespace="a/b", content="x")
    assert talk.call("memory", "get", memo_id=memo["memo_id"], namespace="a")["content"] == "x"
    assert talk.refused("memory", "get", memo_id=memo["memo_id"], namespace="c")["code"] == "NOT_FOUND"
    assert talk.refused("memory", "save", memo_id=memo["memo_id"], namespace="c", content="y")["code"] == "NOT_FOUND"


def test_the_trash_gives_back_what_was_deleted(talk):
    memo = save(talk, content="to be missed", metadata={"a": 1})
    assert talk.refused("memory", "delete", memo_id=memo["memo_id"], expected_version=9)["code"] == "CONFLICT"
    assert talk.call("memory", "delete", memo_id=memo["memo_id"])["deleted"] is True
    assert talk.refused("memory", "get", memo_id=memo["memo_id"])["code"] == "NOT_FOUND"
    assert talk.refused("memory", "delete", memo_id=memo["memo_id"])["code"] == "NOT_FOUND"
    assert talk.call("memory", "list")["items"] == []
    assert [each["memo_id"] for each in talk.call("memory", "list", state="trash")["items"]] == [memo["memo_id"]]
    assert talk.call("memory", "restore", memo_id=memo["memo_id"])["metadata"] == {"a": 1}
    assert talk.call("memory", "get", memo_id=memo["memo_id"])["content"] == "to be missed"


def test_an_expired_memo_is_gone(talk, app):
    memo = save(talk, content="for a moment", ttl_seconds=3600)
    assert memo["expires_at"]
    with app.database.writing() as statements:
        statements.run("update memo set expires_at = :past", past=now() - 1)
    assert talk.refused("memory", "get", memo_id=memo["memo_id"])["code"] == "NOT_FOUND"
    assert talk.call("memory", "list")["items"] == []


def test_a_time_of_expiry_is_kept_as_given(talk):
    until = format_time(now() + 10_000_000)
    assert save(talk, content="x", expires_at=until)["expires_at"] == until


def test_a_long_memo_is_read_in_pieces(talk):
    content = "".join(f"行{n:05d}\n" for n in range(5000))
    memo = save(talk, content=content)
    read, offset = "", 0
    while True:
        piece = talk.call("memory", "get", memo_id=memo["memo_id"], offset=offset, max_characters=9000)
        read += piece["content"]
        offset = len(read)
        if not piece.get("content_truncated"):
            break
    assert read == content


def test_lists_page_through_every_memo_once_last_changed_first(talk):
    ids = [each["memo_id"] for each in save(talk, memos=[{"content": f"{n}"} for n in range(25)])["items"]]
    save(talk, memo_id=ids[3], content="changed")
    seen, cursor = [], None
    while True:
        page = talk.call("memory", "list", limit=10, cursor=cursor)
        seen += [each["memo_id"] for each in page["items"]]
        if not page["has_more"]:
            break
        cursor = page["next_cursor"]
    assert seen[0] == ids[3]
    assert sorted(seen) == sorted(ids)


def test_namespaces_form_a_tree(talk):
    for space in ("a", "a/b", "a/b", "ab", "c%d", "c_d/e"):
        save(talk, namespace=space, content="x")
    counts = {each["namespace"]: each["memos"] for each in talk.call("memory", "namespaces")["items"]}
    assert counts == {"/a": 1, "/a/b": 2, "/ab": 1, "/c%d": 1, "/c_d/e": 1}
    assert len(talk.call("memory", "list", namespace="a")["items"]) == 3
    assert len(talk.call("memory", "list", namespace="c_d")["items"]) == 1


def test_a_key_cannot_leave_its_root_whatever_it_asks(app, talk):
    with app.database.writing() as statements:
        token = keys.create_key(statements, "guest", build_reach(root="/team", default="/team/today"))
    owner_memo = app_owner_save(app)
    guest = Http(app, token)
    mine = save(guest, content="ours")
    assert mine["namespace"] == "/today"
    assert save(guest, namespace="../shared", content="x")["namespace"] == "/shared"
    for params in ({"namespace": "../.."}, {"namespace": "/../x"}):
        assert guest.refused("memory", "save", content="x", **params)["code"] == "INVALID_ARGUMENT"
    for tool in ("get", "delete", "restore"):
        assert guest.refused("memory", tool, memo_id=owner_memo)["code"] == "NOT_FOUND"
    assert guest.refused("memory", "save", memo_id=owner_memo, content="mine now")["code"] == "NOT_FOUND"
    assert {each["namespace"] for each in guest.call("memory", "list", namespace="/")["items"]} == {"/today", "/shared"}
    assert {each["namespace"] for each in guest.call("memory", "namespaces")["items"]} == {"/today", "/shared"}


def app_owner_save(app) -> str:
    from talk import Lines

    return save(Lines(app), namespace="/private", content="the owner's")["memo_id"]


def test_an_expiry_is_removed(talk, frozen_clock):
    memo = talk.call("memory", "save", content="the code of the door", ttl_seconds=60)
    assert memo["expires_at"]
    changed = talk.call("memory", "save", memo_id=memo["memo_id"], expires_at="never")
    assert "expires_at" not in changed
    frozen_clock.advance(3_600_000)
    assert talk.call("memory", "get", memo_id=memo["memo_id"])["content"] == "the code of the door"
    new = talk.refused("memory", "save", content="x", expires_at="never", ttl_seconds=60)
    assert new["code"] == "INVALID_ARGUMENT"
