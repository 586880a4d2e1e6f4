"""specs/000, memory.search: words, metadata, namespaces, refusals, over the wire, on both databases."""

from datetime import datetime, timedelta
from itertools import product

import pytest
from talk import Lines

from tokonoma.app import App

MEMOS = [
    {
        "content": "玄関の鍵を新しくした。合鍵は引き出しにある。",
        "metadata": {"room": "玄関", "n": 1, "tags": ["家", "鍵"]},
    },
    {"content": "動画配信を解約する手順を調べる", "metadata": {"room": "居間", "n": 2, "done": False}},
    {"content": "サーバーは毎朝三時に再起動する", "metadata": {"n": 3, "deep": {"er": "x"}}},
    {"content": "call getUserById before foo_bar runs", "title": "API notes", "metadata": {"n": 4, "done": True}},
    {"content": "The quick brown foxes were jumping", "metadata": {"n": 5.5, "room": "garden"}},
]


@pytest.fixture
def ids(talk):
    told = talk.call("memory", "save", namespace="notes/today", memos=MEMOS)
    return [each["memo_id"] for each in told["items"]]


def found(talk, ids, **params):
    items = talk.call("memory", "search", **params)["items"]
    return [ids.index(item["memo_id"]) for item in items]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("鍵", 0),
        ("解約", 1),
        ("ｻｰﾊﾞ", 2),
        ("サーバ 再起動", 2),
        ("get user", 3),
        ("foo_bar", 3),
        ("GETUSERBYID", 3),
        ("API", 3),
        ("jumps fox", 4),
    ],
)
def test_words_find_the_memo_first_in_both_languages(talk, ids, query, first):
    assert found(talk, ids, query=query)[0] == first


FILTERS = {
    "exact text": ({"room": "玄関"}, {0}),
    "exact number": ({"n": 2}, {1}),
    "exact truth": ({"done": True}, {3}),
    "one of a list": ({"tags": "鍵"}, {0}),
    "nested by dots": ({"deep.er": "x"}, {2}),
    "nested by objects": ({"deep": {"er": "x"}}, {2}),
    "contains": ({"room": {"contains": "関"}}, {0}),
    "prefix": ({"room": {"prefix": "gar"}}, {4}),
    "in": ({"n": {"in": [1, 3]}}, {0, 2}),
    "between": ({"n": {"gte": 2, "lte": 4}}, {1, 2, 3}),
    "from": ({"n": {"gte": 5}}, {4}),
    "exists": ({"done": {"exists": True}}, {1, 3}),
    "not there": ({"done": {"exists": False}}, {0, 2, 4}),
    "two at once": ({"room": {"exists": True}, "n": {"lte": 1}}, {0}),
    "nothing": ({"room": "cellar"}, set()),
}


@pytest.mark.parametrize(("wanted", "hits"), FILTERS.values(), ids=FILTERS)
def test_metadata_alone_finds_newest_first(talk, ids, wanted, hits):
    told = talk.call("memory", "search", metadata_filter=wanted)
    assert told["mode"] == "metadata"
    assert {ids.index(item["memo_id"]) for item in told["items"]} == hits


def test_metadata_narrows_words(talk, ids):
    assert found(talk, ids, query="鍵 解約 サーバ", metadata_filter={"n": {"lte": 2}}) in ([0, 1], [1, 0])


def test_a_search_looks_below_its_namespace_and_nowhere_else(talk, ids):
    assert found(talk, ids, query="鍵", namespace="notes") == [0]
    assert found(talk, ids, query="鍵", namespace="notes/today") == [0]
    assert found(talk, ids, query="鍵", namespace="notes/tod") == []
    assert found(talk, ids, query="鍵", namespace="elsewhere") == []


