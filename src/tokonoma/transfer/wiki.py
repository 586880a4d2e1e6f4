"""Links, tags and categories in the text of a note, as Obsidian and basic-memory read them. Pure."""

import posixpath
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import unquote

from tokonoma.transfer.files import NOTE_SUFFIXES

# Every repetition is limited, because the text may come from anywhere.
_WIKI = re.compile(r"(!?)\[\[([^\[\]\n]{1,500})\]\]")
_LINK = re.compile(r"(!?)\[[^\[\]\n]{0,300}\]\((?:<([^<>\n]{1,500})>|([^()\s<>]{1,500}))(?: \"[^\"\n]{0,300}\")?\)")
_FENCE = re.compile(r" {0,3}(`{3,100}|~{3,100})")
_TICKS = re.compile(r"`+")
_TAG = re.compile(r"(?:^|(?<=\s))#([\w/-]{1,200})")
_ITEM = re.compile(r"\s{0,40}[-*+] +(\S.*)")
_CATEGORY = re.compile(r"\[([^\[\]()]{1,200})\]\s+\S")
_CLOCK = re.compile(r"\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d{1,3})?(?:\s+-\s+\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d{1,3})?)?")
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]{0,30}:")


@dataclass(frozen=True, slots=True)
class WikiLink:
    target: str
    tag: str
    line: int
    reason: str = ""
    wiki: bool = True  # else a Markdown link, whose path is relative to its note


def blank_code(text: str) -> list[str]:
    """Return the lines of the text without code, which contains no links."""
    lines: list[str] = []
    fence = ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if fence:
            closes = mark and mark[1][0] == fence[0] and len(mark[1]) >= len(fence) and not line[mark.end() :].strip()
            fence = "" if closes else fence
            lines.append("")
        elif mark and not (mark[1][0] == "`" and "`" in line[mark.end() :]):
            fence = mark[1]
            lines.append("")
        else:
            lines.append(_remove_code(line) if "`" in line else line)
    return lines


def _remove_code(line: str) -> str:
    """A line with a space for each span of code: from a run of backticks to the next run of the same length."""
    runs = [found.span() for found in _TICKS.finditer(line)]
    closing: dict[int, int] = {}  # run → the next one of its length
    last: dict[int, int] = {}
    for number in reversed(range(len(runs))):
        start, end = runs[number]
        if end - start in last:
            closing[number] = last[end - start]
        last[end - start] = number
    parts: list[str] = []
    at = number = 0
    while number < len(runs):
        if number in closing:
            parts += (line[at : runs[number][0]], " ")
            number = closing[number]
            at = runs[number][1]
        number += 1
    return "".join([*parts, line[at:]])


def find_links(lines: list[str], *, typed: bool) -> Iterator[WikiLink]:
    """Find every link to another note: `links_to`, or `embeds` with an exclamation mark.

    `typed` is the syntax of basic-memory: in an item `- type [[Target]] (context)` the type is the tag of the link.
    """
    for number, line in enumerate(lines, 1):
        item = _ITEM.fullmatch(line) if typed else None
        link = _parse_typed_link(item[1].strip(), number) if item else None
        if link is not None:
            yield link
        else:
            yield from _find_links_in_line(line, number)


def find_tags(lines: list[str]) -> list[str]:
    """Find `#tag`, nested by slashes; digits alone are no tag."""
    found = [each for line in lines if "#" in line for each in _TAG.findall(line)]
    return list(dict.fromkeys(each for each in found if not each.replace("/", "").isdigit()))


def find_categories(lines: list[str]) -> list[str]:
    """Find the categories of observations, `- [category] text`, but not tasks or the times of a transcript."""
    found: list[str] = []
    for line in lines:
        item = _ITEM.fullmatch(line)
        if item and (start := _CATEGORY.match(item[1])):
            word = start[1].strip()
            is_task = len(word) <= 1 and (word in ("", "x", "X") or not word.isalnum())
            found += [] if is_task or _CLOCK.fullmatch(word) else [word]
    return list(dict.fromkeys(found))


