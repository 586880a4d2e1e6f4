"""References: what is read, what is literal, what is refused; and their expansion, which keeps types and runs once."""

import json
import re

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.core.errors import Invalid
from tokonoma.core.field_paths import InvalidPath, format_path, parse_field_path
from tokonoma.gateway.references import (
    ExpansionBudget,
    StepReference,
    expand,
    find_references,
    measure_depth,
    split_references,
)

keys = st.text(st.characters(codec="utf-8"), max_size=12)
ids = st.from_regex(r"[\w-]{1,20}", fullmatch=True)
texts = st.text(st.characters(codec="utf-8"))
plain = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    plain | texts, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4)
)


def escape_references(text):
    """The text written so that it means itself."""
    return re.sub(r"(?<!\$)(\$+)\{", lambda opening: opening[1] * 2 + "{", text)


@pytest.mark.parametrize(
    ("text", "id", "path"),
    [
        ("${a}", "a", ()),
        ("${search.results[0].id}", "search", ("results", 0, "id")),
        ("${a[2][0]}", "a", (2, 0)),
        ('${a["x y"].z}', "a", ("x y", "z")),
        ("${a['it\\'s }']}", "a", ("it's }",)),
        ("${検索.結果[0]}", "検索", ("結果", 0)),
        ("${a-1.content-type.@id.a/b}", "a-1", ("content-type", "@id", "a/b")),
        ('${a[""]}', "a", ("",)),
        ('${a["${b}"]}', "a", ("${b}",)),
    ],
)
def test_a_whole_reference(text, id, path):
    assert split_references(text) == [StepReference(id, path, text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", [""]),
        ("plain $ and $x and { }", ["plain $ and $x and { }"]),
        ("$${a.b}", ["${a.b}"]),
        ("cost: $$${a.price}!", ["cost: $", "a", "!"]),
        ("$$$${a}", ["$${a}"]),
        ("${a}${b}", ["a", "b"]),
        ("x${a}y$${b}z", ["x", "a", "y${b}z"]),
    ],
)
def test_pieces_of_a_text(text, found):
    assert [each if isinstance(each, str) else each.id for each in split_references(text)] == found


@pytest.mark.parametrize(
    "text",
    ["${", "${}", "${ a}", "${a", "${a.}", "${a..b}", "${a[}", "${a[-1]}", "${a[x]}", "${a.b c}", "${a]}", "x ${a!b}"],
)
def test_a_malformed_reference_is_refused_with_the_way_to_write_one(text):
    with pytest.raises(InvalidPath, match=r"\$\$\{"):
        split_references(text)


@given(st.text(st.sampled_from("${}ab.[]0 ")))
def test_escaping_makes_any_text_literal(text):
    assert split_references(escape_references(text)) == [text]


@given(ids, st.lists(keys | st.integers(0, 10**9 - 1), max_size=6))
def test_a_path_that_is_spelled_out_is_read_back(id, path):
    text = "${" + format_path(id, path) + "}"
    assert split_references(text) == [StepReference(id, tuple(path), text)]


@given(st.text(st.sampled_from("${}a.[]0\"' \\")))
def test_no_text_breaks_the_reader(text):
    try:
        found = split_references(text)
    except InvalidPath:
        return
    assert all(isinstance(each, str | StepReference) for each in found)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("total", ("total",)),
        ("items.id", ("items", "id")),
        ("items[].id", ("items", "id")),
        ("items[*].tags", ("items", "tags")),
        ('a["x.y"]', ("a", "x.y")),
        ('["odd key"].z', ("odd key", "z")),
    ],
)
def test_a_field_path(text, path):
    assert parse_field_path(text) == path


@pytest.mark.parametrize("text", ["", ".", "a.", ".a", "a..b", "a[0]", "[]", "a b", "${a}", "a]"])
def test_what_is_no_field_path(text):
    with pytest.raises(InvalidPath):
        parse_field_path(text)


def spots(value, path=()):
    """Every path that leads somewhere in the value."""
    yield path, value
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield from spots(each, (*path, key))


def shut(value):
    """The value written as parameters that mean exactly it."""
    if isinstance(value, str):
        return escape_references(value)
    if isinstance(value, list):
        return [shut(each) for each in value]
    return {escape_references(key): shut(each) for key, each in value.items()} if isinstance(value, dict) else value


@given(values)
def test_escaped_parameters_come_out_as_they_were_meant(value):
    assert expand({"v": shut(value)}, {}) == {"v": value}
    assert list(find_references({"v": shut(value)})) == []


@given(values)
def test_a_string_that_is_one_reference_keeps_the_type(value):
    (found,) = expand({"v": "${a}"}, {"a": value}).values()
    assert found == value
    assert type(found) is type(value)


@given(values, st.data())
def test_every_path_of_a_value_can_be_named(value, data):
    path, meant = data.draw(st.sampled_from(list(spots(value))))
    assert expand({"v": "${" + format_path("a", path) + "}"}, {"a": value}) == {"v": meant}


@given(values, texts, texts)
def test_inside_a_text_the_value_becomes_text(value, before, after):
    before, after = before + "<", ">" + after
    shown = value if isinstance(value, str) else orjson.dumps(value).decode()
    found = expand({"v": escape_references(before) + "${a}" + escape_references(after)}, {"a": value})
    assert found == {"v": before + shown + after}


