"""What a query asks for: its words, as they would stand in a manual, and what kind of answer is wanted."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tokonoma.core.normalize import HAN, normalize, normalize_loose

Intent = Literal["definition", "procedure", "eligibility", "exceptions", "compare", "unknown"]

_QUOTED = re.compile(r'"([^"]+)"|“([^”]+)”|「([^」]+)」|『([^』]+)』')
# What people say around the thing that they ask for.
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


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """`folded` is looked for as readers write it, `loose` as they might; `written` is shown."""

    written: str
    folded: str
    loose: str


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """`phrase` is the whole of what is asked for; `words` are its parts; all of them are terms of the query."""

    text: str
    intent: Intent
    phrase: QueryTerm
    words: tuple[QueryTerm, ...]
    required: tuple[QueryTerm, ...] = ()  # must_include


def make_term(written: str) -> QueryTerm:
    return QueryTerm(written, " ".join(normalize(written).split()), normalize_loose(written))


def parse_query(query: str, intent: Intent | None = None, must_include: Sequence[str] = ()) -> ParsedQuery:
    """The terms of a query. What stands in quotation marks is kept whole; the asking around it is left out."""
    quoted = [next(part for part in found if part) for found in _QUOTED.findall(query)]
    rest = _ASKING.sub(" ", _QUOTED.sub(" ", query))
    phrase = " ".join(quoted) if quoted else " ".join(rest.split()) or query.strip()
    words = [*quoted, *(word for word in _split_words(rest) if word not in quoted)]
    if not words:
        words = [phrase]
    return ParsedQuery(
        query,
        intent or guess_intent(query),
        make_term(phrase),
        tuple(_distinct_terms(words)),
        tuple(_distinct_terms([each for each in must_include if each.strip()])),
    )


def guess_intent(query: str) -> Intent:
    for intent, sign in _INTENTS:
        if sign.search(query):
            return intent
    return "unknown"


def _split_words(text: str) -> list[str]:
    words: list[str] = []
    for piece in _BREAK.split(text):
        for part in _PARTICLES.split(piece):
            word = part.strip("-'’_.,\"")
            if word and normalize(word) not in _STOP_WORDS and (len(word) > 1 or re.fullmatch(f"[{HAN}]", word)):
                words.append(word)
    return words


def _distinct_terms(words: Sequence[str]) -> list[QueryTerm]:
    terms = {found.loose or found.folded: found for found in map(make_term, reversed(words))}
    return list(reversed(terms.values()))
