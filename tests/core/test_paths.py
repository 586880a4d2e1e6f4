"""What a path may look like, before any of it touches a disk."""

import unicodedata

import pytest
from files.hostile import RESERVED, WRONG, twins
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.core.errors import Invalid
from tokonoma.core.paths import DEEPEST, file_parts, joined, parted, ruled, same


def test_there_are_at_least_two_hundred_hostile_paths():
    assert len(set(WRONG + RESERVED)) >= 200


@pytest.mark.parametrize("path", WRONG, ids=ascii)
def test_a_hostile_path_is_refused_and_says_why(path):
    with pytest.raises(Invalid) as refused:
        file_parts(path)
    assert refused.value.reason == "path"
    assert refused.value.details["field"] == "path"


@pytest.mark.parametrize("path", RESERVED, ids=ascii)
def test_rules_see_through_case_width_and_separators(path):
    assert {".system", ".git"} & set(ruled(file_parts(path)))


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
    assert file_parts(path) == parts


def test_the_root_is_a_folder_but_no_file():
    assert parted("") == parted(".") == parted("./") == ()
    with pytest.raises(Invalid):
        file_parts("")


@pytest.mark.parametrize(("composed", "apart"), twins())
def test_two_spellings_of_a_name_are_one(composed, apart):
    assert file_parts(apart) == (composed,)
    assert same(apart.upper()) == same(composed)


@given(st.text(max_size=80))
def test_whatever_is_accepted_goes_down_only_and_comes_back_the_same(path):
    try:
        parts = parted(path)
    except Invalid:
        return
    assert len(parts) <= DEEPEST
    for part in parts:
        assert part not in ("", ".", "..")
        assert "/" not in part
        assert "\0" not in part
        assert part == unicodedata.normalize("NFC", part)
    assert parted(joined(parts)) == parts