@given(values)
def test_what_a_value_holds_is_never_expanded_again(value):
    hostile = {"x": ["${b.secret}", "$${b}", value], "${b.secret}": "${"}
    found = expand({"whole": "${a}", "inside": "<${a.x[0]}>"}, {"a": hostile, "b": {"secret": "s"}})
    assert found == {"whole": hostile, "inside": "<${b.secret}>"}


def test_words_of_json_inside_a_text():
    found = expand({"v": "${a[0]} ${a[1]} ${a[2]} ${a[3]} ${a[4]}"}, {"a": [None, True, 1.5, {"k": ["日本"]}, "s"]})
    assert found == {"v": 'null true 1.5 {"k":["日本"]} s'}


def test_two_steps_never_share_an_object():
    value = {"list": [1]}
    expand({"v": "${a}"}, {"a": value})["v"]["list"].append(2)
    assert value == {"list": [1]}


@pytest.mark.parametrize(
    ("text", "at", "keys"),
    [
        ("${a.nowhere}", "a", ["items", "total"]),
        ("${a.items[0].name}", "a.items[0]", ["id"]),
        ("${a[0]}", "a", ["items", "total"]),
    ],
)
def test_a_missing_key_names_those_that_exist(text, at, keys):
    with pytest.raises(Invalid) as refused:
        expand({"deep": [{"v": f"see {text}"}]}, {"a": {"items": [{"id": 7}], "total": 1}})
    (problem,) = refused.value.details["errors"]
    assert (problem["reference"], problem["at"], problem["keys"]) == (text, at, keys)
    assert all(key in refused.value.message for key in keys)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("${a[3]}", "a list of 2, [0] to [1]"),
        ("${a.length}", "a list of 2"),
        ("${a[0].x}", 'only "one"'),
        ("${a[1][0]}", "a list of 0"),
    ],
)
def test_a_missing_place_says_what_is_there(text, words):
    with pytest.raises(Invalid, match="has no value") as refused:
        expand({"v": text}, {"a": ["one", []]})
    assert words in refused.value.message


def test_all_missing_paths_of_a_step_are_told_at_once():
    with pytest.raises(Invalid) as refused:
        expand({"x": "${a.x}", "y": ["${a.y} ${a.z}"]}, {"a": {}})
    assert [each["reference"] for each in refused.value.details["errors"]] == ["${a.x}", "${a.y}", "${a.z}"]


def test_long_key_lists_are_cut_and_counted():
    value = {f"key{number}" + "x" * 100: 0 for number in range(500)}
    with pytest.raises(Invalid) as refused:
        expand({"v": "${a.other}"}, {"a": value})
    (problem,) = refused.value.details["errors"]
    assert len(problem["keys"]) == 20
    assert problem["more_keys"] == 480
    assert len(refused.value.message) < 2500


def test_what_grows_too_large_or_too_deep_is_refused():
    assert len(expand({"v": ["${a}"] * 10}, {"a": "x" * 98}, most=1000)["v"]) == 10
    with pytest.raises(Invalid, match="larger than 1000 bytes"):
        expand({"v": ["${a}"] * 11}, {"a": "x" * 98}, most=1000)
    deep = json.loads("[" * 60 + "]" * 60)
    assert measure_depth(expand({"v": ["${a}"]}, {"a": deep})) == 62
    with pytest.raises(Invalid, match="deeper than 64"):
        expand({"v": [[["${a}", 0]]]}, {"a": [[deep]]})


def test_references_are_found_with_their_places():
    found = list(find_references({"q": "${a.x} and ${b}", "f": [{"odd key": "${c[0]}"}], "bad": "${", "${a}": 1}))
    assert [(place, each.id) for place, each in found if not isinstance(each, InvalidPath)] == [
        ("params.q", "a"),
        ("params.q", "b"),
        ('params.f[0]["odd key"]', "c"),
    ]
    assert {place for place, each in found if isinstance(each, InvalidPath)} == {"params.bad", "params"}


@given(values)
def test_depth_is_that_of_the_longest_path(value):
    nested = [len(path) + 1 for path, each in spots(value) if isinstance(each, dict | list)]
    assert measure_depth(value) == max(nested, default=0)


def test_the_references_of_a_batch_share_one_budget():
    budget, value = ExpansionBudget(100), {"a": "x" * 40}
    expand({"p": "${a}"}, value, budget=budget)
    expand({"p": "${a}"}, value, budget=budget)
    with pytest.raises(Invalid, match="references of this batch insert larger than") as refused:
        expand({"p": "${a}"}, value, budget=budget)
    assert refused.value.reason == "reference"


def test_a_value_that_is_too_large_is_encoded_once(monkeypatch):
    encoded: list[int] = []

    def dumps(value: object) -> bytes:
        encoded.append(1)
        return json.dumps(value).encode()

    monkeypatch.setattr("tokonoma.gateway.references.orjson.dumps", dumps)
    with pytest.raises(Invalid):
        expand({f"p{number}": "${a}" for number in range(50)}, {"a": "x" * 100}, most=50)
    assert len(encoded) == 1