def test_what_is_changed_deleted_or_restored_is_found_accordingly(talk, ids):
    talk.call("memory", "save", memo_id=ids[0], content="窓を直した")
    assert found(talk, ids, query="合鍵", mode="text") == []
    assert found(talk, ids, query="窓")[0] == 0
    talk.call("memory", "delete", memo_id=ids[1])
    assert 1 not in found(talk, ids, query="解約")
    talk.call("memory", "restore", memo_id=ids[1])
    assert found(talk, ids, query="解約")[0] == 1


def test_a_long_memo_comes_as_the_part_that_answers(talk):
    content = "前置き。" * 2000 + "目印は赤い郵便受け。" + "後書き。" * 2000
    talk.call("memory", "save", content=content)
    (item,) = talk.call("memory", "search", query="郵便受け")["items"]
    assert item["content_truncated"] is True
    assert "郵便受け" in item["content"]
    assert len(item["content"]) <= 2000


def test_scores_are_explained_and_absence_too(talk, ids):
    told = talk.call("memory", "search", query="鍵", explain=True, expect_memo_id=ids[4])
    details = told["items"][0]["score_details"]
    assert details["text"]["terms"]["鍵"] > 0
    assert 0 < told["items"][0]["score"] <= 1
    assert told["why_not"]


BAD = {
    "query and pivot": ({"query": "x", "pivot_memo_id": "y"}, "INVALID_ARGUMENT"),
    "a least similarity with l2": (
        {"query": "x", "minimum_similarity": 0.5, "distance_metric": "l2"},
        "INVALID_ARGUMENT",
    ),
    "k of 0": ({"query": "x", "k": 0}, "INVALID_ARGUMENT"),
    "a minimum score of 2": ({"query": "x", "minimum_score": 2}, "INVALID_ARGUMENT"),
    "k of 101": ({"query": "x", "k": 101}, "INVALID_ARGUMENT"),
    "an unknown mode": ({"query": "x", "mode": "magic"}, "INVALID_ARGUMENT"),
    "an unknown operator": ({"metadata_filter": {"a": {"contains": "x", "like": "y"}}}, "INVALID_ARGUMENT"),
    "a list as a value": ({"metadata_filter": {"a": [1]}}, "INVALID_ARGUMENT"),
    "above the root": ({"query": "x", "namespace": "../.."}, "INVALID_ARGUMENT"),
    "a pivot that does not exist": ({"pivot_memo_id": "0190a000-0000-7000-8000-000000000000"}, "NOT_FOUND"),
}


@pytest.mark.parametrize(("params", "code"), BAD.values(), ids=BAD)
def test_bad_searches_are_refused_in_words(talk, ids, params, code):
    error = talk.refused("memory", "search", **params)
    assert error["code"] == code
    assert error["message"]


def test_by_its_meaning_a_memo_is_found_in_the_other_language_as_soon_as_it_is_saved(talk):
    saved = talk.call("memory", "save", content="家賃は毎月二十五日に大家さんへ振り込む", namespace="home")
    talk.call("memory", "save", content="The cat sleeps on the warm roof all afternoon", namespace="home")
    for mode in ("hybrid", "vector"):
        told = talk.call("memory", "search", query="when do I pay the rent", namespace="home", mode=mode, explain=True)
        assert told["mode"] == mode
        assert told["items"][0]["memo_id"] == saved["memo_id"]
    details = talk.call("memory", "search", query="when do I pay the rent", namespace="home", explain=True)["items"][0]
    assert details["score_details"]["language"] == "en"
    assert details["score_details"]["vector"]["language"] == "ja"
    signs = details["score_details"]["signs"]
    assert 0 < signs["subwords"]["value"] < 1
    assert signs["vector"]["weight"] > 1
    assert "words" not in signs  # they say nothing between two languages


