"""Another program's memo within the limits of ours."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.modules.memory.model import encode_metadata
from tokonoma.transfer.fit import fit_memo, fit_relation, split_text
from tokonoma.transfer.model import (
    ImportSource,
    MemoRecord,
    RelationRecord,
    Remark,
)
from tokonoma.transfer.notes import find_common_namespace

ID = "5b3f9d5a-1111-5222-8333-444455550000"


def fit(content="x", **fields):
    told = list(fit_memo(MemoRecord(ID, "/", content, **fields)))
    return [each for each in told if isinstance(each, MemoRecord)], [each for each in told if isinstance(each, Remark)]


def test_a_memo_that_fits_is_left_alone():
    memo = MemoRecord(ID, "/", "x", "t", {"a": [1, {"b": None}]}, "thread", 1, 2)
    assert list(fit_memo(memo)) == [MemoRecord(ID, "/", "x", "t", {"a": [1, {}]}, "thread", 1, 2)]


def test_a_long_text_is_cut_into_memos_of_one_thread():
    text = "\n\n".join(f"段落 {number} " + "あ" * 1000 for number in range(900))
    memos, remarks = fit(content=text, title="long")
    assert len(memos) == 3
    assert "".join(memo.content for memo in memos) == text
    assert all(len(memo.content.encode()) <= 1024 * 1024 for memo in memos)
    assert {memo.thread for memo in memos} == {f"imported {ID}"}
    assert [memo.metadata for memo in memos] == [{"part": number, "parts": 3} for number in (1, 2, 3)]
    assert (
        [memo.memo_id for memo in memos] == [ID, f"{ID[:-1]}1", f"{ID[:-1]}2"] == sorted(memo.memo_id for memo in memos)
    )
    assert ["3 memos" in each.why and not each.lost for each in remarks] == [True]


@given(st.text(st.characters(exclude_categories=["Cs", "Zs", "Cc"]), min_size=1), st.integers(4, 40))
def test_pieces_put_together_are_the_text(text, most):
    found = split_text(text, most)
    assert "".join(found) == text
    assert all(len(piece.encode()) <= most for piece in found)


def test_texts_that_are_too_long_are_cut_and_said():
    (memo,), remarks = fit(title="t" * 600, thread="x" * 300)
    assert (len(memo.title), len(memo.thread)) == (500, 200)
    assert len(remarks) == 2
    assert not any(each.lost for each in remarks)


def test_no_text_is_the_title():
    assert fit(content=" \n", title="Stub")[0][0].content == "Stub"


def test_nul_is_taken_out_everywhere():
    (memo,), _ = fit(content="a\0b", title="\0t", metadata={"k\0": ["\0v", {"\0": "\0"}]})
    assert "\0" not in json.dumps([memo.content, memo.title, memo.metadata])
    assert "\\u0000" not in json.dumps([memo.content, memo.title, memo.metadata])


def test_deep_metadata_becomes_text_and_large_is_left_out():
    deep = {"a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": {"i": 1}}}}}}}}}
    (memo,), remarks = fit(metadata={"deep": deep, "large": "x" * 70_000, "small": 1, "none": None})
    encode_metadata(dict(memo.metadata))
    assert "large" not in memo.metadata
    assert memo.metadata["small"] == 1
    assert memo.metadata["deep"]["a"]["b"]["c"]["d"]["e"]["f"] == {"g": '{"h": {"i": 1}}'}
    assert ["metadata.large" in each.why for each in remarks] == [True]


@pytest.mark.parametrize("at", [-1, 10**15])
def test_times_out_of_reach_are_left_out_and_said(at):
    (memo,), remarks = fit(created_at=at, updated_at=5)
    assert (memo.created_at, memo.updated_at) == (None, 5)
    assert len(remarks) == 1


def test_a_namespace_too_long_is_skipped():
    (told,) = fit_memo(MemoRecord(ID, "/" + "x" * 500, "x"))
    assert isinstance(told, Remark)
    assert told.lost


@pytest.mark.parametrize(
    ("tag", "reason", "told"),
    [
        ("a\n b", "why", ("a b", "why")),
        ("x" * 70, "why", ("x" * 64, "x" * 70 + ": why")),
        ("x" * 70, "", ("x" * 64, "x" * 70)),
    ],
)
def test_a_tag_too_long_stands_in_the_reason(tag, reason, told):
    *_, relation = fit_relation(RelationRecord("/", "a", "b", tag, reason=reason))
    assert isinstance(relation, RelationRecord)
    assert (relation.tag, relation.reason) == told


def test_a_relation_without_a_tag_is_skipped():
    assert [type(each) for each in fit_relation(RelationRecord("/", "a", "b", " "))] == [Remark]


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [("/", "/a", "/"), ("/a/b", "/a/c", "/a"), ("/a/b", "/a/b", "/a/b"), ("/ab", "/a", "/"), ("/a", "/a/b", "/a")],
)
def test_what_holds_both(one, other, both):
    assert find_common_namespace(one, other) == both


def test_ids_depend_on_every_part_of_where_it_came_from(tmp_path):
    ids = {
        ImportSource(tmp_path, kind, space, name).make_memo_id(original)
        for kind in ("obsidian", "mem0")
        for space in ("/", "/x")
        for name in ("", "y")
        for original in ("a", "b")
    }
    assert len(ids) == 16
