"""Finding by words: what is found, in which order, why, and why not."""

import random
from dataclasses import replace

import pytest
from search.fixture import NOW, IndexFixture, address, names

from tokonoma.core.desk import CLASSIFICATIONS, Document
from tokonoma.core.errors import Missing, Unavailable
from tokonoma.core.query import Condition, SearchFilter, SearchScope
from tokonoma.search import candidates
from tokonoma.search.tuning import TUNING

pytestmark = pytest.mark.migrated

DAY = 86_400_000


@pytest.fixture
def shelf(database) -> IndexFixture:
    return IndexFixture(database)


@pytest.fixture(params=[0, 500], ids=["proposed", "driven"])
def both_ways(request, monkeypatch):
    """Filters that let few through drive the search; here once they do, and once they do not."""
    monkeypatch.setattr(candidates, "TUNING", replace(TUNING, few_documents=request.param))


# What is asked, and the one text that holds it.
PAIRS = [
    ("鍵", "玄関の鍵を換えた"),
    ("解約", "電話の解約は月末まで"),
    ("サーバー", "新しいサーバを借りた"),
    ("サーバ", "古いサーバーを返した"),
    ("ﾊﾟｽﾜｰﾄﾞ", "パスワードは毎年変える"),
    ("ＡＢＣ商事", "ABC商事の担当は田中さん"),
    ("第３条", "規約の第3条を読む"),
    ("getUserById", "call getUserById with the id"),
    ("user by id", "the function getUserById is slow"),
    ("foo_bar", "set foo_bar to zero"),
    ("k8s.io/api", "imports k8s.io/api twice"),
    ("running shoes", "she runs in new shoes"),
    ("Café", "the cafe at the corner"),
    ("C++", "a book on C++"),
    ("한국어", "한국어 수업은 화요일"),
    ("E1234", "the printer says E1234"),
]


@pytest.mark.parametrize(("asked", "said"), PAIRS, ids=[asked for asked, _ in PAIRS])
def test_words_of_all_kinds_are_found(shelf, asked, said):
    shelf.fill({f"other{number}": text for number, text in enumerate(("天気の話", "lunch on friday", "会議は三時"))})
    shelf.put("it", said)
    assert shelf.find(asked)[:1] == ["it"]
    assert shelf.find(asked, modules=("memory",))[:1] == ["it"]


@pytest.mark.usefixtures("both_ways")
def test_rare_words_count_more_and_all_words_more_than_some(shelf):
    for number in range(30):
        shelf.put(f"n{number}", f"tea and {'cake' if number % 5 == 0 else 'toast'} on day {number}")
    shelf.put("rare", "tea and pomegranate")
    shelf.put("all", "tea and pomegranate and cake")
    for where in ({}, {"modules": ("memory",)}, {"namespace": "/"}):
        assert shelf.find("pomegranate cake", **where)[:2] == ["all", "rare"]


def test_a_title_counts(shelf):
    shelf.put("body", "how to make tea, and when to drink it, and why")
    shelf.put("titled", "water, leaves, three minutes, and patience", title="Tea")
    assert shelf.find("tea")[0] == "titled"


def test_without_words_the_newest_come_first(shelf):
    for number in (3, 1, 4, 1, 5):
        shelf.put(f"m{number}", "note", at=NOW + number)
    assert shelf.find("", limit=3) == ["m5", "m4", "m3"]
    assert shelf.find("  \n ") == ["m5", "m4", "m3", "m1"]
    hits = shelf.hits("")
    assert {hit.score for hit in hits.items} == {1.0}
    assert hits.items[0].text_score is None


def test_words_that_nobody_wrote_find_nothing(shelf):
    shelf.put("a", "green tea")
    assert shelf.find("pomegranate") == []
    assert shelf.find("？！。") == []
    assert shelf.find("the of and") == []


