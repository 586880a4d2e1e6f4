"""What a path may look like, before any of it touches a disk."""

import unicodedata

import pytest
from files.hostile import RESERVED, WRONG, twins
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.core.errors import Invalid
from tokonoma.core.paths import MAX_PATH_DEPTH, join_path, name_key, rule_keys, split_file_path, split_path


def test_there_are_at_least_two_hundred_hostile_paths():
    assert len(set(WRONG + RESERVED)) >= 200


@pytest.mark.parametrize("path", WRONG, ids=ascii)
def test_a_hostile_path_is_refused_and_says_why(path):
    with pytest.raises(Invalid) as refused:
        split_file_path(path)
    assert refused.value.reason == "path"
    assert refused.value.details["field"] == "path"


@pytest.mark.parametrize("path", RESERVED, ids=ascii)
def test_rules_see_through_case_width_and_separators(path):
    assert {".system", ".git"} & set(rule_keys(split_file_path(path)))


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("a.md", ("a.md",)),
        ("./a//b/./c.md", ("a", "b", "c.md")),
        ("a\\b.md", ("a", "b.md")),
        ("議事録／2026　春.md", ("議事録／2026　春.md",)),
        ("10:30 の会議.md", ("10:30 の会議.md",)),
        ("..a/b..md", ("..a", "b..md")),
        (".hidden/x", (".hidden", "x")),
        ("a/~/b", ("a", "~", "b")),
        ("%2e%2e/x.md", ("%2e%2e", "x.md")),
        ("console.md", ("console.md",)),
    ],
)
def test_an_honest_path_is_taken_apart(path, parts):
    assert split_file_path(path) == parts


def test_the_root_is_a_folder_but_no_file():
    assert split_path("") == split_path(".") == split_path("./") == ()
    with pytest.raises(Invalid):
        split_file_path("")


@pytest.mark.parametrize(("composed", "apart"), twins())
def test_two_spellings_of_a_name_are_one(composed, apart):
    assert split_file_path(apart) == (composed,)
    assert name_key(apart.upper()) == name_key(composed)


@given(st.text(max_size=80))
def test_whatever_is_accepted_goes_down_only_and_comes_back_the_same(path):
    try:
        parts = split_path(path)
    except Invalid:
        return
    assert len(parts) <= MAX_PATH_DEPTH
    for part in parts:
        assert part not in ("", ".", "..")
        assert "/" not in part
        assert "\0" not in part
        assert part == unicodedata.normalize("NFC", part)
    assert split_path(join_path(parts)) == parts
