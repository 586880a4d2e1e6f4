"""How two edits of a record become one, and what becomes of those that do not go together."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tokonoma.transfer.sync.base import find_base
from tokonoma.transfer.sync.merge import DELETED, Edition, FieldRules, digest_body, merge_editions
from tokonoma.transfer.sync.text_merge import merge_texts
from tokonoma.transfer.sync.versions import includes, join_versions, meet_versions

RULES = FieldRules(plain=("title",), texts=("content",), maps=("metadata",), lists={"tags": ()})
LINES = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=6).map("\n".join)
BODIES = st.fixed_dictionaries(
    {
        "title": st.sampled_from(["x", "y", "z"]),
        "content": LINES,
        "metadata": st.dictionaries(st.sampled_from("kl"), st.integers(0, 2)),
        "tags": st.lists(st.sampled_from("pqr"), unique=True),
        "deleted_at": st.sampled_from([None, None, None, 5]),
    }
)


def body(**fields: Any) -> dict[str, Any]:
    return {"title": "T", "content": "one\ntwo\nthree", "metadata": {}, "tags": [], "deleted_at": None, **fields}


def merge(base: dict[str, Any] | None, one: dict[str, Any] | None, other: dict[str, Any] | None):
    return merge_editions(RULES, None if base is None else Edition(base, 1), Edition(one, 2), Edition(other, 3))


def test_edits_of_different_fields_and_lines_are_joined() -> None:
    old = body(metadata={"a": 1, "b": 1}, tags=["p"])
    one = body(content="ONE\ntwo\nthree", metadata={"a": 2, "b": 1}, tags=["p", "q"], title="U")
    other = body(content="one\ntwo\nTHREE", metadata={"a": 1, "c": 1}, tags=["r"])
    merged = merge(old, one, other)
    assert merged.clashes == ()
    assert merged.body is not None
    assert merged.body["content"] == "ONE\ntwo\nTHREE"
    assert (merged.body["title"], merged.body["metadata"]) == ("U", {"a": 2, "c": 1})
    assert sorted(merged.body["tags"]) == ["q", "r"]


def test_where_both_have_changed_the_same_line_the_later_one_is_preferred_and_the_other_is_told() -> None:
    merged = merge(body(), body(content="A\ntwo\nthree", title="U"), body(content="B\ntwo\nTHREE"))
    assert merged.body is not None
    assert (merged.body["content"], merged.body["title"]) == ("B\ntwo\nTHREE", "U")
    assert merged.clashes == ("content",)
    assert merged.lost == body(content="A\ntwo\nthree", title="U")


def test_a_value_that_one_side_takes_back_stays_taken_back() -> None:
    """The base is what both had, not an older text: else an edit that was taken back would come again."""
    states = [({"A": 1}, Edition(body(title="old"), 1)), ({"A": 2}, Edition(body(title="new"), 2))]
    base = find_base(RULES, states, {"A": 2, "B": 1}, {"A": 3})
    assert base is not None
    merged = merge_editions(RULES, base, Edition(body(title="old"), 3), Edition(body(content="x"), 4))
    assert base.body == body(title="new")
    assert merged.body is not None


def test_a_base_that_no_home_had_is_merged_from_those_that_are_known() -> None:
    root, left, right = body(), body(content="ONE\ntwo\nthree"), body(content="one\ntwo\nTHREE")
    states = [({"R": 1}, Edition(root, 1)), ({"R": 1, "A": 1}, Edition(left, 2)), ({"R": 1, "B": 1}, Edition(right, 3))]
    base = find_base(RULES, states, {"R": 1, "A": 1, "B": 1, "C": 1}, {"R": 1, "A": 1, "B": 1, "D": 1})
    assert base is not None
    assert base.body == body(content="ONE\ntwo\nTHREE")
    assert find_base(RULES, states[1:2], {"R": 1, "A": 1, "B": 1}, {"R": 1, "A": 1, "B": 2}) is None


@pytest.mark.parametrize("gone", [None, body(deleted_at=9)])
def test_a_deletion_counts_only_if_the_other_side_has_changed_nothing(gone: dict[str, Any] | None) -> None:
    unchanged, edited = merge(body(), gone, body()), merge(body(), gone, body(title="U"))
    assert unchanged.body == gone
    assert unchanged.clashes == ()
    assert edited.body == body(title="U")
    assert edited.clashes == (DELETED,)
    unknown = merge(None, gone, body())
    assert unknown.body == body()
    assert unknown.clashes == (DELETED,)


def test_without_a_base_every_difference_is_a_conflict() -> None:
    merged = merge(None, body(title="U", metadata={"a": 1, "b": 1}), body(metadata={"a": 2, "c": 1}))
    assert merged.body is not None
    assert merged.body["metadata"] == {"a": 2, "b": 1, "c": 1}
    assert merged.clashes == ("title", "metadata.a")


def test_numbers_and_truth_values_are_not_the_same() -> None:
    assert digest_body(RULES, body(metadata={"a": 1})) != digest_body(RULES, body(metadata={"a": True}))
    assert digest_body(RULES, body(tags=["p", "q"])) == digest_body(RULES, body(tags=["q", "p"]))


@given(BODIES, BODIES, BODIES)
@example(body(tags=[]), body(tags=["p", "q"]), body(tags=["q", "p"]))
def test_both_homes_get_the_same(base: dict[str, Any], one: dict[str, Any], other: dict[str, Any]) -> None:
    old, left, right = Edition(base, 1), Edition(one, 2), Edition(other, 2)
    for common in (old, None):
        assert merge_editions(RULES, common, left, right) == merge_editions(RULES, common, right, left)


@given(BODIES, BODIES)
def test_an_edit_of_one_side_alone_is_the_result(base: dict[str, Any], one: dict[str, Any]) -> None:
    merged = merge_editions(RULES, Edition(base, 1), Edition(one, 2), Edition(base, 1))
    assert digest_body(RULES, merged.body) == digest_body(RULES, one)
    assert merged.clashes == ()


@given(LINES, LINES, LINES)
def test_texts_that_merge_without_conflict_hold_the_new_lines_of_both(base: str, one: str, other: str) -> None:
    merged, clash = merge_texts(base, one, other)
    if not clash:
        new = (set(one.split("\n")) | set(other.split("\n"))) - set(base.split("\n"))
        assert new <= set(merged.split("\n"))
    assert merge_texts(base, one, base) == (one, False)
    assert merge_texts(base, base, other) == (other, False)


VERSIONS = st.dictionaries(st.sampled_from("ABC"), st.integers(1, 3))


@given(VERSIONS, VERSIONS)
def test_versions(one: dict[str, int], other: dict[str, int]) -> None:
    joined, common = join_versions(one, other), meet_versions(one, other)
    assert includes(joined, one)
    assert includes(joined, other)
    assert includes(one, common)
    assert includes(other, common)
    assert includes(one, other) == (joined == one)