def test_hits_below_the_minimum_score_are_left_out(talk, ids):
    told = talk.call("memory", "search", query="玄関の鍵 サーバー")["items"]
    assert len(told) > 1
    between = (told[0]["score"] + told[1]["score"]) / 2
    asked = {"query": "玄関の鍵 サーバー", "minimum_score": between, "expect_memo_id": told[1]["memo_id"]}
    answer = talk.call("memory", "search", **asked)
    assert [item["memo_id"] for item in answer["items"]] == [told[0]["memo_id"]]
    assert "below the minimum score" in answer["why_not"]
    assert talk.call("memory", "search", query="unrelated zebra crossing", minimum_score=0.9)["items"] == []
    assert len(talk.call("memory", "search", metadata_filter={"n": 2}, minimum_score=0.9)["items"]) == 1


def test_a_memo_whose_parts_of_words_are_not_stored_is_found_like_before(talk, app, ids):
    asked = {"query": "when is the server restarted", "explain": True}
    known = talk.call("memory", "search", **asked)["items"]
    with app.write_as_owner("test") as statements:
        statements.run("update embedding set subwords = null")
    guessed = talk.call("memory", "search", **asked)["items"]
    assert guessed[0]["memo_id"] == known[0]["memo_id"] == ids[2]
    values = [items[0]["score_details"]["signs"]["subwords"]["value"] for items in (known, guessed)]
    assert values[0] != values[1]
    assert values[1] > 0


def test_a_memo_has_neighbours_in_meaning(talk, ids):
    told = talk.call("memory", "search", pivot_memo_id=ids[0])
    assert told["mode"] == "vector"
    assert ids[0] not in [item["memo_id"] for item in told["items"]]


def test_a_house_without_a_model_says_so(database_url, tmp_path):
    flags = {"home": str(tmp_path / "home"), "database_url": database_url, "durable": False, "embed_provider": "none"}
    house = App(flags, {})
    talk = Lines(house)
    memo = talk.call("memory", "save", content="玄関の鍵を新しくした。")["memo_id"]
    assert talk.call("memory", "search", query="鍵")["mode"] == "text"
    assert talk.refused("memory", "search", query="鍵", mode="vector")["code"] == "UNAVAILABLE"
    assert talk.refused("memory", "search", pivot_memo_id=memo)["code"] == "UNAVAILABLE"
    house.close()


@pytest.fixture
def diary(talk):
    days = ("2022-05-25", "2022-06-25T08:00:00Z", 1_658_707_200)  # the last is 25 July 2022, in seconds
    memos = [{"content": "we talked about the budget", "metadata": {"date": day}} for day in days]
    told = talk.call("memory", "save", memos=[*memos, {"content": "we talked about the budget"}])
    return [each["memo_id"] for each in told["items"]]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("the talk about the budget on 25 May 2022", 0),
        ("budget talks in June 2022", 1),
        ("2022年7月の budget", 2),
        ("what did we say about the budget today?", 3),
    ],
)
@pytest.mark.parametrize("mode", ["text", "hybrid"])
def test_a_time_in_the_question_is_looked_for_in_the_memos(talk, diary, query, first, mode):
    assert found(talk, diary, query=query, mode=mode)[0] == first


def test_what_is_no_time_breaks_no_search_and_several_are_all_looked_at(talk):
    odd = (-1.7e308, 1.7e308, True, 5, "10:30", "x" * 5_000, "9999-12-31", {"from": "2022-05-25"})
    memos = [{"content": "we talked about the budget", "metadata": {"date": value}} for value in odd]
    both = {"content": "we talked about the budget", "metadata": {"date": ["2019-01-01", "2022-05-25"]}}
    last = talk.call("memory", "save", memos=[both, *memos])["items"][0]["memo_id"]
    for mode in ("text", "hybrid"):
        for query in (
            "budget on 25 May 2022",
            "the budget of 0001-01-01",
            "budget, 9999-12-30",
            "budget 999 years ago",
        ):
            items = talk.call("memory", "search", query=query, mode=mode)["items"]
            assert len(items) == len(odd) + 1
            if "May" in query:
                assert items[0]["memo_id"] == last


