"""Terms: what a query asks for, and what a section refers to. Pure functions."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from tokonoma.core.normalize import HAN, normalize, normalize_loose
from tokonoma.files.links import find_links
from tokonoma.modules.manual.numerals import NUMERALS, parse_number
from tokonoma.modules.manual.questions import find_topic

Intent = Literal["definition", "procedure", "eligibility", "exceptions", "compare", "unknown"]

_QUOTED = re.compile(r'"([^"]+)"|“([^”]+)”|「([^」]+)」|『([^』]+)』')
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
_NUMBER = f"[0-9{NUMERALS}]+"
_ARTICLE = re.compile(f"第({_NUMBER})(条|項|章|節|編|号)(?:の({_NUMBER}))?")
_APPENDIX = re.compile(f"(別表|別紙|付表|付録|様式|附則)(?:第)?({_NUMBER})?")
_SEE = re.compile(
    r"「([^「」\n]{2,60})」(?:の(?:章|節|項|ページ))?(?:を|も)?(?:参照|ご覧|参考)"
    r"|\bsee (?:also |the )?(?:section |chapter |[\"“'])([^\"”'.,;\n)]{3,60})",
    re.IGNORECASE,
)


TermKind = Literal["form", "spelling", "name"]
"""What another name of a term is: the same word inflected or a number in other signs, which must be whole words of a
text; the same word with more or less okurigana; or another word."""


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """`folded` is the normalized spelling, `loose` the loose one; `written` is the original, for results. `manual`: the
    only manual in which it is another name."""

    written: str
    folded: str
    loose: str
    kind: TermKind = "name"
    manual: str | None = None


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """`phrase` is the whole topic; `words` are its parts."""

    text: str
    intent: Intent
    phrase: QueryTerm
    words: tuple[QueryTerm, ...]
    required: tuple[QueryTerm, ...] = ()  # must_include


def make_term(written: str, kind: TermKind = "name", manual: str | None = None) -> QueryTerm:
    return QueryTerm(written, " ".join(normalize(written).split()), normalize_loose(written), kind, manual)


def parse_query(query: str, intent: Intent | None = None, must_include: Sequence[str] = ()) -> ParsedQuery:
    """The terms of a query: of a question, its topic. Quoted parts are kept whole."""
    quoted = [next(part for part in parts if part) for parts in _QUOTED.findall(query)]
    topic, whole = find_topic(_QUOTED.sub(" ", query))
    phrase = " ".join(quoted) if quoted else topic or query.strip()
    words = [*quoted, *(word for word in _split_words(whole) if word not in quoted)] or [phrase]
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
    """`link`: a path and an anchor, relative to the file of the link. `wiki`: the name of a page and a heading. `name`:
    the words of a heading."""

    kind: Literal["link", "wiki", "name"]
    target: str
    anchor: str = ""


def find_references(own: str) -> Iterator[SectionReference]:
    """The references of a section's own text, each once, in order."""
    yield from dict.fromkeys(_iter_references(own))


def article_name(text: str) -> str:
    """The canonical name of the first article in a heading, or "". 第三条, 第３条 and 第3条 are one."""
    if "第" not in text and not _APPENDIX.search(text):
        return ""
    folded = normalize(text)
    match = _ARTICLE.search(folded) or _APPENDIX.search(folded)
    return _canonical_name(match) if match else ""


def _iter_references(own: str) -> Iterator[SectionReference]:
    for link in find_links(own):
        if link.kind != "picture":
            yield SectionReference(link.kind, link.target, link.anchor)
    folded = normalize(own.partition("\n")[2])  # a heading names its article and does not refer to it
    for pattern in (_ARTICLE, _APPENDIX):
        for match in pattern.finditer(folded):
            yield SectionReference("name", _canonical_name(match))
    for match in _SEE.finditer(own):
        yield SectionReference("name", (match[1] or match[2]).strip())


def _canonical_name(match: re.Match[str]) -> str:
    if match.re is _ARTICLE:
        return f"第{parse_number(match[1])}{match[2]}" + (f"の{parse_number(match[3])}" if match[3] else "")
    return match[1] + (str(parse_number(match[2])) if match[2] else "")
