"""`${id.path}` and paths of `fields`: what is read, what is literal, what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.gateway.reference import (
    InvalidPath,
    StepReference,
    escape_references,
    format_path,
    parse_field_path,
    split_references,
)

keys = st.text(st.characters(codec="utf-8"), max_size=12)
ids = st.from_regex(r"[\w-]{1,20}", fullmatch=True)


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
