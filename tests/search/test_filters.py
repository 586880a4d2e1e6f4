"""Filters: each alone, several together, and walls that hold whatever is asked."""

import itertools
from dataclasses import replace

import pytest
from search.fixture import EVERYWHERE, NOW, IndexFixture

from tokonoma.core.desk import CLASSIFICATIONS
from tokonoma.core.errors import Invalid
from tokonoma.core.query import Condition, SearchFilter, SearchScope
from tokonoma.search import candidates
from tokonoma.search.filters import compile_condition, compile_filter, to_cells, to_indexed_key
from tokonoma.search.tuning import TUNING

pytestmark = pytest.mark.migrated


@pytest.fixture
def shelf(database) -> IndexFixture:
    return IndexFixture(database)


def is_(key, *values):
    return Condition(key, "is", values)


def test_a_space_means_itself_and_those_below_it(shelf):
    for space in ("/", "/a", "/a/b", "/a/b/c", "/a-b", "/ab", "/a.b", "/A", "/A/b", "/a%", "/a_/x", "/あ/い"):
        shelf.put(f"in {space}".replace("/", ":"), "note", namespace=space)
    found = {
        space: len(shelf.find("note", namespace=space, limit=50)) for space in ("/", "/a", "/a/b", "/A", "/a_", "/あ")
    }
    assert found == {"/": 12, "/a": 3, "/a/b": 2, "/A": 2, "/a_": 1, "/あ": 1}


def test_a_root_is_a_wall_for_every_way_of_asking(shelf):
    inside, outside = SearchScope("/mine", CLASSIFICATIONS), "/other"
    shelf.put("mine", "alpha beta", namespace="/mine/x", facts=[("k", "v"), ("n", 1.0)], thread="t")
    for number, space in enumerate((outside, "/mine2", "/MINE/x", "/", "/min")):
        shelf.put(f"other{number}", "alpha beta gamma", namespace=space, facts=[("k", "v"), ("n", 1.0)], thread="t")
    conditions = [
        is_("k", "v"),
        Condition("k", "in", ("v", "w")),
        Condition("k", "contains", ("v",)),
        Condition("k", "prefix", ("v",)),
        Condition("n", "between", (0.0, 2.0)),
        Condition("k", "exists", (True,)),
        Condition("zzz", "exists", (False,)),
    ]
    spaces = (None, "/", "/mine", "/mine/x", "/other", "/mine/../other")
    for condition, space, text in itertools.product(conditions, spaces, ("", "alpha", "gamma", "beta gamma")):
        found = shelf.find(text, condition, namespace=space, reach=inside, limit=50)
        assert found in ([], ["mine"]), (condition, space, text)
    assert shelf.find("gamma", reach=inside) == []
    assert shelf.find("", reach=inside) == ["mine"]


def test_classes_are_filtered_before_anything_is_ranked(shelf):
    for label in CLASSIFICATIONS:
        shelf.put(label, "the same words", label=label)
    for most in range(len(CLASSIFICATIONS) + 1):
        for sees in itertools.combinations(CLASSIFICATIONS, most):
            assert sorted(shelf.find("words", reach=SearchScope("/", sees))) == sorted(sees)
            assert sorted(shelf.find("", reach=SearchScope("/", sees))) == sorted(sees)


def test_modules(shelf):
    for module in ("memory", "items", "claims"):
        shelf.put(f"tokonoma://{module}/1", "note")
    assert len(shelf.find("note")) == 3
    assert shelf.find("note", modules=("items",)) == ["tokonoma://items/1"]
    assert len(shelf.find("note", modules=("items", "claims"))) == 2
    assert shelf.find("note", modules=("nothing",)) == []


def test_times_include_their_ends(shelf):
    for number in range(5):
        shelf.put(f"m{number}", "note", at=1000 + number)
    assert shelf.find("", since=1002) == ["m4", "m3", "m2"]
    assert shelf.find("", until=1002) == ["m2", "m1", "m0"]
    assert shelf.find("note", since=1001, until=1002) == ["m2", "m1"]
    assert shelf.find("note", since=1003, until=1002) == []


def test_what_has_run_out_is_not_found(shelf):
    shelf.put("over", "note", expires_at=NOW)
    shelf.put("runs", "note", expires_at=NOW * 2)
    shelf.put("stays", "note")
    assert sorted(shelf.find("note")) == ["runs", "stays"]
    assert sorted(shelf.find("")) == ["runs", "stays"]


