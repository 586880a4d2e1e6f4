"""specs/000, 一覧とメタデータ検索: every order and filter pages to the end, over the wire, on both databases."""

import itertools
from typing import Any

import pytest
from policy.houses import enforce, key
from talk import Http, Lines


@pytest.fixture
def talk(app) -> Lines:
    return Lines(app)


def page_through(talk, tool, step, **params):
    """The ids of all pages, and the number of pages."""
    ids, cursor, size = [], None, {"list": "limit", "search": "k"}[tool]
    number = 0
    while number == 0 or cursor:
        number += 1
        page = talk.call("memory", tool, **params, **{size: step}, **({"cursor": cursor} if cursor else {}))
        assert 0 < len(page["items"]) <= step
        ids += [item["memo_id"] for item in page["items"]]
        cursor = page.get("next_cursor")
        assert bool(cursor) is page.get("has_more", False)
    return ids, number


def fill(talk, frozen_clock, count=23):
    """Memos with titles, times and expiries in three different orders; some share each of them."""
    ids = []
    for number in range(count):
        frozen_clock.at += number % 3
        memo: dict[str, Any] = {
            "content": f"memo {number}",
            "title": "ばaBあ"[number * 7 % 4] * (number % 3),
            "metadata": {"n": number},
        }
        if number % 2:
            memo["ttl_seconds"] = 1000 + number * 11 % 5
        ids.append(talk.call("memory", "save", **memo)["memo_id"])
    for number in range(0, count, 4):
        frozen_clock.at += number % 8
        talk.call("memory", "save", memo_id=ids[number], thread="t")
    return [talk.call("memory", "get", memo_id=each) for each in ids]


KEYS = {
    "updated": lambda memo: memo["updated_at"],
    "created": lambda memo: memo["created_at"],
    "title": lambda memo: memo.get("title", ""),
    "expires": lambda memo: memo.get("expires_at", "9999"),
}


def test_every_order_pages_to_the_end(talk, frozen_clock):
    memos = fill(talk, frozen_clock)
    for (sort, sort_key), order in itertools.product(KEYS.items(), ("asc", "desc")):
        wanted = sorted(memos, key=lambda memo, by=sort_key: (by(memo), memo["memo_id"]), reverse=order == "desc")
        found, pages = page_through(talk, "list", 5, sort=sort, order=order)
        assert found == [memo["memo_id"] for memo in wanted], (sort, order)
        assert pages == 5
    default, _ = page_through(talk, "list", 50, sort="title")
    assert default == page_through(talk, "list", 50, sort="title", order="asc")[0]
    assert page_through(talk, "list", 50)[0] == page_through(talk, "list", 50, sort="updated", order="desc")[0]


def test_filters_of_a_list(talk, frozen_clock):
    memos = fill(talk, frozen_clock)
    middle = sorted(memo["updated_at"] for memo in memos)[10]
    for params, test in (
        ({"metadata_filter": {"n": {"gte": 7, "lte": 17}}}, lambda memo: 7 <= memo["metadata"]["n"] <= 17),
        ({"thread": "t"}, lambda memo: memo.get("thread") == "t"),
        ({"since": middle}, lambda memo: memo["updated_at"] >= middle),
        ({"until": middle, "has_expiry": True}, lambda memo: memo["updated_at"] <= middle and "expires_at" in memo),
        ({"has_expiry": False}, lambda memo: "expires_at" not in memo),
    ):
        for sort in KEYS:
            found, _ = page_through(talk, "list", 4, sort=sort, **params)
            assert sorted(found) == sorted(memo["memo_id"] for memo in memos if test(memo)), (params, sort)


def test_trash_and_expired_memos_are_listed_and_filtered(talk, frozen_clock):
    gone, kept, over = (
        talk.call("memory", "save", content=name, metadata={"n": name}, ttl_seconds=seconds)["memo_id"]
        for name, seconds in (("gone", 900), ("kept", 900), ("over", 10))
    )
    talk.call("memory", "delete", memo_id=gone)
    frozen_clock.at += 20_000
    assert page_through(talk, "list", 5) == ([kept], 1)
    assert page_through(talk, "list", 5, state="trash", metadata_filter={"n": {"prefix": "g"}}) == ([gone], 1)
    assert page_through(talk, "list", 5, state="expired", metadata_filter={"n": "over"}) == ([over], 1)
    assert talk.call("memory", "list", state="trash", metadata_filter={"n": "x"})["items"] == []


def test_a_page_is_not_disturbed_by_what_is_saved_meanwhile(talk):
    ids = [talk.call("memory", "save", content=f"{n}", title=f"{n:02}")["memo_id"] for n in range(10)]
    for sort in ("created", "title"):
        first = talk.call("memory", "list", sort=sort, order="asc", limit=4)
        talk.call("memory", "save", content="new", title="00")
        talk.call("memory", "save", memo_id=ids[7], content="changed")
        seen = [item["memo_id"] for item in first["items"]]
        rest = talk.call("memory", "list", sort=sort, order="asc", limit=200, cursor=first["next_cursor"])
        seen += [item["memo_id"] for item in rest["items"]]
        assert [each for each in seen if each in ids] == ids


def test_a_cursor_belongs_to_its_order(talk):
    for number in range(3):
        talk.call("memory", "save", content=f"{number}")
    cursor = talk.call("memory", "list", limit=1)["next_cursor"]
    for other in ({"sort": "title"}, {"order": "asc"}):
        assert talk.refused("memory", "list", cursor=cursor, **other)["code"] == "INVALID_ARGUMENT"
    assert talk.refused("memory", "search", cursor=cursor)["code"] == "INVALID_ARGUMENT"
    found = talk.call("memory", "search", k=1)["next_cursor"]
    assert "query" in talk.refused("memory", "search", query="x", cursor=found)["message"]
    for wrong in ({"since": "yesterday"}, {"until": "x"}):
        assert wrong.keys() == {talk.refused("memory", "list", **wrong)["details"]["field"]}
        assert wrong.keys() == {talk.refused("memory", "search", **wrong)["details"]["field"]}


