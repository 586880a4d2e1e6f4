"""The blocks of a Markdown text that decide its structure: headings, list items and fenced code. Pure functions.

One pass over the lines, by the rules of CommonMark: a line first continues the containers that are open (quotations and
list items), then opens new ones, and what is left belongs to a paragraph, a fence, raw HTML or a heading. A line costs
time in proportion to its length and to the depth of its containers, which is bounded.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from tokonoma.files.raw_html import find_html_end

MAX_DEPTH = 40
"""Quotations and list items inside each other; what is nested deeper is text."""

_SPECIAL = frozenset(" \t>#`~<*-+=_\r\n0123456789[")  # the only characters with which a line can start a block
_ATX = re.compile(r"(#{1,6})(?:[ \t]|$)")
_FENCE = re.compile(r"(`{3,}|~{3,})")
_MARKER = re.compile(r"(?:[-+*]|(\d{1,9})[.)])(?= |$)")
_REFERENCE = re.compile(r"\[[^\[\]]{1,999}\]: *+(?:<[^<>]*+>|[^\s<]\S*+)(?: ++(?:\"[^\"]*+\"|'[^']*+'))? *+$")

Leaf = Literal["", "paragraph", "fence", "html"]


class Heading(NamedTuple):
    """A heading outside of quotations and lists. Lines are counted from 1."""

    line: int
    level: int
    text: str


class ListItem(NamedTuple):
    """`around` is the first line of the item that this one is in; 0: none."""

    line: int
    end: int
    around: int


class FencedBlock(NamedTuple):
    line: int
    info: str
    text: str


@dataclass(slots=True)
class MarkdownBlocks:
    headings: list[Heading] = field(default_factory=list[Heading])
    items: list[ListItem] = field(default_factory=list[ListItem])
    fences: list[FencedBlock] = field(default_factory=list[FencedBlock])
    code: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])  # first and last line of every fence
    code_lines: list[int] = field(default_factory=list[int])  # with `keep_code`: of fenced and indented code


@dataclass(slots=True)
class _Container:
    indent: int  # columns of a list item's text; -1: a quotation
    item: int = -1  # the list item's place in the list of all
    is_empty: bool = False  # an item whose first line has no text


def scan_blocks(text: str, *, keep_items: bool = True, keep_code: bool = False) -> MarkdownBlocks:
    """`text` has no front matter. Who needs only the headings does not keep the list items."""
    scanner = BlockScanner(keep_items, keep_code)
    number = 0
    for number, line in enumerate(split_bare_lines(text), 1):
        scanner.read_line(number, line)
    scanner.close_containers(0, number + 1)
    scanner.end_leaf()
    return scanner.blocks


def split_bare_lines(text: str) -> Iterator[str]:
    """The lines, without their ends. A text may have millions: they are not all kept at once."""
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start:end].rstrip("\r")
        start = end + 1
    if start < len(text):
        yield text[start:].rstrip("\r")


class BlockScanner:
    def __init__(self, keep_items: bool, keep_code: bool) -> None:
        self._keep_items, self._keep_code = keep_items, keep_code
        self.blocks = MarkdownBlocks()
        self._stack: list[_Container] = []
        self._leaf: Leaf = ""
        self._paragraph: list[tuple[int, str]] = []  # number and text of its lines, if it is outside of containers
        self._fence = ("", 0, 0)  # its character, its length, its indent
        self._fenced: tuple[int, str, list[str]] | None = None  # of a fence with an info string: line, info, text
        self._html_end: Callable[[str], bool] = bool

    def read_line(self, number: int, line: str) -> None:
        if not self._stack and self._leaf in ("", "paragraph") and (not line or line[0] not in _SPECIAL):  # most lines
            if line:
                self._add_text(number, line)
            else:
                self._leaf = ""
            return
        line = line.expandtabs(4) if "\t" in line else line
        matched, rest = self._continue_containers(line)
        if matched == len(self._stack) and self._leaf in ("fence", "html"):
            if self._keep_code and self._leaf == "fence":
                self.blocks.code_lines.append(number)
            self._continue_raw(number, rest)
            return
        if matched < len(self._stack) and self._leaf in ("fence", "html"):
            self.end_leaf()
        self._open_blocks(number, matched, rest)

    def _continue_containers(self, line: str) -> tuple[int, str]:
        """How many of the open containers this line belongs to, and what is left of it."""
        rest = line
        for matched, container in enumerate(self._stack):
            text = rest.lstrip(" ")
            indent = len(rest) - len(text)
            if container.indent < 0:
                if indent > 3 or not text.startswith(">"):
                    return matched, rest
                rest = text[2:] if text.startswith("> ") else text[1:]
            elif not text:
                if container.is_empty:
                    return matched, rest
            elif indent >= container.indent:
                rest = rest[container.indent :]
                container.is_empty = False
            else:
                return matched, rest
        return len(self._stack), rest

    def _continue_raw(self, number: int, rest: str) -> None:
        """A line inside a fence or raw HTML."""
        text = rest.strip(" ")
        if self._leaf == "html":
            if self._html_end(text):
                self.end_leaf()
            return
        self.blocks.code[-1] = (self.blocks.code[-1][0], number)
        sign, length, indent = self._fence
        if len(rest) - len(rest.lstrip(" ")) <= 3 and len(text) >= length and not text.strip(sign):
            self.end_leaf()
        elif self._fenced is not None:
            cut = min(indent, len(rest) - len(rest.lstrip(" ")))
            self._fenced[2].append(rest[cut:] + "\n")

    def _open_blocks(self, number: int, matched: int, rest: str) -> None:
        """Open what starts on this line, as often as something does; the remainder is text."""
        is_new = False  # a container was opened on this line
        while True:
            text = rest.lstrip(" ")
            indent = len(rest) - len(text)
            in_paragraph = self._leaf == "paragraph" and not is_new
            if indent > 3 or not text:
                break
            follows = in_paragraph and matched == len(self._stack)  # the paragraph goes on, if nothing starts here
            if text[0] == ">" and len(self._stack) < MAX_DEPTH:
                self._enter(number, matched, is_new, _Container(-1))
                rest = text[2:] if text.startswith("> ") else text[1:]
            elif self._open_leaf(number, matched, is_new, text, indent, follows):
                return
            elif (width := _measure_marker(text, follows)) and len(self._stack) < MAX_DEPTH:
                after = text[width:]
                spaces = len(after) - len(after.lstrip(" "))
                gap = spaces if 1 <= spaces <= 4 and spaces < len(after) else 1
                self._enter(number, matched, is_new, _Container(indent + width + gap, 0, not after.strip(" ")))
                rest = after[gap:]
            else:
                break
            matched, is_new = len(self._stack), True
        if matched < len(self._stack) and not (in_paragraph and text):  # else a paragraph goes on without its marks
            self._leave(number, matched, blank=not text)
        if not text:
            self._leaf = "" if self._leaf == "paragraph" else self._leaf
        elif self._leaf == "paragraph" or indent <= 3:
            self._add_text(number, text)
        elif self._keep_code:
            self.blocks.code_lines.append(number)

    def _enter(self, number: int, matched: int, is_new: bool, container: _Container) -> None:
        if not is_new:
            self._leave(number, matched)
        self._leaf = ""
        if self._keep_items and container.indent >= 0:
            around = next((each.item for each in reversed(self._stack) if each.indent >= 0), -1)
            container.item = len(self.blocks.items)
            line = self.blocks.items[around].line if around >= 0 else 0
            self.blocks.items.append(ListItem(number, number, line))
        self._stack.append(container)

    def _leave(self, number: int, matched: int, blank: bool = False) -> None:
        """Close the containers that this line does not continue, and the paragraph in them."""
        if matched < len(self._stack):
            ends_item = blank and self._stack[matched].indent >= 0  # a blank line belongs to the item that it ends
            self.close_containers(matched, number + ends_item)
        self._leaf = ""

    def close_containers(self, count: int, number: int) -> None:
        """Keep this many; `number` is the first line after the others."""
        for container in self._stack[count:] if self._keep_items else ():
            if container.indent >= 0:
                item = self.blocks.items[container.item]
                self.blocks.items[container.item] = item._replace(end=max(item.line, number - 1))
        del self._stack[count:]

    def _open_leaf(self, number: int, matched: int, is_new: bool, text: str, indent: int, follows: bool) -> bool:
        """Whether the rest of the line is a heading, a rule, or the start of a fence or of raw HTML."""
        sign = text[0]
        if follows and sign in "=-" and not text.rstrip(" ").strip(sign):
            return self._end_setext(1 if sign == "=" else 2)
        if sign == "#":
            atx = _ATX.match(text)
            if atx is None:
                return False
            self._close_for(number, matched, is_new)
            if not self._stack:
                self.blocks.headings.append(Heading(number, len(atx[1]), _strip_closing(text[len(atx[1]) :])))
            return True
        if sign in "`~":
            return self._open_fence(number, matched, is_new, text, indent)
        if sign in "*-_" and _is_rule(text, sign):
            self._close_for(number, matched, is_new)
            return True
        if sign != "<":
            return False
        ends = find_html_end(text, can_be_any=not (self._leaf == "paragraph" and not is_new))
        if ends is None:
            return False
        self._close_for(number, matched, is_new)
        if not ends(text):
            self._leaf, self._html_end = "html", ends
        return True

    def _end_setext(self, level: int) -> bool:
        """The paragraph above becomes a heading."""
        if not self._stack:
            text = "\n".join(line.strip() for _, line in self._paragraph)
            self.blocks.headings.append(Heading(self._paragraph[0][0], level, text))
        self._leaf = ""
        return True

    def _open_fence(self, number: int, matched: int, is_new: bool, text: str, indent: int) -> bool:
        fence = _FENCE.match(text)
        info = text[fence.end() :].strip() if fence else ""
        if fence is None or (text[0] == "`" and "`" in info):
            return False
        self._close_for(number, matched, is_new)
        self._leaf, self._fence = "fence", (text[0], fence.end(), indent)
        self._fenced = (number, info, []) if info else None
        self.blocks.code.append((number, number))
        return True

    def _close_for(self, number: int, matched: int, is_new: bool) -> None:
        if not is_new:
            self._leave(number, matched)
        self._leaf = ""

    def end_leaf(self) -> None:
        if self._leaf == "fence" and self._fenced is not None:
            line, info, lines = self._fenced
            self.blocks.fences.append(FencedBlock(line, info, "".join(lines)))
        self._leaf, self._fenced = "", None

    def _add_text(self, number: int, text: str) -> None:
        if self._leaf != "paragraph":
            self._paragraph = []
            if text[0] == "[" and _REFERENCE.match(text):
                return  # the definition of a link is no text
        self._leaf = "paragraph"
        if not self._stack:
            self._paragraph.append((number, text))


def _strip_closing(text: str) -> str:
    """The text of a heading without the signs that may close it."""
    text = text.strip(" ")
    bare = text.rstrip("#")
    return bare.rstrip(" ") if not bare or bare.endswith(" ") else text


def _is_rule(text: str, sign: str) -> bool:
    signs = text.replace(" ", "")
    return len(signs) >= 3 and not signs.strip(sign)


def _measure_marker(text: str, follows: bool) -> int:
    """The width of the mark of a list item, 0 if there is none. In a paragraph only some marks start a list."""
    marker = _MARKER.match(text)
    if marker is None or (follows and (not text[marker.end() :].strip(" ") or (marker[1] and int(marker[1]) != 1))):
        return 0
    return marker.end()
