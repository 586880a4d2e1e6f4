"""Links, tags and facts in the text of a note, as Obsidian and basic-memory read them. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

# Every repetition is bounded: these run over texts that anybody may have written.
_WIKI = re.compile(r"(!?)\[\[([^\[\]\n]{1,500})\]\]")
_LINK = re.compile(r"(!?)\[[^\[\]\n]{0,300}\]\((?:<([^<>\n]{1,500})>|([^()\s<>]{1,500}))(?: \"[^\"\n]{0,300}\")?\)")
_FENCE = re.compile(r" {0,3}(`{3,100}|~{3,100})")
_CODE = re.compile(r"(`{1,10})(?!`)[^\n]{1,2000}?(?<!`)\1(?!`)")
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
    """The lines, with code blanked out: what looks like a link there is none."""
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
            lines.append(_CODE.sub(" ", line) if "`" in line else line)
    return lines


def find_links(lines: list[str]) -> Iterator[WikiLink]:
    """Every link to another note: `links_to`, or `embeds` for one with an exclamation mark."""
    for number, line in enumerate(lines, 1):
        yield from _find_links_in_line(line, number)


def find_typed_links(lines: list[str]) -> Iterator[WikiLink]:
    """As basic-memory reads them: `- type [[Target]] (context)` says what it is, any other link is `links_to`."""
    for number, line in enumerate(lines, 1):
        item = _ITEM.fullmatch(line)
        told = _parse_typed_link(item[1].strip(), number) if item else None
        if told is not None:
            yield told
        else:
            yield from _find_links_in_line(line, number)


def find_tags(lines: list[str]) -> list[str]:
    """`#tag`, nested by slashes; one of digits alone is none."""
    found = [each for line in lines if "#" in line for each in _TAG.findall(line)]
    return list(dict.fromkeys(each for each in found if not each.replace("/", "").isdigit()))


def find_categories(lines: list[str]) -> list[str]:
    """Of basic-memory's observations, `- [category] text`: not of tasks, not of the times of a transcript."""
    found: list[str] = []
    for line in lines:
        item = _ITEM.fullmatch(line)
        start = _CATEGORY.match(item[1]) if item else None
        if start is None:
            continue
        word = start[1].strip()
        is_task = len(word) <= 1 and (word in ("", "x", "X") or not word.isalnum())
        if not is_task and not _CLOCK.fullmatch(word):
            found.append(word)
    return list(dict.fromkeys(found))


def parse_target(link: str) -> str:
    """The note that `Note#Heading|shown` leads to; empty: a place in the same note."""
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
    """Whether it is one pair of brackets and nothing beside it."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth <= 0:
            return place == len(text) - 1 and letter == ")"
    return False