def test_what_a_time_took_from_a_score_is_explained(talk, diary):
    items = talk.call("memory", "search", query="budget talks on 25 May 2022", explain=True)["items"]
    told = {diary.index(item["memo_id"]): item["score_details"] for item in items}
    assert "time" not in told[0]
    assert 0.1 < told[0]["time_share"] < 0.45
    assert 0.2 <= told[3]["time"] < 0.21
    assert "time_share" not in told[3]


def test_a_memo_of_a_day_is_found_among_hundreds_that_say_the_same(talk):
    names = [a + b for a, b in product("bcdfghjklmnpqrstvwxyz", repeat=2)]
    memos = [{"content": f"{meal} with {name}"} for meal in ("lunch", "supper") for name in names]
    dated = {"content": "lunch with aiko", "metadata": {"date": "2022-05-25"}}
    talk.call("memory", "save", memos=[dated, *memos])
    first = talk.call("memory", "search", query="lunch on 25 May 2022", mode="text")["items"][0]
    assert first["content"] == dated["content"]


def list_days_from_now(*days: int) -> list[str]:
    return [(datetime.now() + timedelta(days=each)).date().isoformat() for each in days]


@pytest.mark.parametrize("query", ["what is planned for next week?", "来週の予定"])
def test_a_question_about_the_future_finds_what_is_dated_there(talk, query):
    next_week, later, earlier = list_days_from_now(7 - datetime.now().weekday() + 2, 40, -40)
    dated = [("take the boat out of the water", next_week), ("the planned holiday of Aiko, 予定", later)]
    memos = [{"content": text, "metadata": {"date": day}} for text, day in dated]
    others = [{"content": f"what is planned in {n}, 週の予定", "metadata": {"date": earlier}} for n in range(30)]
    talk.call("memory", "save", memos=[*memos, *others])
    assert talk.call("memory", "search", query=query, k=3)["items"][0]["content"] == dated[0][0]


def test_a_note_of_that_day_is_found_if_it_has_no_word_of_the_question(talk):
    yesterday, before = list_days_from_now(-1, -9)
    memos = [
        {"content": "5 km with the dog, shin quiet", "metadata": {"date": yesterday}},
        {"content": "17 km along the river", "metadata": {"date": before}},
    ]
    others = [{"content": f"yesterday's run of the job {n} was slow", "metadata": {"date": before}} for n in range(12)]
    talk.call("memory", "save", memos=[*memos, *others])
    hits = [each["content"] for each in talk.call("memory", "search", query="How was my run yesterday?")["items"]]
    assert memos[0]["content"] in hits[:3]


def test_what_lies_before_an_open_time_falls_behind(talk):
    days = ("2026-01-10", "2026-03-02", "2026-05-05")
    talk.call("memory", "save", memos=[{"content": f"heron standup {day}", "metadata": {"date": day}} for day in days])

    def ask(query: str) -> str:
        return talk.call("memory", "search", query=query)["items"][0]["content"]

    assert ask("heron standups since 5 May 2026") == "heron standup 2026-05-05"
    assert ask("2026年2月より前の heron standup") == "heron standup 2026-01-10"
    assert ask("heron standups between 1 March 2026 and 4 March 2026") == "heron standup 2026-03-02"


def test_a_search_by_vectors_explains_only_what_it_has_compared(app):
    """Whether a title is among the nearest pieces depends on the other records: then two equal houses would differ."""
    talk = Lines(app)
    talk.call("memory", "save", memos=[{"content": f"the boat {n}", "title": "harbour"} for n in range(3)])
    while "not_yet_embedded" in talk.call("memory", "search", query="boat"):
        pass
    found = talk.call("memory", "search", query="boat", mode="vector", explain=True)["items"]
    assert [sorted(each["score_details"]["vector"]) for each in found] == [["language", "share", "similarity"]] * 3