def test_a_search_by_metadata_pages_to_the_end(talk):
    memos = [{"content": f"memo {n}", "metadata": {"even": n % 2 == 0}} for n in range(230)]
    ids = [item["memo_id"] for item in talk.call("memory", "save", memos=memos)["items"]]
    wanted = [each for number, each in enumerate(ids) if number % 2 == 0]
    for params in ({}, {"metadata_filter": {"even": True}}):
        found, pages = page_through(talk, "search", 50, **params)
        assert sorted(found) == sorted(wanted if params else ids)
        assert pages == (3 if params else 5)
    whole = talk.call("memory", "search", metadata_filter={"even": True}, k=100)
    assert (whole["has_more"], whole["mode"]) == (True, "metadata")
    assert "has_more" not in talk.call("memory", "search", query="memo", k=5, mode="text")


def test_a_search_is_limited_to_a_time(talk, frozen_clock):
    early = talk.call("memory", "save", content="tea")
    frozen_clock.at += 60_000
    late = talk.call("memory", "save", content="tea again")
    for asked in ({}, {"query": "tea", "mode": "text"}):
        found = talk.call("memory", "search", since=late["created_at"], **asked)["items"]
        assert [item["memo_id"] for item in found] == [late["memo_id"]]
        found = talk.call("memory", "search", until=early["created_at"], **asked)["items"]
        assert [item["memo_id"] for item in found] == [early["memo_id"]]


def test_masked_titles_do_not_decide_the_order(app, talk):
    enforce(
        app,
        "version: 2.0\ncallers: { owner: ['*'], 'key:bot': ['answer:task'] }\n"
        "boundary_classes: { pii: { allow: ['answer:task'], redact: [pii] } }\n",
    )
    bot = Http(app, key(app, "bot"))
    for name in ("zoe@example.jp", "middle", "adam@example.jp"):
        talk.call("memory", "save", content="x", title=name, metadata={"who": name})
    found, _ = page_through(bot, "list", 1, sort="title")
    titles = [bot.call("memory", "get", memo_id=each)["title"] for each in found]
    assert titles == ["[masked:email]", "[masked:email]", "middle"]
    assert found[:2] == sorted(found[:2])
    for guess in ({"prefix": "adam"}, {"contains": "zoe"}, {"gte": "zoe"}):
        assert bot.call("memory", "list", metadata_filter={"who": guess})["items"] == []


def test_a_thread_is_listed_as_it_was_written(talk, frozen_clock):
    ids = []
    for number in range(7):
        frozen_clock.advance(1_000)
        ids.append(talk.call("memory", "save", content=f"turn {number}", thread="chat", namespace=f"n{number % 2}"))
        talk.call("memory", "save", content=f"turn {number} of another one", thread="else")
    ids = [each["memo_id"] for each in ids]
    frozen_clock.advance(1_000)
    talk.call("memory", "save", memo_id=ids[1], content="turn 1, corrected")
    assert page_through(talk, "list", 3, thread="chat", namespace="/") == (ids, 3)
    assert page_through(talk, "list", 3, thread="chat", namespace="/", order="desc") == (ids[::-1], 3)
    by_change = page_through(talk, "list", 50, thread="chat", namespace="/", sort="updated")[0]
    assert by_change[0] == ids[1], "an order that was asked for stays as it is"
    found = talk.call("memory", "search", query="turn", thread="chat", namespace="/", k=50)["items"]
    assert sorted(each["memo_id"] for each in found) == sorted(ids)
    assert page_through(talk, "search", 4, thread="chat", namespace="/")[1] == 2


def test_a_filter_by_a_field_that_is_no_metadata_names_the_parameter(talk):
    talk.call("memory", "save", content="a turn", thread="chat", metadata={"mood": "calm"})
    for field, instead in (("thread", "parameter thread"), ("created_at", "since and until"), ("content", "query")):
        for tool, more in (("list", {}), ("search", {}), ("search", {"query": "turn"})):
            told = talk.refused("memory", tool, metadata_filter={field: "chat"}, **more)
            assert told["code"] == "INVALID_ARGUMENT"
            assert field in told["message"]
            assert instead in told["message"]
    assert talk.call("memory", "search", metadata_filter={"mood": "angry"})["items"] == []
    assert talk.call("memory", "list", metadata_filter={"thread": "chat"}, state="trash")["items"] == []


def test_metadata_with_the_name_of_a_field_can_be_filtered_by(talk):
    kept = talk.call("memory", "save", content="a seam", metadata={"thread": "red", "date": "2026-05-01"})["memo_id"]
    for tool in ("list", "search"):
        found = talk.call("memory", tool, metadata_filter={"thread": "red"})["items"]
        assert [each["memo_id"] for each in found] == [kept]
        assert talk.call("memory", tool, metadata_filter={"thread": "blue"})["items"] == [], "such metadata exists"
        assert talk.call("memory", tool, metadata_filter={"date": {"gte": "2027"}})["items"] == []


def test_metadata_of_others_does_not_tell_whether_a_filter_is_a_mistake(app, talk):
    talk.call("memory", "save", content="hidden", namespace="/private", metadata={"thread": "red"})
    guest = Http(app, key(app, "guest", root="/team"))
    assert guest.refused("memory", "search", metadata_filter={"thread": "red"})["code"] == "INVALID_ARGUMENT"
    assert guest.refused("memory", "list", metadata_filter={"thread": "red"})["code"] == "INVALID_ARGUMENT"
