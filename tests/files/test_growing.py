"""A text that grows: what is read on gives the passages that the whole text gives, however it is extended."""

import os
import random

import pytest

from tokonoma.files.growing import GrowingText
from tokonoma.files.text import count_text_lines, split_lines, split_passages

SOAK = os.environ.get("TOKONOMA_SOAK") == "1"
full = [pytest.mark.soak, pytest.mark.skipif(not SOAK, reason="the full count: make soak")]
PIECES = (
    "text\n", "more text\n", "- item\n", "  - inner\n", "    indented\n", "1. first\n", "> quoted\n", "lazy line\n",
    "# One\n", "## Two\n", "### Three ###\n", "###### Six\n", "#no heading\n", "- # in an item\n",
    "> # in a quotation\n", "===\n", "---\n", "-----\n", "+++\n", "***\n", "```\n", "```python\n", "~~~\n",
    "    ```\n", "<!--\n", "-->\n", "<div>\n", "</div>\n", "\n", "\n\n", "   \n", "\t\n", "title: x\n",
    "[a]: http://b\n", "a\r\n", "---\r\n", "# Crlf\r\n", "見出し\n===\n", "x" * 200 + "\n", "no end", "# no end",
    "---", "\r", "\n# after a break", "text\n" * 90, "\n" * 90, "a\n\n" * 60,
)  # fmt: skip
STARTS = (
    "", "\ufeff", "---\n", "---\ntitle: Page\n---\n", "---\n- a list\n---\n", "+++\ntitle = 'T'\n+++\n",
    "---\nbad: [\n---\n", "---\ntitle: only\n---", "# Title\n\n", "Title\n===\n", "text\n\n",
    "<!-- hidden -->\n# One\n", "\ufeff---\ntags: a\n---\n# x\n",
)  # fmt: skip


def check(before: str, after: str, growing: GrowingText, parts: tuple[str, ...]) -> bool:
    """Whether it was read on; then the passages are those of the whole text."""
    extended = growing.extend(before, after)
    if extended is None:
        return False
    end, passages = extended
    old = split_passages(before, parts)
    kept = [each for each in old if each.start < end.start]
    assert [each for each in old if each.start >= end.start] == [
        each for each in old if (each.start, each.end) == (end.start, end.end)
    ], "only the last passage is replaced"
    assert kept + passages == split_passages(after, parts)
    assert growing.lines == count_text_lines(after) == len(split_lines(after))
    lines = split_lines(before)
    assert end.place == len("".join(lines[: end.start - 1]))
    return True


@pytest.mark.parametrize("cases", [400, pytest.param(20_000, marks=full)], ids=["quick", "full"])
@pytest.mark.parametrize("name", ["log.md", "log.txt"])
def test_reading_on_gives_the_passages_of_the_whole(name, cases):
    chance, read_on = random.Random(f"{name} {cases}"), 0
    for _ in range(cases):
        text = chance.choice(STARTS) + "".join(chance.choices(PIECES, k=chance.randrange(1, 12)))
        growing = GrowingText(text, ("a", name))
        for _ in range(6):
            added = "".join(chance.choices(PIECES, k=chance.randrange(1, 4)))
            glued = chance.random() < 0.1
            separator = "" if glued or not text or text.endswith("\n") else "\n"
            after = text + separator + added
            if check(text, after, growing, ("a", name)):
                read_on += 1
            else:
                growing = GrowingText(after, ("a", name))
            text = after
    assert read_on > cases


@pytest.mark.parametrize("lines", [39_995, 40_001, 40_499])
def test_passages_that_get_longer_change_all_of_the_file(lines):
    text = "a line\n" * lines
    growing = GrowingText(text, ("log.md",))
    for added in ("one\n", "two\n" * 3, "three\n" * 2):
        if not check(text, text + added, growing, ("log.md",)):
            growing = GrowingText(text + added, ("log.md",))
        text += added


def test_the_most_sections_a_file_can_have():
    text = "# a\n" * 1998
    growing = GrowingText(text, ("log.md",))
    read_on: list[bool] = []
    for _ in range(4):
        read_on.append(check(text, text + "# a\ntext\n", growing, ("log.md",)))
        text += "# a\ntext\n"
        growing = growing if read_on[-1] else GrowingText(text, ("log.md",))
    assert read_on == [True, True, False, False]


def test_an_underline_makes_a_heading_of_a_paragraph_over_several_passages():
    text = "# One\n\n" + "text\n" * 200
    assert not check(text, text + "===\n", GrowingText(text, ("log.md",)), ("log.md",))
    assert check(text, text + "\n===\n", GrowingText(text, ("log.md",)), ("log.md",))
