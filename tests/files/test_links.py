"""Links, comments and marks: the same as the expressions that they replace, which were not linear."""

import random
import re
import time
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tokonoma.files.front_matter import find_front_matter_end
from tokonoma.files.links import find_anchor_links, find_html_anchors, find_links, remove_comments, strip_marks
from tokonoma.files.text import parse_location, parse_markdown

ANCHOR_LINK = re.compile(r"\[[^\]]*\]\(#([^)\s]+)\)")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
HEADING_ANCHOR = re.compile(r"[ \t]*\{#([^\s}]+)[^}]*\}[ \t]*$")
FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(?:.*\r?\n)*?---[ \t]*(?:\r?\n|\Z)")
LOCATION = re.compile(r"(.+?)(?:#L([1-9]\d{0,8})(?:-L([1-9]\d{0,8}))?)?", re.DOTALL)
PIECES = [
    "[",
    "]",
    "](",
    "(",
    ")",
    "a",
    "b",
    " ",
    "\n",
    "<",
    ">",
    "!",
    "#",
    "*",
    "_",
    "<!--",
    "-->",
    "-",
    "](#",
    "{#",
    "}",
]


def write(chance: random.Random, pieces: list[str]) -> str:
    return "".join(chance.choices(pieces, k=chance.randint(1, 12)))


def test_anchors_and_comments():
    chance = random.Random(5)
    for _ in range(30_000):
        text = write(chance, PIECES)
        assert list(find_anchor_links(text)) == ANCHOR_LINK.findall(text), text
        assert remove_comments(text) == COMMENT.sub("", text), text


def read_inline(text: str) -> list[Token]:
    return MarkdownIt("commonmark", {"html": False}).disable(["entity", "autolink"]).parseInline(text)[0].children or []


def read_text(tokens: list[Token]) -> str:
    return "".join(read_text(each.children) if each.children else each.content for each in tokens)


def test_titles_are_those_of_commonmark():
    chance = random.Random(9)
    for _ in range(6_000):
        text = write(chance, ["a", "b", " ", "*", "**", "_", "__", "`", "``", ".", "\\", "あ", "[a](b)", "![a](b)"])
        if not re.search(r"__[ab]+__|__[ab]+(_[ab]+)+__", text):  # the name __ab__ stays, and is bold there
            text = text.strip()
            assert "".join(strip_marks(text).split()) == "".join(read_text(read_inline(text)).split()), text


def test_links_are_those_of_commonmark():
    chance = random.Random(10)
    for _ in range(30_000):
        text = write(chance, ["[", "]", "](", "(", ")", "a", "b", " ", "!", "<", ">", "\\", "[a](b)", "![a](<b"])
        if "[[" in text or "\\ " in text:
            continue
        tokens = [each for token in read_inline(text.strip()) for each in (token, *(token.children or ()))]
        wanted = [unquote(str(each.attrs.get("href", each.attrs.get("src")))) for each in tokens if each.attrs]
        found = [each.target.strip() for each in find_links(text.strip()) if each.target.strip()]
        assert sorted(found) == sorted(filter(None, wanted)), text


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("`kubectl_run` and __init__ or max_chars", "kubectl_run and __init__ or max_chars"),
        ("_word_ and *word* and __two words__", "word and word and two words"),
        ("`__main__` **bold**_x_", "__main__ boldx"),
        (r"max\_chars and 2 \* 3", "max_chars and 2 * 3"),
        ("[`a_b`](x_y_z.md) and [[page_one#part|its_alias]]", "a_b and its_alias"),
        ('<a id="x_y"></a>Title', "Title"),
        ("snake_case_name", "snake_case_name"),
    ],
)
def test_a_title_keeps_names(heading, title):
    assert [section.title for section in parse_markdown(f"## {heading}\n", "f")] == [title]


def test_links_by_path_and_by_name_and_nothing_in_code():
    text = """See [a](b%20c.md#d "t"), ![p](q.png), [[Page#Above#Part\\|alias]], ![[shown]], [[#here]] and [x].

`[no](code.md)` ``[[no]]`` \\[no](escaped.md) <!-- [no](comment.md) --> [web](https://example.com/x.md)

```md
[no](fence.md) [[no]]
```

    [no](indented.md)

- item

      [no](deep.md)

[x]: <ref er.md>
[^1]: no.md
"""
    found = [(each.kind, text[each.start : each.end], each.target, each.anchor) for each in find_links(text)]
    assert found == [
        ("link", "b%20c.md", "b c.md", "d"),
        ("picture", "q.png", "q.png", ""),
        ("wiki", "Page", "Page", "Part"),
        ("wiki", "shown", "shown", ""),
        ("wiki", "", "", "here"),
        ("link", "ref er.md", "ref er.md", ""),
    ]


def test_anchors_in_html():
    assert find_html_anchors('<a id="one"></a> <A name=two> `<a id="no">`') == ["one", "two"]


def test_the_front_matter():
    chance = random.Random(6)
    for _ in range(6_000):
        text = write(chance, ["---", "--- ", "\n", "\r\n", "a", "\t", "-", "\r", "+"])
        found = FRONT_MATTER.match(text)
        assert find_front_matter_end(text) == (found.end() if found else 0), text


def test_locations():
    chance = random.Random(7)
    for _ in range(6_000):
        text = write(chance, ["#L", "1", "a", "-L", "0", "#"])
        found = LOCATION.fullmatch(text)
        start = int(found[2]) if found[2] else None
        assert parse_location(text) == (found[1], start, int(found[3]) if found[3] else start), text


def test_the_anchor_of_a_heading():
    chance = random.Random(8)
    for _ in range(5000):
        written = " ".join(write(chance, ["{#", "}", "a", " ", "{", "#b"]).split())
        found = HEADING_ANCHOR.search(written)
        (section,) = parse_markdown(f"# x {written}\n", "f")[:1]
        if found:
            assert section.anchor == found[1], written


@pytest.mark.parametrize(
    "unit",
    [
        "[a](",
        "![a](",
        "[a](#",
        "<!--",
        "{#",
        "{#a ",
        "](",
        "[",
        "*",
        "[a]( ",
        "[[a",
        "[[",
        "![",
        "`a``",
        "a_",
        "*a _",
        "<a id=",
        "\\",
        "__a",
        "[a](b",
    ],
)
def test_a_long_heading_takes_time_in_proportion(unit):
    before = time.thread_time()
    text = unit * (500_000 // len(unit))
    parse_markdown(f"# {text}\n", "f")
    list(find_links(text))
    find_html_anchors(text)
    list(find_anchor_links(text))
    assert time.thread_time() - before < 2  # not in proportion, it would be minutes


def test_the_two_texts_that_stopped_the_process():
    before = time.thread_time()
    parse_markdown("---\r\n" + "line\r\n" * 45, "f")
    parse_markdown("<!--" * 40_000, "f")
    assert time.thread_time() - before < 2
