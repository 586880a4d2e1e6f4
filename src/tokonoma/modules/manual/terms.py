"""Terms: what a query asks for, what a section refers to, and where a term is in a JSON file. Pure functions."""

import json
import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal, NamedTuple, cast
from urllib.parse import unquote

from tokonoma.core.normalize import HAN, normalize, normalize_loose
from tokonoma.files.links import find_link_targets

Intent = Literal["definition", "procedure", "eligibility", "exceptions", "compare", "unknown"]

_QUOTED = re.compile(r'"([^"]+)"|“([^”]+)”|「([^」]+)」|『([^』]+)』')
# Words of asking around the topic.
_ASKING = re.compile(
    r"(?:について|に関して|に関する|に関わる|関連の|関連する|にまつわる)"
    r"(?:の)?(?:情報|記述|箇所|内容|こと|説明|資料)?(?:を|は|の)?(?:すべて|全て|全部|網羅的に|漏れなく|もれなく|詳しく)*"
    r"|(?:すべて|全て|全部|網羅的に|漏れなく|もれなく)"
    r"|(?:教えて|取得して|集めて|調べて|探して|説明して|まとめて|列挙して)(?:ください|下さい|ほしい)?"
    r"|とは(?:何(?:です)?か|なんですか)?|を知りたい|はどこ(?:ですか|にありますか)?"
    r"|\b(?:please|tell me|find|collect|show|list|give me|explain)\b"
    r"|\b(?:everything|all(?: information)?|anything)\b(?= (?:about|on|regarding))"
    r"|\b(?:about|regarding|concerning|information on|what (?:is|are)|how (?:do i|to|does|can i)|where (?:is|are))\b",
    re.IGNORECASE,
)
_PARTICLES = re.compile(
    r"(?:における|によって|による|に対する|に対して|として|の|を|が|は|へ)(?=[^ぁ-ん]|$)"
    r"|(?<=[^ぁ-ん])(?:から|まで|より|など|または|及び|および|並びに|に|で|と|も|や|か)(?=[^ぁ-ん]|$)"
)
_BREAK = re.compile(r"[\s、。，．・!?！？:：;；()（）\[\]【】<>＜＞/／|｜]+")
_STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be but by can do does for from has have how if in into is it its me my no not of on or our"
        " should so than that the their them then there these they this to was we were what when where which who why"
        " will with you your",
    )
)
_INTENTS: tuple[tuple[Intent, re.Pattern[str]], ...] = (
    (
        "exceptions",
        re.compile(
            r"例外|除外|対象外|適用外|除く|ただし|不可|できない|except|exclu|not (?:covered|allowed)|unless", re.I
        ),
    ),
    ("compare", re.compile(r"違い|比較|差異|どちら|\bvs\.?\b|versus|differen|compar", re.I)),
    ("eligibility", re.compile(r"条件|資格|対象者|要件|該当|できるか|eligib|require|who can|allowed to", re.I)),
    ("procedure", re.compile(r"手順|方法|手続|やり方|設定する|how to|how do|steps?\b|procedure|set ?up|install", re.I)),
    ("definition", re.compile(r"とは|定義|意味|what is|what are|define|definition|meaning", re.I)),
)
_REFERENCE = re.compile(r"^\[[^\]\n]{1,100}\]:\s*<?(\S+?)>?(?:\s|$)", re.MULTILINE)
_NUMBER = "[0-9〇一二三四五六七八九十百]+"
_ARTICLE = re.compile(f"第({_NUMBER})(条|項|章|節|編|号)(?:の({_NUMBER}))?")
_APPENDIX = re.compile(f"(別表|別紙|付表|付録|様式|附則)(?:第)?({_NUMBER})?")
_SEE = re.compile(
    r"「([^「」\n]{2,60})」(?:の(?:章|節|項|ページ))?(?:を|も)?(?:参照|ご覧|参考)"
    r"|\bsee (?:also |the )?(?:section |chapter |[\"“'])([^\"”'.,;\n)]{3,60})",
    re.IGNORECASE,
)
_KANJI = {"〇": 0, "一": 1, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
_MAX_VISITED = 100_000  # values of a JSON file


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """`folded` is the normalized spelling, `loose` the loose one; `written` is the original, for results."""

    written: str
    folded: str
    loose: str


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """`phrase` is the whole topic; `words` are its parts."""

    text: str
    intent: Intent
    phrase: QueryTerm
    words: tuple[QueryTerm, ...]
    required: tuple[QueryTerm, ...] = ()  # must_include


def make_term(written: str) -> QueryTerm:
    return QueryTerm(written, " ".join(normalize(written).split()), normalize_loose(written))


def parse_query(query: str, intent: Intent | None = None, must_include: Sequence[str] = ()) -> ParsedQuery:
    """The terms of a query. Quoted parts are kept whole; words of asking are removed."""
    quoted = [next(part for part in parts if part) for parts in _QUOTED.findall(query)]
    rest = _ASKING.sub(" ", _QUOTED.sub(" ", query))
    phrase = " ".join(quoted) if quoted else " ".join(rest.split()) or query.strip()
    words = [*quoted, *(word for word in _split_words(rest) if word not in quoted)] or [phrase]
    required = _distinct_terms([each for each in must_include if each.strip()])
    return ParsedQuery(query, intent or guess_intent(query), make_term(phrase), _distinct_terms(words), required)


def guess_intent(query: str) -> Intent:
    matching: list[Intent] = [intent for intent, pattern in _INTENTS if pattern.search(query)]
    return matching[0] if matching else "unknown"


def _split_words(text: str) -> list[str]:
    words: list[str] = []
    for piece in _BREAK.split(text):
        for part in _PARTICLES.split(piece):
            word = part.strip("-'’_.,\"")
            if word and normalize(word) not in _STOP_WORDS and (len(word) > 1 or re.fullmatch(f"[{HAN}]", word)):
                words.append(word)
    return words


def _distinct_terms(words: Sequence[str]) -> tuple[QueryTerm, ...]:
    terms = {term.loose or term.folded: term for term in map(make_term, reversed(words))}
    return tuple(reversed(terms.values()))


class SectionReference(NamedTuple):
    """`link`: a path and an anchor, relative to the file of the link. `name`: the words of a heading."""

    kind: Literal["link", "name"]
    target: str
    anchor: str = ""


def find_references(own: str) -> Iterator[SectionReference]:
    """The references of a section's own text, each once, in order."""
    yield from dict.fromkeys(_iter_references(own))


def resolve_link(path: str, target: str) -> str:
    """The path inside the manual to which a link in the file `path` leads; empty if it leads outside."""
    joined = posixpath.normpath(posixpath.join(posixpath.dirname(path), target)) if target else path
    return "" if joined.startswith("..") else joined.lstrip("/")


def article_name(text: str) -> str:
    """The canonical name of the first article in a heading, or "". 第三条, 第３条 and 第3条 are one."""
    if "第" not in text and not _APPENDIX.search(text):
        return ""
    folded = normalize(text)
    match = _ARTICLE.search(folded) or _APPENDIX.search(folded)
    return _canonical_name(match) if match else ""


def _iter_references(own: str) -> Iterator[SectionReference]:
    for link in chain(find_link_targets(own), (match[1] for match in _REFERENCE.finditer(own))):
        target, _, anchor = unquote(link).partition("#")
        if "://" not in target and not target.startswith(("mailto:", "//")):
            yield SectionReference("link", target.partition("?")[0], anchor)
    folded = normalize(own.partition("\n")[2])  # a heading names its article and does not refer to it
    for pattern in (_ARTICLE, _APPENDIX):
        for match in pattern.finditer(folded):
            yield SectionReference("name", _canonical_name(match))
    for match in _SEE.finditer(own):
        yield SectionReference("name", (match[1] or match[2]).strip())


def _canonical_name(match: re.Match[str]) -> str:
    if match.re is _ARTICLE:
        return f"第{_parse_number(match[1])}{match[2]}" + (f"の{_parse_number(match[3])}" if match[3] else "")
    return match[1] + (str(_parse_number(match[2])) if match[2] else "")


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


def find_pointer(text: str, terms: Sequence[QueryTerm]) -> str | None:
    """The JSON Pointer (RFC 6901) of the first key or value, in the order of the file, that contains one of the terms;
    None if there is none."""
    try:
        root = json.loads(text)
    except (ValueError, RecursionError):
        return None
    wanted = [term.folded for term in terms if term.folded]
    stack: list[tuple[str, Any]] = [("", root)]
    for _ in range(_MAX_VISITED):
        if not stack:
            return None
        pointer, value = stack.pop()
        if _contains(pointer.rpartition("/")[2].replace("~1", "/").replace("~0", "~"), wanted):
            return pointer
        if isinstance(value, list):
            value = {str(number): each for number, each in enumerate(cast("list[Any]", value))}
        if isinstance(value, dict):
            below = [(f"{pointer}/{_escape_key(key)}", each) for key, each in cast("dict[str, Any]", value).items()]
            stack += reversed(below)
        elif isinstance(value, str) and _contains(value, wanted):
            return pointer
    return None


def _contains(text: str, wanted: Sequence[str]) -> bool:
    folded = normalize(text)
    return any(each in folded for each in wanted)


def _escape_key(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