def parse_target(link: str) -> str:
    """The note that `Note#Heading|shown` leads to; empty for a place in the same note."""
    return re.split(r"\\?\||#|\^", link, maxsplit=1)[0].strip()


def _find_links_in_line(line: str, number: int) -> Iterator[WikiLink]:
    if "[[" in line:
        for embedded, inside in _WIKI.findall(line):
            yield WikiLink(parse_target(inside), "embeds" if embedded else "links_to", number)
    if "](" in line:
        for embedded, bracketed, plain in _LINK.findall(line):
            path = unquote(bracketed or plain)
            if not _SCHEME.match(path) and not path.startswith(("//", "#")):
                yield WikiLink(parse_target(path), "embeds" if embedded else "links_to", number, wiki=False)


def _parse_typed_link(item: str, number: int) -> WikiLink | None:
    found = _WIKI.search(item)
    if found is None or found[1]:
        return None
    tag, after = item[: found.start()].strip(), item[found.end() :].strip()
    if tag[:1] in ("'", '"') and len(tag) > 2 and tag.endswith(tag[0]):
        tag = tag[1:-1].strip()
    elif any(each.isspace() for each in tag):
        return None
    if not tag or (after and not _is_bracketed(after)):
        return None
    return WikiLink(parse_target(found[2]), tag, number, after[1:-1].strip())


def _is_bracketed(text: str) -> bool:
    """Whether the text is one pair of brackets with nothing beside it."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth <= 0:
            return place == len(text) - 1 and letter == ")"
    return False


def normalize_name(name: str) -> str:
    """Names are compared without case and in one normal form, because that of macOS differs from what people type."""
    return unicodedata.normalize("NFC", name).casefold().strip()


def strip_suffix(path: str) -> str:
    """`notes/今日.md` → `notes/今日`"""
    return next((path[: -len(end)] for end in NOTE_SUFFIXES if path.lower().endswith(end)), path)


@dataclass(slots=True)
class NoteIndex:
    """Finds the note that a link means: by path, by file name, or by a title, permalink or alias."""

    paths: dict[str, str] = field(default_factory=dict[str, str])
    stems: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    names: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def add(self, path: str, names: list[str]) -> None:
        whole = normalize_name(strip_suffix(path))
        self.paths.setdefault(whole, path)
        self.stems.setdefault(whole.rpartition("/")[2], []).append(path)
        for name in {normalize_name(each) for each in names} - {""}:
            self.names.setdefault(name, []).append(path)

    def find_note(self, target: str, origin: str, *, named_first: bool, wiki: bool) -> str | None:
        """The path of the note that `target` means in the note `origin`."""
        wanted = normalize_name(strip_suffix(target.replace("\\", "/")))
        if not wiki or wanted.startswith(("./", "../")):
            relative = posixpath.normpath(posixpath.join(posixpath.dirname(normalize_name(origin)), wanted))
            if relative in self.paths:
                return self.paths[relative]
        wanted = wanted.lstrip("./")
        if not wanted:
            return None
        if named_first and wanted in self.names:
            return _choose_nearest(self.names[wanted], origin)
        if wanted in self.paths and ("/" in wanted or len(self.stems[wanted]) == 1):
            return self.paths[wanted]
        same = self.stems.get(wanted.rpartition("/")[2], [])
        same = [each for each in same if "/" not in wanted or normalize_name(strip_suffix(each)).endswith(f"/{wanted}")]
        same = same or self.names.get(wanted, [])
        return _choose_nearest(same, origin) if same else None


def _choose_nearest(paths: list[str], origin: str) -> str:
    """The path in the same folder, or else the shortest path."""
    here = posixpath.dirname(origin)
    return min(paths, key=lambda path: (posixpath.dirname(path) != here, path.count("/"), path))
