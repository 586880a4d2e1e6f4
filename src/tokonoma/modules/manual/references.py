"""What a section refers to: Markdown links, articles (第3条), appendices (別表第1), and "see …"."""

import posixpath
import re
from collections.abc import Iterator
from typing import Literal, NamedTuple
from urllib.parse import unquote

from tokonoma.core.normalize import normalize

_LINK = re.compile(r"(?<!!)\[[^\]\n]{0,300}\]\(\s*<?([^)\s>]+)[^)\n]*\)")
_REFERENCE = re.compile(r"^\[[^\]\n]{1,100}\]:\s*<?(\S+?)>?(?:\s|$)", re.MULTILINE)
_NUMBER = "[0-9〇一二三四五六七八九十百]+"
_ARTICLE = re.compile(f"第({_NUMBER})(条|項|章|節|編|号)(?:の({_NUMBER}))?")
_APPENDIX = re.compile(f"(別表|別紙|付表|付録|様式|附則)(?:第)?({_NUMBER})?")
_SEE = re.compile(
    r"「([^」\n]{2,60})」(?:の(?:章|節|項|ページ))?(?:を|も)?(?:参照|ご覧|参考)"
    r"|\bsee (?:also |the )?(?:section |chapter |[\"“'])([^\"”'.,;\n)]{3,60})",
    re.IGNORECASE,
)
_KANJI = {"〇": 0, "一": 1, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}


class SectionReference(NamedTuple):
    """`link`: a path and an anchor, relative to the file that it stands in. `name`: words that a heading holds."""

    kind: Literal["link", "name"]
    target: str
    anchor: str = ""


def find_references(own: str) -> Iterator[SectionReference]:
    """Each one once, in the order in which they stand."""
    seen: set[SectionReference] = set()
    for reference in _iter_references(own):
        if reference not in seen:
            seen.add(reference)
            yield reference


def resolve_link(path: str, target: str) -> str:
    """The path inside the manual that a link in the file `path` leads to; empty if it leaves it."""
    joined = posixpath.normpath(posixpath.join(posixpath.dirname(path), target)) if target else path
    return "" if joined.startswith("..") else joined.lstrip("/")


def article_name(text: str) -> str:
    """第三条, 第３条 and 第3条 are one: the canonical name of the first in a heading; empty if there is none."""
    if "第" not in text and not _APPENDIX.search(text):
        return ""
    folded = normalize(text)
    found = _ARTICLE.search(folded) or _APPENDIX.search(folded)
    return _canonical_name(found) if found else ""


def _iter_references(own: str) -> Iterator[SectionReference]:
    for found in (*_LINK.finditer(own), *_REFERENCE.finditer(own)):
        target, _, anchor = unquote(found[1]).partition("#")
        if "://" not in target and not target.startswith(("mailto:", "//")):
            yield SectionReference("link", target.partition("?")[0], anchor)
    folded = normalize(own.partition("\n")[2])  # a heading names its article; it does not refer to it
    for pattern in (_ARTICLE, _APPENDIX):
        for found in pattern.finditer(folded):
            yield SectionReference("name", _canonical_name(found))
    for found in _SEE.finditer(own):
        yield SectionReference("name", (found[1] or found[2]).strip())


def _canonical_name(found: re.Match[str]) -> str:
    if found.re is _ARTICLE:
        return f"第{_parse_number(found[1])}{found[2]}" + (f"の{_parse_number(found[3])}" if found[3] else "")
    return found[1] + (str(_parse_number(found[2])) if found[2] else "")


def _parse_number(digits: str) -> int:
    if digits.isdigit() and digits.isascii():
        return int(digits)
    total, current = 0, 0
    for digit in digits:
        if digit in _KANJI:
            current = current * 10 + _KANJI[digit]
        else:
            total += (current or 1) * {"十": 10, "百": 100}.get(digit, 1)
            current = 0
    return total + current
