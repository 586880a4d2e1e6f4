"""specs/004, 3.2 検索操作: search_items and search_suggest over the wire, on both databases."""

import pytest
from specs.items_client import Items


@pytest.fixture
def shelf(items):
    """Ids by a short name."""
    made = {
        "printer": items.make("Printer is offline", type="bug", content="The printer in room 4 does not answer."),
        "bill": items.make("Bill for the printer", type="docs", tags=["money"], status="Closed", priority="LOW"),
        "key": items.make(
            "玄関の鍵", type="issue", content="合鍵は引き出しにある。", tags=["家", "鍵"], priority="HIGH"
        ),
        "design": items.make(
            "床の間の設計書", type="docs", description="基本設計", status="In Progress", category="基盤"
        ),
        "generic": items.make("Use Map<K, V>", type="bug", content="<script> stays", status="Rejected"),
    }
    return {name: item["id"] for name, item in made.items()}


def found(items, shelf, query, **more):
    names = {id: name for name, id in shelf.items()}
    return [names[each["id"]] for each in items.search_items(query=query, mode="text", **more)["items"]]


def test_words_find_titles_contents_and_tags_in_both_languages(talk):
    items = Items(talk)
    made = items.make("玄関の鍵", content="合鍵は引き出しにある。" * 60, tags=["家"])
    items.make("Printer", content="x")
    told = items.search_items(query="合鍵", mode="text")
    assert [each["id"] for each in told["items"]] == [made["id"]]
    hit = told["items"][0]
    assert "content" not in hit
    assert "合鍵" in hit["snippet"]
    assert len(hit["snippet"]) <= 200
    assert (told["mode"], told["has_more"]) == ("text", False)
    assert 0 < hit["score"] <= 1
    assert [each["title"] for each in items.search_items(query="家", mode="text")["items"]] == ["玄関の鍵"]


QUERIES = {
    "type:bug": ["generic", "printer"],
    "type:bug is:open": ["printer"],
    "is:closed": ["generic", "bill"],
    'status:"In Progress"': ["design"],
    "status:in-progress": ["design"],
    "status:Closed,Rejected": ["generic", "bill"],
    "priority:high": ["key"],
    "tag:家": ["key"],
    "tag:money OR tag:鍵": ["key", "bill"],
    "category:基盤": ["design"],
    "-type:bug -type:docs": ["key"],
    "NOT (type:bug OR type:docs)": ["key"],
    "has:tag": ["key", "bill"],
    "-has:tag type:docs": ["design"],
    "created:2020..2100 priority:LOW": ["bill"],
    "updated:<2020": [],
    "updated:>=2020-01-01 updated:<=2100-12 type:issue": ["key"],
    "(type:docs AND is:open) OR priority:HIGH": ["design", "key"],
}


@pytest.mark.parametrize(("query", "names"), QUERIES.items(), ids=QUERIES)
def test_fields_alone_give_what_they_say_last_changed_first(items, shelf, query, names):
    assert found(items, shelf, query) == names


WORDS = {
    "printer": {"printer", "bill"},
    "printer type:bug": {"printer"},
    "printer is:closed": {"bill"},
    "printer -offline": {"bill"},
    "printer AND room": {"printer"},
    '"printer in room"': {"printer"},
    '"room printer"': set(),
    "(printer OR 設計) type:docs": {"bill", "design"},
    "offline OR 合鍵": {"printer", "key"},
    "offline OR priority:HIGH": {"printer", "key"},
    "(printer type:bug) OR (設計 is:open)": {"printer", "design"},
    "設計書": {"design"},
    '"合鍵は引き出し" AND ａｎｓｗｅｒ': set(),
    '"ｐｒｉｎｔｅｒ ＩＮ　room"': {"printer"},
    '"Map<K, V>"': {"generic"},
    "（printer OR 合鍵）　type：issue": {"key"},
}


@pytest.mark.parametrize(("query", "names"), WORDS.items(), ids=WORDS)
def test_words_and_fields_join(items, shelf, query, names):
    assert set(found(items, shelf, query)) == names


def test_types_narrow_any_query(items, shelf):
    assert found(items, shelf, "printer", types=["docs"]) == ["bill"]
    assert set(found(items, shelf, "", types=["docs", "issue"])) == {"bill", "design", "key"}


