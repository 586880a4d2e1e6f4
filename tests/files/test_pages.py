"""Where links lead."""

import unicodedata

import pytest

from tokonoma.files.pages import PageIndex, match_anchor, resolve_link
from tokonoma.files.text import parse_markdown

PATHS = [
    "index.md", "a.md", "notes/a.md", "notes/deep/b.md", "other/b.md", "docs/_index.md", "Cafe\u0301/Menü.md",
    "data.json",
]  # fmt: skip
PAGES = PageIndex(PATHS)


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("notes/a", "notes/a.md"),
        ("NOTES/A.md", "notes/a.md"),
        ("docs", "docs/_index.md"),
        ("", "index.md"),
        ("data.json", "data.json"),
        (unicodedata.normalize("NFC", "Cafe\u0301/menü"), "Cafe\u0301/Menü.md"),
        ("nothing", None),
    ],
)
def test_a_path(written, found):
    assert PAGES.find_file(written, PATHS) == found
    assert PAGES.find_file(written, []) is None


@pytest.mark.parametrize(
    ("name", "origin", "found"),
    [
        ("a", "x.md", "a.md"),
        ("a", "notes/x.md", "a.md"),  # at that very path
        ("notes/a", "x.md", "notes/a.md"),
        ("b", "x.md", "other/b.md"),  # the shortest
        ("B", "notes/deep/x.md", "notes/deep/b.md"),  # beside the file
        ("deep/b", "x.md", "notes/deep/b.md"),
        ("../a", "notes/deep/x.md", "notes/a.md"),
        ("eep/b", "x.md", None),
        ("data.json", "x.md", "data.json"),
        ("data", "x.md", None),
    ],
)
def test_a_name(name, origin, found):
    assert PAGES.find_page(name, origin, PATHS) == found


def test_a_name_means_only_what_the_caller_may_see():
    assert PAGES.find_page("b", "x.md", [each for each in PATHS if each != "other/b.md"]) == "notes/deep/b.md"


def test_the_shortest_name():
    for path in PATHS:
        for origin in ("x.md", "notes/deep/x.md"):
            assert PAGES.find_page(PAGES.shorten(path, origin, PATHS), origin, PATHS) == path
    assert PAGES.shorten("other/b.md", "x.md", PATHS) == "b"
    assert PAGES.shorten("notes/deep/b.md", "x.md", PATHS) == "deep/b"


@pytest.mark.parametrize(
    ("target", "path"),
    [("b.md", "n/b.md"), ("../b.md", "b.md"), ("../../b.md", ".."), ("./x/../b", "n/b"), ("/b/", "b"), ("", "n/a.md")],
)
def test_a_link(target, path):
    assert resolve_link("n/a.md", target) == path


def test_an_anchor():
    sections = parse_markdown("# One {#first}\n## Same_name\n## `Same_name`\n# Über uns\n", "f")
    assert match_anchor(sections, "first") == [0]
    assert match_anchor(sections, "One") == [0]
    assert match_anchor(sections, "same_name") == [1, 2]
    assert match_anchor(sections, "same_name-1") == [2]
    assert match_anchor(sections, "Über uns") == match_anchor(sections, "über-uns") == [3]
    assert match_anchor(sections, "same_name-7") == match_anchor(sections, "no") == []
