"""Links in Markdown text, `[label](target)` and `[[page#heading|alias]]`, and titles without marks. Pure functions, in
time linear in the length of the text.

Brackets are matched in one pass: a regular expression for a whole link starts again at every bracket, and each start
may look through all that follows.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple
from urllib.parse import unquote

from tokonoma.files.marks import ESCAPED, blank_code, fill, find_emphasis, find_spans

_MAX_OPEN = 100  # brackets in each other
_MAX_LINE, _MAX_LINES = 240, 50  # characters of a line with a link, and such lines of one section
_TOKEN = re.compile(r"!?\[\[(?P<page>[^\[\]\n]{1,500}+)\]\]|!?\[|\]|\n[ \t\r]*+(?=\n)")
_DESTINATION = re.compile(
    r"\(\s*+(?:<(?P<angle>[^<>\n]*+)>|(?P<bare>(?!<)(?:[^\s()]++|\([^\s()]*+\))*+))"
    r"(?:\s++(?:\"[^\"]*+\"|'[^']*+'|\([^()]*+\)))?+\s*+\)"
)
_DEFINITION = re.compile(
    r"^ {0,3}\[(?!\^)[^\[\]\n]{1,100}+\]:[ \t]*+(?:<(?P<angle>[^<>\n]*+)>|(?P<bare>[^\s<]\S*+))", re.MULTILINE
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,31}:|//")
_PATH_END = re.compile(r"[#?]")
_HTML_ANCHOR = re.compile(r"<a\s++(?:id|name)\s*+=\s*+[\"']?([^\"'\s<>]{1,200}+)", re.IGNORECASE)
_HTML_ANCHOR_TAG = re.compile(r"<a\s++(?:id|name)\s*+=[^<>]{0,200}+>|</a\s*+>", re.IGNORECASE)
_ANCHOR_END = re.compile(r"[)\s]")
_MARKS = re.compile(r"[*_`\[\\<]")

LinkKind = Literal["link", "picture", "wiki"]


class TextLink(NamedTuple):
    """`start` and `end` are the place of the path as it is written, `target` is the path as it is meant: empty for a
    link inside the file."""

    kind: LinkKind
    start: int
    end: int
    target: str
    anchor: str


class _Brackets(NamedTuple):
    kind: LinkKind
    start: int
    label: int
    label_end: int
    target: int
    target_end: int
    end: int


def find_links(text: str) -> Iterator[TextLink]:
    """The links and pictures of a Markdown text to files, not those in code; then the definitions of links."""
    if "](" not in text and "[[" not in text and "]:" not in text:
        return
    shape = blank_code(text)
    for each in _match_brackets(shape):
        link = (_read_page if each.kind == "wiki" else _read_target)(text, each.kind, each.target, each.target_end)
        if link is not None:
            yield link
    for match in _DEFINITION.finditer(shape) if "]:" in shape else ():
        link = _read_target(text, "link", *match.span("bare" if match["angle"] is None else "angle"))
        if link is not None:
            yield link


def list_link_lines(text: str, links: Sequence[TextLink], first: int) -> list[tuple[int, str]]:
    """The lines with these links, by number from `first` on; long ones are shortened around the link."""
    lines: dict[int, str] = {}
    number, at = first, 0
    for link in sorted(links, key=lambda each: each.start):
        number += text.count("\n", at, link.start)
        at = link.start
        start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
        whole = text[start : end if end >= 0 else len(text)].rstrip("\r")
        cut = max(0, min(at - start - _MAX_LINE // 2, len(whole) - _MAX_LINE))
        if number not in lines and len(lines) < _MAX_LINES:
            lines[number] = whole[cut : cut + _MAX_LINE].strip()
    return list(lines.items())


def find_html_anchors(text: str) -> list[str]:
    """The anchors of `<a id="anchor">` and `<a name="anchor">`, not those in code."""
    return _HTML_ANCHOR.findall(blank_code(text)) if "<a " in text else []


def find_anchor_links(text: str) -> Iterator[str]:
    """The anchors of `[label](#anchor)`."""
    stop = -1
    start = 0
    place = text.find("](#")
    while place >= 0:
        first = place + 3
        if stop < first:
            found = _ANCHOR_END.search(text, first)
            stop = found.start() if found else len(text)
        label = max(start, text.rfind("]", start, place) + 1)  # a label contains no closing bracket
        if stop > first and text[stop : stop + 1] == ")" and text.rfind("[", label, place) >= 0:
            yield text[first:stop]
            start = first = stop + 1
        place = text.find("](#", first)


def remove_comments(text: str) -> str:
    """The text without its HTML comments; one that does not end stays."""
    parts: list[str] = []
    at = 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        parts.append(text[at:start])
        at = end + 3
    return "".join([*parts, text[at:]])


def strip_marks(text: str) -> str:
    """The text of a heading without signs of emphasis and code and without anchors, and with the labels of its links
    instead of the links. What is code or escaped stays as it is written."""
    if not _MARKS.search(text):
        return text
    if "<" in text:
        text = _HTML_ANCHOR_TAG.sub("", text)
    spans = list(find_spans(text))
    removed = [(start, start + width) for start, _, width in spans]
    removed += [(end - width, end) for start, end, width in spans if text[start] == "`"]
    shape = fill(text, [(start, end) for start, end, _ in spans])
    links = list(_match_brackets(shape)) if "[" in shape else []
    for each in links:
        label = each.label
        if each.kind == "wiki" and (bar := text.find("|", each.label, each.label_end)) >= 0:
            label = bar + 1
        removed += ((each.start, label), (each.label_end, each.end))
    if "*" in shape or "_" in shape:
        removed += find_emphasis(fill(shape, sorted((each.label_end, each.end) for each in links)))
    return _cut(text, sorted(removed))


def _cut(text: str, spans: Sequence[tuple[int, int]]) -> str:
    parts: list[str] = []
    at = 0
    for start, end in spans:
        parts.append(text[at:start])
        at = max(at, end)
    return "".join([*parts, text[at:]])


def unescape(text: str) -> str:
    return ESCAPED.sub(r"\1", text) if "\\" in text else text


def _match_brackets(shape: str) -> Iterator[_Brackets]:
    """The links of a text without code, in order of their ends."""
    openings: list[tuple[int, int]] = []
    inactive = 0  # so many of them are around a link, and no links themselves
    at = 0
    for token in _TOKEN.finditer(shape):
        start, end = token.span()
        if start < at:
            continue  # in the target of a link
        if token["page"] is not None:
            inner = token.span("page")
            yield _Brackets("wiki", start, *inner, *inner, end)
        elif token[0][-1] == "[":
            openings.append((start, end))
            if len(openings) > _MAX_OPEN:
                del openings[0]
                inactive = max(0, inactive - 1)
        elif token[0] != "]":
            openings.clear()
            inactive = 0
        elif openings:
            first, label = openings.pop()
            is_picture = label - first == 2
            is_active = is_picture or len(openings) >= inactive
            inactive = min(inactive, len(openings))
            target = _DESTINATION.match(shape, end) if is_active and shape[end : end + 1] == "(" else None
            if target is not None:
                at = target.end()
                inner = target.span("bare" if target["angle"] is None else "angle")
                yield _Brackets("picture" if is_picture else "link", first, label, start, *inner, at)
                inactive = inactive if is_picture else len(openings)


def _read_target(text: str, kind: LinkKind, start: int, end: int) -> TextLink | None:
    """None for a link to another site, and for one without a target."""
    written = text[start:end]
    if not written or _SCHEME.match(written):
        return None
    stop = _PATH_END.search(written)
    path_end = stop.start() if stop else len(written)
    anchor = unquote(unescape(written[path_end:].partition("#")[2]))
    return TextLink(kind, start, start + path_end, unquote(unescape(written[:path_end])), anchor)


def _read_page(text: str, kind: LinkKind, start: int, end: int) -> TextLink | None:
    """`page#heading#below|alias`. In a table the bar is escaped. `#^mark` means a paragraph: it leads to the page."""
    written = text[start:end].partition("|")[0].rstrip("\\")
    page, _, heading = written.partition("#")
    target, anchor = page.strip(), heading.rpartition("#")[2].strip()
    if not target and not anchor:
        return None
    first = start + len(page) - len(page.lstrip())
    return TextLink(kind, first, first + len(target), target, "" if anchor.startswith("^") else anchor)
