"""Metadata of memos: merging, facts for filters, limits."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.core.errors import Invalid
from tokonoma.modules.memory.filters import build_conditions
from tokonoma.modules.memory.model import (
    MAX_METADATA_BYTES,
    build_facts,
    encode_metadata,
    merge_metadata,
)

VALUES = st.recursive(st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5), st.lists, max_leaves=5)
METADATA = st.dictionaries(st.text("abc", min_size=1, max_size=2), VALUES, max_size=4)


@given(METADATA)
def test_encoding_keeps_every_value(metadata):
    assert json.loads(encode_metadata(metadata)) == metadata


@given(METADATA, METADATA)
def test_replacing_forgets_the_old_and_merging_keeps_what_is_not_named(old, new):
    assert merge_metadata(old, new, "replace").keys() <= new.keys()
    merged = merge_metadata(old, new, "merge")
    assert all(merged[key] == value for key, value in old.items() if key not in new)


def test_nested_keys_become_facts_that_conditions_name():
    assert set(build_facts({"a": {"b": 1, "c": ["x", "y"]}, "d": True})) == {
        ("a.b", 1), ("a.c", "x"), ("a.c", "y"), ("d", True)
    }  # fmt: skip
    assert [condition.key for condition in build_conditions({"a": {"b": 1}})] == ["a.b"]


def test_metadata_that_is_too_large_or_too_deep_is_refused():
    with pytest.raises(Invalid):
        encode_metadata({"a": "x" * (MAX_METADATA_BYTES + 1)})
    deep: object = 1
    for _ in range(100):
        deep = {"a": deep}
    with pytest.raises(Invalid):
        encode_metadata({"a": deep})
