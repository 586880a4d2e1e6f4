"""The query language of items: what it parses to, and errors that point at the place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.core.errors import Invalid
from tokonoma.modules.items.language import QueryField, QueryGroup, QueryWord, parse_query
from tokonoma.modules.items.model import format_short_address, parse_target


def words(node) -> list[str]:
    if isinstance(node, QueryGroup):
        return [word for each in node.parts for word in words(each)]
    return [node.text] if isinstance(node, QueryWord) else [f"{node.name}:{node.value}"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("tea", ["tea"]),
        ("tea ceremony", ["tea", "ceremony"]),
        ('"tea ceremony"', ["tea ceremony"]),
        ("tea type:issue", ["tea", "type:issue"]),
        ("(tag:a OR tag:b) 軸", ["tag:a", "tag:b", "軸"]),
    ],
)
def test_words_fields_and_groups(query, found):
    assert words(parse_query(query)) == found


@pytest.mark.parametrize(("query", "place"), [("(a", 1), ("a)", 2), ('"a', 1), ("OR", 1), ("a OR", 5)])
def test_a_mistake_is_named_with_its_place(query, place):
    with pytest.raises(Invalid, match=f"at character {place}:"):
        parse_query(query)


@given(st.text(max_size=60))
def test_any_text_is_parsed_or_refused_in_words(query):
    try:
        node = parse_query(query)
    except Invalid as error:
        assert error.message
    else:
        assert isinstance(node, QueryGroup | QueryWord | QueryField)


@given(st.sampled_from(["issue", "docs", "session_log"]), st.integers(1, 10**9))
def test_addresses_lead_back_to_the_item(kind, number):
    target = parse_target(format_short_address(kind, number))
    assert target is not None
    assert (target.type, target.item) == (kind, number)
