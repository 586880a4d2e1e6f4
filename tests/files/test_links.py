"""Links, comments and marks: the same as the expressions that they replace, which were not linear."""

import random
import re
import time

import pytest

from tokonoma.files.links import find_anchor_links, find_link_targets, remove_comments, strip_marks
from tokonoma.files.text import find_front_matter_end, parse_location, parse_markdown

TARGET = re.compile(r"(?<!!)\[[^\]\n]{0,300}\]\(\s*<?([^)\s>]+)[^)\n]*\)")
ANCHOR_LINK = re.compile(r"\[[^\]]*\]\(#([^)\s]+)\)")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
MARKS = re.compile(r"[*_`]+|!?\[([^\]]*)\]\([^)]*\)")
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


def test_links_comments_and_marks():
    chance = random.Random(5)
    for _ in range(30_000):
        text = write(chance, PIECES)
        assert list(find_link_targets(text)) == TARGET.findall(text), text
        assert list(find_anchor_links(text)) == ANCHOR_LINK.findall(text), text
        assert remove_comments(text) == COMMENT.sub("", text), text
        assert strip_marks(text) == MARKS.sub(lambda mark: mark[1] or "", text), text


def test_the_front_matter():
    chance = random.Random(6)
    for _ in range(20_000):
        text = write(chance, ["---", "--- ", "\n", "\r\n", "a", "\t", "-", "\r"])
        found = FRONT_MATTER.match(text)
        assert find_front_matter_end(text) == (found.end() if found else 0), text


def test_locations():
    chance = random.Random(7)
    for _ in range(20_000):
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


@pytest.mark.parametrize("unit", ["[a](", "![a](", "[a](#", "<!--", "{#", "{#a ", "](", "[", "*", "[a]( "])
def test_a_long_heading_takes_time_in_proportion(unit):
    before = time.thread_time()
    text = unit * (500_000 // len(unit))
    parse_markdown(f"# {text}\n", "f")
    list(find_link_targets(text))
    list(find_anchor_links(text))
    assert time.thread_time() - before < 2  # not in proportion, it would be minutes


def test_the_two_texts_that_stopped_the_process():
    before = time.thread_time()
    parse_markdown("---\r\n" + "line\r\n" * 45, "f")
    parse_markdown("<!--" * 40_000, "f")
    assert time.thread_time() - before < 2
