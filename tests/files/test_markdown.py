"""The blocks of a Markdown text, compared with markdown-it, and linear in time."""

import random
import time

import pytest
from markdown_it import MarkdownIt

from tokonoma.files.markdown import MAX_DEPTH, scan_blocks

PIECES = [
    "# a", "## b ##", "a", "bc", "===", "---", "- ", "- x", "* y", "1. ", "2. z", "1) q", "> ", ">", "> q", "```",
    "```mermaid", "~~~", "    ", "  ", "   ", " ", "<div>", "</div>", "<!--", "-->", "<b>", '<a href="x">', "[a]: b",
    "***", "* * *", "#", "#x", "\t", "+", "\\# a", "foo bar", "<script>", "</script>", "<?", "?>", "<!X", "", "", "",
]  # fmt: skip
Blocks = tuple[list[tuple[int, int, str]], list[tuple[int, int, int]], list[tuple[int, str, str]]]


def read_with_markdown_it(text: str) -> Blocks:
    headings, items, fences = [], [], []
    around: list[int] = []
    tokens = MarkdownIt("commonmark").disable("inline").parse(text)
    for index, token in enumerate(tokens):
        if token.map is None:
            if token.type == "list_item_close":
                around.pop()
            continue
        line, end = token.map[0] + 1, token.map[1]
        if token.type == "heading_open" and not token.level:
            headings.append((line, int(token.tag[1]), " ".join(tokens[index + 1].content.split())))
        elif token.type == "list_item_open":
            items.append((line, end, around[-1] if around else 0))
            around.append(line)
        elif token.type == "fence" and token.info.strip():
            fences.append((line, token.info.strip(), token.content.expandtabs(4).rstrip()))
    return headings, items, fences


def read_with_ours(text: str) -> Blocks:
    blocks = scan_blocks(text)
    headings = [(each.line, each.level, " ".join(each.text.split())) for each in blocks.headings]
    fences = [(each.line, each.info, each.text.rstrip()) for each in sorted(blocks.fences)]
    return headings, [(each.line, each.end, each.around) for each in blocks.items], fences


@pytest.mark.parametrize("seed", range(4))
def test_blocks_are_those_of_markdown_it(seed):
    chance = random.Random(seed)
    for _ in range(1500):
        lines = [
            "".join(chance.choices(PIECES, k=chance.choice([1, 1, 1, 2, 2, 3]))) for _ in range(chance.randint(1, 7))
        ]
        text = "\n".join(lines).rstrip() + "\n"
        assert read_with_ours(text) == read_with_markdown_it(text), text


def test_who_needs_headings_only_gets_the_same_headings():
    text = "- a\n# b\n> # c\n\nd\n===\n"
    assert scan_blocks(text, keep_items=False).headings == scan_blocks(text).headings
    assert scan_blocks(text, keep_items=False).items == []


def test_what_is_nested_too_deeply_is_text():
    assert len(scan_blocks("- " * 1000 + "x\n").items) == MAX_DEPTH


@pytest.mark.parametrize("unit", ["> ", "- ", "1. ", "[a]: b\n", "<a ", "# a\n", "a\n=\n", "`", "* ", "\t"])
def test_time_grows_with_the_text_and_not_faster(unit):
    before = time.thread_time()
    scan_blocks(unit * (200_000 // len(unit)))
    assert time.thread_time() - before < 2  # twice the length would take four times as long, and this minutes
