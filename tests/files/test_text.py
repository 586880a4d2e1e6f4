"""Sections as CommonMark sees them."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tokonoma.files.text import parse_markdown, section_text, single_section, slugify, split_lines, split_passages


def titles(text: str) -> list[tuple[int, str, int]]:
    return [(section.line, section.title, section.level) for section in parse_markdown(text, "file.md")]


def test_a_hash_inside_a_fence_is_no_heading():
    assert titles("# A\n```\n# no\n```\n~~~\n## no\n~~~\n    # no\n## B\n") == [(1, "A", 1), (9, "B", 2)]


def test_setext_headings_count():
    assert titles("Top\n===\ntext\n\nBelow\n---\nmore\n") == [(1, "Top", 1), (5, "Below", 2)]


def test_front_matter_names_the_first_section_and_belongs_to_it():
    text = '---\ntitle: "規約"\n# not a heading\n---\nはじめに\n# 本文\n'
    assert titles(text) == [(1, "規約", 0), (6, "本文", 1)]


def test_front_matter_alone_is_a_section_if_it_says_more_than_the_heading():
    assert titles("---\ntitle: x\n---\n\n# A\n") == [(1, "x", 0), (5, "A", 1)]
    assert titles("---\ntitle: a\n---\n\n# A\n") == [(5, "A", 1)]
    assert titles("---\ntitle: a\ntags: [b]\n---\n# A\n") == [(1, "a", 0), (5, "A", 1)]
    assert titles("---\nweight: 3\n---\n\n# A\n") == [(5, "A", 1)]
    assert titles("---\nweight: 3\n---\ntext\n# A\n") == [(4, "file.md", 0), (5, "A", 1)]


def test_passages_have_the_names_of_their_page():
    first, second = split_passages("---\ntitle: T\naliases: [one, two]\n---\ntext\n# A\nb\n", ("f.md",))
    assert (first.start, first.end, first.heading) == (1, 5, "T\none\ntwo")
    assert (second.start, second.heading) == (6, "A")


def test_an_html_comment_hides_its_heading():
    assert titles("# A\n<!--\n# hidden\n-->\n# B\n") == [(1, "A", 1), (5, "B", 1)]


def test_headings_in_quotations_and_lists_open_no_section():
    assert titles("# A\n> # quoted\n\n- # listed\n") == [(1, "A", 1)]


def test_duplicate_headings_are_two_sections():
    assert titles("# A\n## Same\nx\n## Same\ny\n") == [(1, "A", 1), (2, "Same", 2), (4, "Same", 2)]


def test_a_section_knows_its_parent_its_own_lines_and_its_whole():
    text = "# A\na\n## B\nb\n### C\nc\n## D\nd\n# E\n"
    sections = {section.title: section for section in parse_markdown(text, "f")}
    assert sections["B"].parent == 1
    assert sections["C"].parent == 3
    assert sections["D"].parent == 1
    assert sections["E"].parent is None
    lines = split_lines(text)
    assert section_text(lines, sections["B"]) == "## B\nb\n"
    assert section_text(lines, sections["B"], whole=True) == "## B\nb\n### C\nc\n"
    assert section_text(lines, sections["A"], whole=True) == text.partition("# E")[0]


def test_a_title_is_plain_and_its_anchor_kept():
    (section,) = parse_markdown("# *Using* `kubectl` [here](x.md) {#using}\n", "f")
    assert (section.title, section.anchor) == ("Using kubectl here", "using")


def test_an_empty_file_is_one_empty_section():
    assert titles("") == [(1, "file.md", 0)]


def test_json_is_one_piece():
    (section,) = single_section('{\n"a": 1\n}', "x.json")
    assert (section.line, section.end, section.level) == (1, 3, 0)


def test_a_slug_is_what_renderers_make():
    assert slugify("Hello, World!") == "hello-world"
    assert slugify("解約 の手続き") == "解約-の手続き"


@given(st.lists(st.sampled_from(["# a", "## b", "### c", "text", "", "```", "---", "===", "> # q", "<!--", "-->"])))
def test_own_lines_cover_the_text_once_after_the_front_matter(parts: list[str]):
    text = "\n".join(parts)
    sections = parse_markdown(text, "f")
    for before, after in pairwise(sections):
        assert before.own_end == after.line - 1
    assert sections[-1].own_end == max(1, len(split_lines(text)))
    assert "".join(split_lines(text)) == text
