"""`fields`: the parts that were asked for, in the shape that they have."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.gateway.results import project

VALUE = {
    "items": [{"id": 1, "text": "a", "by": {"name": "n", "mail": "m"}}, {"id": 2, "by": None}],
    "total": 2,
    "none": [],
    "odd.key": {"x": 1},
}


@pytest.mark.parametrize(
    ("fields", "kept", "missing"),
    [
        (["total"], {"total": 2}, []),
        (["items.id", "total"], {"items": [{"id": 1}, {"id": 2}], "total": 2}, []),
        (["total", "items[].id"], {"items": [{"id": 1}, {"id": 2}], "total": 2}, []),
        (["items.text"], {"items": [{"text": "a"}, {}]}, []),
        (["items.by.name"], {"items": [{"by": {"name": "n"}}, {"by": None}]}, []),
        (["items.id", "items"], {"items": VALUE["items"]}, []),
        (['["odd.key"].x'], {"odd.key": {"x": 1}}, []),
        (["none.id"], {"none": []}, []),
        (["itms.id", "total"], {"total": 2}, ["itms.id"]),
        (["items.name"], {"items": [{}, {}]}, ["items.name"]),
        (["total.x"], {}, ["total.x"]),
        (["items.by.x"], {"items": [{"by": {}}, {"by": None}]}, ["items.by.x"]),
    ],
)
def test_what_is_kept_and_what_is_missing(fields, kept, missing):
    found, lacking = project(VALUE, fields)
    assert found == kept
    assert list(found) == [key for key in VALUE if key in kept]
    assert lacking == missing


def test_lists_keep_their_length_and_lists_of_lists_are_walked_through():
    assert project({"a": [[{"b": 1, "c": 2}], "text", [None]]}, ["a.b"]) == ({"a": [[{"b": 1}], None, [None]]}, [])


@given(st.recursive(st.integers(), lambda each: st.dictionaries(st.sampled_from("abc"), each) | st.lists(each)))
def test_asking_for_every_key_changes_nothing(value):
    assert project({"a": value}, list("abc"))[0] == {"a": value}
