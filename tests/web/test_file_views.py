"""Strips of coverage, numbered blocks of Markdown, and differences, as the pages of files draw them."""

import re

import pytest

from tokonoma.server.web.pages.file_views import REASONS, build_strip, number_lines, take_page
from tokonoma.server.web.pages.markdown import render_markdown
from tokonoma.server.web.pages.pictures import draw_strip
from tokonoma.server.web.pages.vault.common import WholeText, compare_texts


def build(**ranges):
    names = ("read_ranges", "covered_ranges", "cited_unread_ranges", "never_seen_ranges")
    found = {name: [{"start_line": a, "end_line": b} for a, b in ranges.get(name, [])] for name in names}
    return build_strip("a.md", "/a", {**found, "total_lines": 10, "read_ratio": 0.599, "coverage_ratio": 0.2})


def test_a_strip_has_every_state_and_rounds_down():
    strip = build(
        read_ranges=[(1, 6)], covered_ranges=[(2, 3)], cited_unread_ranges=[(8, 8)], never_seen_ranges=[(7, 7)]
    )
    assert [strip.find_state(line) for line in range(1, 10)] == [
        "read", "cited", "cited", "read", "read", "read", "", "unread", "",
    ]  # fmt: skip
    assert (strip.read_percent, strip.unread) == (59, [(7, 7)])
    drawn = str(draw_strip(strip.parts, strip.total, 'a "label" <b>'))
    assert re.findall(r'class="(strip-(?!rest)\w+)" x="([\d.]+)"', drawn) == [
        ("strip-read", "0.0"),
        ("strip-cited", "100.0"),
        ("strip-unread", "700.0"),
    ]
    assert "<b>" not in drawn


def test_blocks_have_the_numbers_of_their_lines():
    html = str(render_markdown("# A\n\none\ntwo\n\n- b\n- c\n\n```\nx\n```\n", 10))
    assert re.findall(r'<(\w+) id="(L\d+)"', html) == [
        ("h3", "L10"), ("p", "L12"), ("ul", "L15"), ("li", "L16"), ("code", "L18"),
    ]  # fmt: skip
    assert "id=" not in str(render_markdown("# A\n\none\n"))


@pytest.mark.parametrize(("text", "lines"), [("a\nb\n", ["a", "b"]), ("a\r\nb", ["a", "b"]), ("a\x0bb", ["a\x0bb"])])
def test_lines_are_counted_as_the_tools_do(text, lines):
    assert [each.text for each in number_lines(text, 5, None)] == lines


def test_a_page_is_taken_from_pages_of_another_size():
    def ask(cursor: str | None = None):
        start = int(cursor or 0)
        return {"items": [*range(start, min(start + 3, 8))], "has_more": start + 3 < 8, "next_cursor": str(start + 3)}

    for start in range(9):
        assert take_page(ask, start, 4)[0] == [*range(start, min(start + 4, 8))]


def test_a_difference_says_what_every_line_is():
    assert compare_texts("a\nb\n", "a\nc\n") == [
        ("place", "@@ -1,3 +1,3 @@"), ("same", "a"), ("removed", "b"), ("added", "c"), ("same", ""),
    ]  # fmt: skip
    assert compare_texts("a", "a") == []
    assert compare_texts("\n" * 30_000, "a") is None


def test_a_text_that_is_not_what_is_stored_has_hidden_parts():
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert not WholeText("", empty, "", True).has_hidden_parts
    assert WholeText("[masked]", empty, "", True).has_hidden_parts


def test_every_reason_of_a_tool_has_words():
    from tokonoma.files.listing import REASONS as LEFT_OUT

    assert set(LEFT_OUT) <= set(REASONS)