def test_what_is_changed_or_deleted_is_found_as_it_is_now(items, shelf):
    items.update_item(type="bug", id=shelf["printer"], title="Scanner", content="broken", status="Closed")
    assert found(items, shelf, "printer") == ["bill"]
    assert "printer" in found(items, shelf, "is:closed scanner")
    items.delete_item(type="docs", id=shelf["bill"])
    assert found(items, shelf, "printer") == []
    items.restore_item(type="docs", id=shelf["bill"])
    assert found(items, shelf, "printer") == ["bill"]
    items.change_item_type(from_type="docs", from_id=shelf["bill"], to_type="receipt")
    assert found(items, shelf, "type:receipt") == ["bill"]


BAD = {
    'status:"In Progress': (7, "not closed"),
    "status:Shut": (7, "status must be one of Open"),
    "stauts:open": (0, "did you mean status"),
    "a (b": (2, "not closed"),
    "a) b": (1, "no ("),
    "a ()": (3, "are empty"),
    "OR a": (0, "OR needs something before it"),
    "a AND": (5, "is missing here"),
    "type:": (5, "needs a value"),
    "updated:2026-13": (8, "not a date"),
    "updated:2026-03..2026-01": (8, "ends before"),
    "updated:..": (8, "one end"),
    "has:money": (4, "has must be one of"),
    "(" * 30 + "a" + ")" * 30: (21, "nested"),
    " ".join("abcdefghij" for _ in range(101)): (1100, "100 parts"),
}


@pytest.mark.parametrize(("query", "told"), BAD.items(), ids=[key[:20] for key in BAD])
def test_a_query_that_cannot_be_read_says_where(items, query, told):
    place, says = told
    error = items.refused("search_items", query=query)
    details = error["data"]["details"]
    assert error["code"] == 1002
    assert details["position"] == place
    assert says in error["message"]
    shown, mark = details["pointer"].split("\n")
    assert query[place : place + 1] == shown[mark.index("^") : mark.index("^") + 1]


@pytest.mark.parametrize("query", ["http://x", "error:42 printer", "C:\\path", "-", "a - b", "12:30", "::", "e-mail"])
def test_what_only_looks_like_a_field_is_text(items, shelf, query):
    assert items.search_items(query=query)["mode"] != "filter"


def test_pages_hold_each_item_once(items):
    made = [items.make(f"lamp {number}", content="a lamp for the table" + " x" * number) for number in range(25)]
    seen, offset = [], 0
    while offset is not None:
        page = items.search_items(query="lamp", limit=10, offset=offset, mode="text")
        seen += [each["id"] for each in page["items"]]
        offset = page.get("next_offset")
    assert sorted(seen) == [each["id"] for each in made]
    assert items.search_items(query="lamp", offset=1000)["items"] == []


SUGGESTIONS = {
    "設": {"設計", "設計書", "床の間の設計書"},
    "床": {"床の間の設計書"},
    "ﾌﾟﾘﾝ": {"プリンター", "社内プリンター"},
    "ぷりん": {"プリンター", "社内プリンター"},
    "とこの": {"床の間", "とこのま"},
    "Pri": {"Printer", "Printer is offline"},
    "printer is": {"Printer is offline"},
    "off": {"offline", "Printer is offline"},
    "zzz": set(),
    " ": set(),
}


@pytest.mark.parametrize(("query", "texts"), SUGGESTIONS.items(), ids=SUGGESTIONS)
def test_suggestions_complete_titles_tags_words_and_readings(items, query, texts):
    items.make("Printer is offline")
    items.make("床の間の設計書", tags=["設計"], description="床の間（とこのま）に掛ける軸。")
    items.make("社内プリンター")
    assert {each["text"] for each in items.search_suggest(query=query)["items"]} == texts


def test_frequent_words_and_tags_come_first_and_what_is_gone_is_not_suggested(items):
    made = [items.make(f"deploy step {number}", type="docs", tags=["deployment"]) for number in range(3)]
    items.make("depend on nobody")
    told = items.search_suggest(query="dep")["items"]
    assert [(each["text"], each["kind"], each["count"]) for each in told[:3]] == [
        ("deployment", "tag", 3), ("deploy", "word", 3), ("depend", "word", 1),
    ]  # fmt: skip
    assert [each["text"] for each in items.search_suggest(query="dep", types=["issue"])["items"]] == [
        "depend", "depend on nobody",
    ]  # fmt: skip
    assert items.search_suggest(query="dep", limit=2)["has_more"] is True
    for each in made:
        items.delete_item(type="docs", id=each["id"])
    assert [each["text"] for each in items.search_suggest(query="deploy")["items"]] == []