def test_equals_come_newest_first_and_always_in_the_same_order(shelf):
    numbers = list(range(40))
    random.Random(5).shuffle(numbers)
    for number in numbers:
        shelf.put(f"m{number:02}", "the same words", at=NOW + number // 2)
    first = shelf.find("words", limit=40)
    assert first == shelf.find("words", limit=40) == shelf.find("words", limit=40, modules=("memory",))
    times = [int(name[1:]) // 2 for name in first]
    assert times == sorted(times, reverse=True)
    assert shelf.find("words", limit=7) == first[:7]


def test_age_can_count(shelf):
    shelf.put("new", "tea and other things and more things", at=NOW)
    shelf.put("old", "tea", at=NOW - 4000 * DAY)
    assert shelf.find("tea")[0] == "old"
    assert shelf.find("tea", half_life=100.0)[0] == "new"


@pytest.mark.usefixtures("both_ways")
def test_a_thread_lends_weight_to_those_beside_a_hit(shelf):
    talk = ["hello there", "how is the garden", "did the pomegranate bloom", "yes in may", "it was red", "goodbye now"]
    for number, text in enumerate(talk):
        shelf.put(f"turn{number}", text, thread="talk", namespace="/a")
    shelf.put("alone", "it is red in may", namespace="/a")
    shelf.put("other", "yes in may", thread="another talk", namespace="/a")
    found = shelf.find("pomegranate red may", namespace="/a", limit=20)
    assert found[0] in ("turn2", "turn3", "turn4")
    assert found.index("turn3") < found.index("other")
    assert (
        shelf.find("pomegranate", namespace="/a")
        != shelf.find("pomegranate", namespace="/a", neighbours=False)
        == ["turn2"]
    )
    assert set(shelf.find("pomegranate", namespace="/a")) == {"turn0", "turn1", "turn2", "turn3", "turn4"}


@pytest.mark.usefixtures("both_ways")
def test_neighbours_are_those_that_the_caller_can_see(shelf):
    shelf.put("mine0", "nothing here", thread="t", namespace="/mine")
    shelf.put("theirs", "pomegranate", thread="t", namespace="/theirs")
    shelf.put("hidden", "pomegranate", thread="t", namespace="/mine", label="secret")
    shelf.put("mine1", "nothing there", thread="t", namespace="/mine")
    inside = SearchScope("/mine", ("public", "internal"))
    assert shelf.find("pomegranate", reach=inside) == []
    assert shelf.find("nothing", reach=inside) == ["mine1", "mine0"]
    for hit in shelf.hits("nothing", reach=inside, explain=True).items:
        assert hit.score_parts["text"]["neighbours"] == 1
        assert set(hit.score_parts["text"]["terms"]) == {"noth"}
    for hit in shelf.hits("nothing", SearchFilter(namespace="/mine"), explain=True).items:
        assert hit.score_parts["text"]["neighbours"] == 2


def test_a_score_can_be_added_up(shelf):
    for number in range(12):
        shelf.put(
            f"m{number}",
            f"green tea {'cake ' * (number % 3)} number {number}{'?' * (number % 5 == 1)}",
            thread="t" if number % 2 else "",
        )
    hits = shelf.hits("green cake number", explain=True, half_life=3650.0)
    assert len(hits.items) == 10
    for hit in hits.items:
        parts = hit.score_parts
        text = parts["text"]
        assert text["words"] == pytest.approx(sum(text["terms"].values()), abs=1e-4)
        said = (text["words"] * text["coverage"] ** 0.5 + text["title"]) * (
            TUNING.question_factor if text["asks"] else 1.0
        )
        assert text["score"] == pytest.approx(said + text["thread"])
        assert text["level"] == pytest.approx(text["score"] / (text["score"] + text["total"]))
        assert hit.score == parts["score"] == pytest.approx(text["level"] * parts["decay"], abs=1e-5)
        assert hit.text_score == text["level"]
    assert {hit.score_parts["text"]["asks"] for hit in hits.items} == {True, False}
    assert any(hit.score_parts["text"]["thread"] > 0 for hit in hits.items)
    assert all(hit.score_parts == {} for hit in shelf.hits("green cake").items)


def test_why_not(shelf):
    for number in range(30):
        shelf.put(f"m{number:02}", "tea", at=NOW + number)
    shelf.put("far", "tea with very many other words beside it that make it long", namespace="/far", facts=[("k", "v")])
    shelf.put("over", "tea", expires_at=NOW)
    shelf.put("hidden", "tea", label="secret")
    shelf.put("coffee", "coffee")

    def why(name, where=None, reach=None, **asked):
        more = {} if reach is None else {"reach": reach}
        return shelf.hits("tea", where or SearchFilter(), expect=address(name), limit=5, **more, **asked).why_not or ""

    assert why("nothing").startswith("not indexed")
    assert why("m29") == "", "it is among the hits"
    assert why("far", SearchFilter(namespace="/near")) == "filtered by namespace"
    assert why("far", SearchFilter(("items",))) == "filtered by module"
    assert why("far", SearchFilter(conditions=(Condition("k", "is", ("w",)),))) == "filtered by metadata k"
    assert why("far", SearchFilter(since=NOW + 10_000, until=NOW + 20_000)) == "filtered by since"
    assert why("far", SearchFilter(("items",), "/near")) == "filtered by namespace and module"
    assert why("over") == "filtered by expiry"
    assert "rank 32" in why("far")
    assert why("far").startswith("ranked too low")
    assert "no word of the query" in why("coffee")
    unseen = SearchScope("/", ("public", "internal"))
    assert why("hidden", reach=unseen).replace("hidden", "nothing") == why("nothing", reach=unseen)
    outside = SearchScope("/mine", CLASSIFICATIONS)
    assert why("far", reach=outside).replace("far", "nothing") == why("nothing", reach=outside)


def test_why_not_of_a_filter_alone(shelf):
    for number in range(9):
        shelf.put(f"m{number}", "tea")
    assert shelf.hits("", limit=3, expect=address("m0")).why_not.startswith("ranked too low")


def test_what_needs_vectors_says_so_where_there_are_none(shelf):
    shelf.put("a", "tea")
    with pytest.raises(Unavailable):
        shelf.hits("tea", mode="vector")
    with pytest.raises(Unavailable):
        shelf.hits("", pivot=address("a"))
    with pytest.raises(Missing):
        shelf.hits("", pivot=address("b"))
    assert shelf.hits("tea", mode="hybrid").mode == "text"


INJECTIONS = [
    "' or 1=1 --",
    "'; drop table document; --",
    '" OR "a" OR "',
    '") OR words MATCH ("',
    "a NEAR/2 b",
    "word : tea",
    "{word place} : tea",
    "^tea",
    "tea*",
    "tea + cake",
    "NOT tea",
    "AND",
    "-tea",
    "%",
    "_",
    "tea%' escape '",
    "\\",
    "\\'; select 1",
    "$1",
    ":f_now",
    "%(most)s",
    "{filter}",
    "{each}",
    "{for_update}",
    "tea\x00cake",
    "tea & cake | !milk",
    "tea:*",
    "array[1]",
    "'::tsquery",
    "\ud800",
    "\uf8ffmmemory",
    "\ue000\ue022",
    "rowid:1",
    "rank match 'bm25(0)'",
    "/../..",
    "/*",
    "[]",
    "null",
]


@pytest.mark.parametrize("evil", INJECTIONS)
def test_what_callers_write_is_never_read_as_a_query(shelf, evil):
    shelf.put("tea", "tea and cake", facts=[("k", "v")])
    shelf.put("secret", "tea and cake", label="secret", namespace="/theirs")
    before = shelf.state()
    reach = SearchScope("/", ("internal",))
    said = evil.replace("\x00", "").replace("\ud800", "")  # databases refuse these, with a word of their own
    assert set(shelf.find(evil, reach=reach)) <= {"tea"}
    assert shelf.find(evil, Condition(said, "is", (said,)), reach=reach) == []
    for operator in ("in", "contains", "prefix"):
        assert shelf.find("tea", Condition("k", operator, (said or "x",)), reach=reach) == []
    assert shelf.find("tea", Condition("k", "between", (said, said)), reach=reach) in ([], ["tea"])
    assert shelf.find("tea", namespace=f"/x{said}", reach=reach) == []
    assert shelf.find("tea", modules=(said,), reach=reach) == []
    assert shelf.find("tea", reach=SearchScope(f"/x{said}", CLASSIFICATIONS)) == []
    assert shelf.hits("tea", expect=said, reach=reach).why_not.startswith("not indexed")
    assert shelf.state() == before


def test_what_was_injected_is_stored_and_found_as_it_is(shelf):
    for number, evil in enumerate(INJECTIONS):
        said = evil.replace("\x00", "").replace("\ud800", "")
        shelf.put(f"e{number}", f"{said} pomegranate", title=said, thread=said, facts=[(said, said)])
    assert len(shelf.find("pomegranate", limit=100)) == len(INJECTIONS)
    for number, evil in enumerate(INJECTIONS):
        said = evil.replace("\x00", "").replace("\ud800", "")
        assert f"e{number}" in shelf.find("", Condition(said, "is", (said,)), limit=100)


def test_many_more_than_are_looked_at_one_by_one(shelf):
    """More than proposals bring: the best are still the best."""
    with shelf.database.writing() as tx:
        for number in range(900):
            text = f"tea {'cake ' * (number % 5)}and number {number}"
            shelf.index.put(tx, Document(address(f"m{number}"), f"/s{number % 3}", text, at=NOW + number), "internal")
        shelf.index.put(tx, Document(address("best"), "/s1", "cake pomegranate tea", at=NOW), "internal")
    assert shelf.find("tea cake pomegranate")[0] == "best"
    assert shelf.find("tea cake pomegranate", namespace="/s1")[0] == "best"
    assert "best" not in shelf.find("tea cake pomegranate", namespace="/s0", limit=100)
    assert len(shelf.find("tea", limit=100)) == 100
    assert names(shelf.hits("", limit=2)) == ["m899", "m898"]