FACTS = {
    "text": [("k", "green tea")],
    "other": [("k", "Green Tea")],
    "list": [("k", "green tea"), ("k", "black tea"), ("k", 7.0)],
    "number": [("k", 7.0)],
    "digits": [("k", "7")],
    "truth": [("k", True)],
    "one": [("k", 1.0)],
    "word": [("k", "true")],
    "nested": [("k.deep.er", "x")],
    "near": [("kk", "green tea"), ("k-", "green tea")],
    "none": [],
    "japanese": [("k", "緑茶と紅茶")],
    "long": [("k", "x" * 5000 + "end")],
    "odd": [("k", "50% _off!")],
    "big": [("k", 2**60 + 1)],
    "bigger": [("k", 2**60 + 2)],
}
ASKED = [
    (is_("k", "green tea"), {"text", "list"}),
    (is_("k", 7.0), {"number", "list"}),
    (is_("k", 7), {"number", "list"}),
    (is_("k", "7"), {"digits"}),
    (is_("k", True), {"truth"}),
    (is_("k", 1.0), {"one"}),
    (is_("k", "true"), {"word"}),
    (is_("k", False), set()),
    (is_("k", 2**60 + 1), {"big"}),
    (is_("k", "x" * 5000 + "end"), {"long"}),
    (is_("k", "x" * 5000), set()),
    (is_("k", "50% _off!"), {"odd"}),
    (is_("k.deep.er", "x"), {"nested"}),
    (Condition("k", "in", ("7", 7.0, True)), {"number", "digits", "truth", "list"}),
    (Condition("k", "in", ()), set()),
    (Condition("k", "contains", ("tea",)), {"text", "list"}),
    (Condition("k", "contains", ("Tea",)), {"other"}),
    (Condition("k", "contains", ("%",)), {"odd"}),
    (Condition("k", "contains", ("と紅",)), {"japanese"}),
    (Condition("k", "contains", (7.0,)), {"number", "list"}),
    (Condition("k", "contains", ("end",)), {"long"}),
    (Condition("k", "prefix", ("green",)), {"text", "list"}),
    (Condition("k", "prefix", ("緑",)), {"japanese"}),
    (Condition("k", "prefix", ("50% _",)), {"odd"}),
    (Condition("k", "prefix", ("x" * 4000,)), {"long"}),
    (Condition("k", "prefix", ("x" * 5001,)), set()),
    (Condition("k", "between", (1.0, 7.0)), {"one", "number", "list"}),
    (Condition("k", "between", (None, 1.0)), {"one"}),
    (Condition("k", "between", (8.0, None)), {"big", "bigger"}),
    (Condition("k", "between", ("a", "h")), {"text", "list"}),
    (Condition("k", "between", ("緑", None)), {"japanese"}),
    (Condition("k", "between", ("x" * 5000, "x" * 5001)), {"long"}),
    (Condition("k", "exists", (True,)), set(FACTS) - {"near", "none"}),
    (Condition("k", "exists", (False,)), {"near", "none"}),
    (Condition("k.deep", "exists", (True,)), {"nested"}),
]


def test_facts_of_all_kinds(shelf):
    for name, facts in FACTS.items():
        shelf.put(name, "note", facts=facts)
    for condition, names in ASKED:
        for text in ("", "note"):
            assert set(shelf.find(text, condition, limit=50)) == names, (condition, text)


def test_facts_in_a_store_where_every_filter_lets_many_through(shelf, monkeypatch):
    monkeypatch.setattr(candidates, "TUNING", replace(TUNING, few_documents=0))
    test_facts_of_all_kinds(shelf)


def test_all_conditions_must_hold(shelf):
    shelf.put("both", "note", facts=[("a", "x"), ("b", 2.0)], namespace="/s")
    shelf.put("first", "note", facts=[("a", "x"), ("b", 3.0)], namespace="/s")
    shelf.put("second", "note", facts=[("a", "y"), ("b", 2.0)], namespace="/s")
    shelf.put("elsewhere", "note", facts=[("a", "x"), ("b", 2.0)], namespace="/t")
    assert shelf.find("note", is_("a", "x"), is_("b", 2.0), namespace="/s", modules=("memory",)) == ["both"]
    assert shelf.find("", is_("a", "x"), Condition("b", "between", (3.0, None))) == ["first"]


def test_long_keys_are_told_apart(shelf):
    shelf.put("one", "note", facts=[("k" * 3000 + "a", "v")])
    shelf.put("two", "note", facts=[("k" * 3000 + "b", "v")])
    assert shelf.find("", is_("k" * 3000 + "a", "v")) == ["one"]
    assert len(to_indexed_key("k" * 3000)) <= 200


@pytest.mark.parametrize(
    "condition",
    [
        Condition("k", "prefix", (1.0,)),
        Condition("k", "between", (1.0,)),
        Condition("k", "between", (None, None)),
        Condition("k", "between", (1.0, "z")),
        Condition("k", "between", (True, None)),
        Condition("k", "exists", ("yes",)),
        Condition("k", "is", (None,)),
        Condition("k", "is", (float("nan"),)),
        Condition("k", "like", ("x",)),  # type: ignore[arg-type]
    ],
)
def test_conditions_that_mean_nothing_are_refused(condition):
    with pytest.raises(Invalid):
        compile_condition(condition, "f_0", {})


def test_no_two_values_have_the_same_cells():
    large = [2**60 + 1, 2**60, str(2**60 + 1), 10**400, -(10**400)]
    values = ["true", True, False, "false", 1.0, 0.0, "1", "0", "", *large]
    assert len({to_cells(value) for value in values}) == len(values)
    assert to_cells(-0.0) == to_cells(0)


def test_the_simple_part_of_a_filter_is_told_apart():
    plain = compile_filter(SearchFilter(), EVERYWHERE, NOW)
    assert (plain.modules, plain.namespaces, plain.classifications, plain.narrow) == (None, (), None, False)
    asked = compile_filter(SearchFilter(("memory",), "/a/b"), SearchScope("/a", ("public",)), NOW)
    assert (asked.modules, asked.namespaces, asked.classifications, asked.narrow) == (
        {"memory"},
        ("/a/b",),
        {"public"},
        False,
    )
    assert compile_filter(SearchFilter(namespace="/b"), SearchScope("/a", CLASSIFICATIONS), NOW).namespaces == (
        "/a",
        "/b",
    )
    assert compile_filter(SearchFilter(conditions=(is_("k", 1.0),)), EVERYWHERE, NOW).narrow
    assert compile_filter(SearchFilter(since=1), EVERYWHERE, NOW).narrow


def test_nothing_that_a_caller_sends_stands_in_the_sql():
    evil = "x' or 1=1 --"
    where = SearchFilter((evil,), f"/{evil}", (is_(evil, evil), Condition(evil, "prefix", (evil,))))
    made = compile_filter(where, SearchScope(f"/{evil}", CLASSIFICATIONS), NOW)
    assert "1=1" not in made.sql
    assert all("1=1" not in part.driver for part in made.parts)
