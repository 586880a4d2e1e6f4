"""Keys that occur twice in one JSON object, at any level and however they are written."""

import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.core.json_keys import find_duplicate_keys, has_duplicate_keys

DOUBLED = [
    '{"a":1,"a":1}',
    '{"a":1,"a":2}',
    '{"a" :1 , "a"\n:\t2}',
    '{"a":1,"\\u0061":2}',
    '{":":1,":":2}',
    '{"a:b":":", "a:b":"::"}',
    '{"x":[[{"y":{"a":1,"b":2,"a":3}}]]}',
    '{"a":{"b":":"},"a":2}',
    '{"a":{"a":1},"a":{"a":1}}',
    # An escaped colon is a colon of the value and none of the text: it must not hide a doubled key.
    '{"a":1,"a":"\\u003a"}',
    '{"a":1,"a":2,"b":"\\u003A"}',
    '{"a":"\\u003a","a":"\\u003A"}',
    '{"\\u003a":1,":":2}',
    '{"":0,"":1}',
]
SINGLE = [
    "{}",
    '{"a":1}',
    '{"a":{"a":{"a":1}}}',
    '[{"a":1},{"a":1}]',
    '{"a":"\\"a\\":1,\\"a\\":2"}',
    '{"a":"\\u003a\\u003A\\\\u003a\\\\\\u003a"}',
    '{"\\u003a":1,"\\\\u003a":2}',
    '{"a":"http://x:1/{\\"b\\":2}"}',
    '{"a":1e5,"b":[1,2.5,null,true,":"]}',
    '"a:b"',
]


@pytest.mark.parametrize("text", DOUBLED)
def test_a_doubled_key_is_noticed(text):
    assert has_duplicate_keys(text.encode(), orjson.loads(text))
    assert find_duplicate_keys(text)


@pytest.mark.parametrize("text", SINGLE)
def test_what_only_looks_doubled_is_not(text):
    assert not has_duplicate_keys(text.encode(), orjson.loads(text))
    assert not find_duplicate_keys(text)


class Pairs(list[Any]):
    """An object as its members were written, doubled or not."""


KEYS = st.text(st.sampled_from('a:"\\u{003A}'), max_size=3)
VALUES = st.recursive(
    st.one_of(st.none(), st.integers(0, 9), st.text(st.sampled_from('a:"\\u003A{} '), max_size=8)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.lists(st.tuples(KEYS, inner), max_size=4).map(Pairs)),
    max_leaves=12,
)


def write(value, escape):
    if isinstance(value, Pairs):
        return "{" + ", ".join(f"{write(key, escape)} : {write(each, escape)}" for key, each in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(write(each, escape) for each in value) + "]"
    text = json.dumps(value)
    return text.replace(":", "\\u003a" if escape else ":") if isinstance(value, str) else text


@given(VALUES, st.booleans())
def test_counting_finds_what_a_parser_finds(value, escape):
    text = write(value, escape)
    assert has_duplicate_keys(text.encode(), orjson.loads(text)) == bool(find_duplicate_keys(text))
