"""Contradictions: two sections of one manual that give one property different values, or allow and refuse the same.

A report that is wrong costs its reader two sections, so only plain statements count, and only those whose other words
are the same. Examples, versions, dates, code, tables, comparisons and exceptions are no statements.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from tokonoma.core.normalize import HAN
from tokonoma.modules.manual.corpus import ManualCorpus

_MAX_SENTENCES = 8  # of one section
_MAX_CHARS = 160  # of one side of a sentence, from the topic on
_MAX_SECTIONS = 100  # the best, which are compared

_NUMBER = (  # 十分 is enough, 一回 is once
    rf"((?<![a-z0-9.,/-])\d+(?:,\d{{3}})*(?:\.\d+)?|(?<![{HAN}])(?!十分|一[人回個件名日])[〇一二三四五六七八九十百]+)"
)
_UNIT = (
    r"営業日|日間?|(?:か|ヶ|ケ|ヵ|カ|箇)月間?|週間|年間?|時間|分間?|秒間?|万円|円|%|パーセント|人|名|回|件|個|歳"
    r"|(?:business |working |calendar )?days?|weeks?|months?|years?|hours?|minutes?|seconds?|milliseconds?|dollars?"
    r"|usd|yen|percent|times|people|persons?|users?|members?|characters?"
)
_QUANTITY = re.compile(rf"{_NUMBER}[ -]?({_UNIT})(?![a-z月])")
_BOUNDS = (  # name, before the number, after it
    (
        "least",
        re.compile(r"(?:\b(?:at least|minimum of|no less than) |最低|少なくとも)$"),
        re.compile("以上|を超え| or more"),
    ),
    (
        "most",
        re.compile(r"(?:\b(?:at most|up to|maximum of|no more than) |最大|最長)$"),
        re.compile("以下|未満| or less"),
    ),
    ("after", re.compile(r"\bafter (?:an? |the )?$"), re.compile(r"後| after\b| later\b")),
    ("each", re.compile(r"\bevery $"), re.compile("ごと|毎|おき")),
    ("", re.compile(r"\b(?:within|for) (?:the )?$"), re.compile("以内|まで")),  # as good as no bound
    ("before", re.compile(r"(?!)"), re.compile(r"前(?!後)(?:まで)?| (?:before|prior|in advance)\b")),
)
# A sentence with one of these states no plain rule, or not the one in force.
_NOT_PLAIN = re.compile(
    r"例え|例:|たとえば|など|約\d|およそ|程度|ただし|但し|除[いくき]|以外|のみ|に限|限り|原則|代わり|従来|以前は|旧|改正前|現在"
    r"|または|もしくは|又は|バージョン|\d年\d|\d{4}[-/年]|\bv\d|\?|か$|[{}|=<>]"
    r"|\b(?:e\.g|i\.e|for (?:example|instance)|examples?|such as|about|approximately|around|roughly|except|unless|only"
    r"|versions?|released?|releases|since|previously|formerly|was|were|used to|instead|rather|than|however|but|or"
    r"|either|whether|suppose|let's|typically|usually|often|sometimes|some|currently|alpha|beta)\b"
)
_END = re.compile(r"[。!?;]|[.:](?= |$)| (?:[-*+>]|#+|\d+[.)]) |```|~~~")
_FENCE = "```"
_MARKUP = re.compile(
    r"\]\([^)]{0,300}\)|\{[#%<][^}]{0,200}\}|[\[\]*`_\"'「」『』]|第[0-9〇一二三四五六七八九十百]+[条項章節編号]"
)
# What a page is, and not what it is about.
_PAGE_KIND = re.compile(
    r"よくある(?:ご?質問)|規程|規定|規約|規則|約款|方針|概要|案内|手引き?|資料|一般"
    r"|\b(?:faqs?|guides?|manual|overview|polic(?:y|ies)|terms|rules?|handbook|reference|general|introduction|help)\b"
)
_WORD = re.compile(rf"[a-z0-9][a-z0-9.\-]*[a-z0-9]|[a-z]|[{HAN}]+|[ァ-ヶー]+")
_KANA = re.compile("[ぁ-ん]{3,}")
_STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an the of to for in on at by is are be been will shall it its this that these those their your our you we"
        " they which and as has have do does set value",
    )
)
_SUBJECT_JA = re.compile(r"(.{2,40}?)(?:は|が)、?(.*)")
_SUBJECT_EN = re.compile(r"(.{2,80}?) (?:is|are|defaults to|lasts|equals|(?:must|should|shall|can|will) be)\b(.*)")
# What is said to hold, after its opposite: the words of each are left out when the rest is compared.
_REFUSED = re.compile(
    r"\b(?:can ?not|can't|(?:may|must|shall) not|(?:is|are) not (?:allowed|permitted|possible))\b"
    r"|\b(?:is|are) (?:forbidden|prohibited)\b|(?:する)?(?:ことは|ことが)?(?:でき(?:ない|ません)"
    r"|不可(?:です|である|とする|能(?:です|である)?)?|認め(?:ない|ません|られません)"
    r"|禁止(?:です|である|する|します|されています)|許可(?:しない|しません|されません)|ては(?:なりません|ならない|いけません))$"
)
_ALLOWED = re.compile(
    r"\b(?:can|may|must|(?:is|are) (?:allowed|permitted|possible))\b|(?:する)?(?:ことは|ことが)?(?:でき(?:る|ます)"
    r"|可能(?:です|である|とする)?|認め(?:る|ます|られます)|許可(?:する|します|されます|されています))$"
)
_ENDING = "(?:です|である|とする)?$"
_OPPOSITES = (
    ("allowed", _REFUSED, _ALLOWED),
    ("supported", re.compile(r"\b(?:is|are) (?:not |un)supported\b"), re.compile(r"\b(?:is|are) supported\b")),
    (
        "required",
        re.compile(rf"\b(?:is|are) not required\b|不要{_ENDING}"),
        re.compile(rf"\b(?:is|are) required\b|必要{_ENDING}"),
    ),
    (
        "enabled",
        re.compile(rf"\b(?:is|are) disabled\b|無効{_ENDING}"),
        re.compile(rf"\b(?:is|are) enabled\b|有効{_ENDING}"),
    ),
)
_DENIED = re.compile(r"\bnot\b|ない|ません")
_DIGIT = re.compile("[0-9〇一二三四五六七八九十百]")
_MARKS = (  # one of them is in every opposite; a quick look saves the patterns
    *(" can", " may ", " must ", " shall ", "allowed", "permitted", "possible", "forbidden", "prohibited", "supported"),
    *("required", "abled", "でき", "可", "認め", "禁止", "ては", "必要", "不要", "有効", "無効"),
)


@dataclass(frozen=True, slots=True)
class SectionConflict:
    """Two sections that say different things about the same topic."""

    first: int
    second: int
    about: str
    reason: str


@dataclass(frozen=True, slots=True)
class Statement:
    """What a plain sentence says: of which subject, in which respect, which value; `rest` are its other words."""

    position: int
    subject: frozenset[str]
    respect: str
    rest: frozenset[str]
    value: str

    @property
    def key(self) -> tuple[str, list[str]]:
        return self.respect, sorted(self.subject)


def find_conflicts(
    corpus: ManualCorpus, positions: Sequence[int], names: Sequence[tuple[str, ...]], about: str
) -> list[SectionConflict]:
    """Among these sections, the best first; `names` are the names of the topic, each as words that occur together."""
    stated = [
        statement
        for position in positions[:_MAX_SECTIONS]
        for sentence in _iter_sentences(corpus, position, names)
        for statement in parse_statement(position, sentence)
    ]
    conflicts: dict[tuple[int, int], SectionConflict] = {}
    order = {position: place for place, position in enumerate(positions)}
    for _, group in groupby(sorted(stated, key=lambda each: each.key), key=lambda each: each.key):
        statements = sorted(_drop_lists(list(group)), key=lambda each: order[each.position])
        for index, second in enumerate(statements):
            first = next((each for each in statements[:index] if _contradict(corpus, each, second)), None)
            if first is not None:
                reason = f"{first.value} there, {second.value} here"
                found = SectionConflict(first.position, second.position, about, reason)
                conflicts.setdefault((first.position, second.position), found)
    return list(conflicts.values())


def _drop_lists(statements: Sequence[Statement]) -> Iterator[Statement]:
    """A section that gives one property several values lists cases of it."""
    values: dict[int, set[str]] = {}
    for each in statements:
        values.setdefault(each.position, set()).add(each.value)
    yield from (each for each in statements if len(values[each.position]) == 1)


def _iter_sentences(corpus: ManualCorpus, position: int, names: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """The sentences of a section that name the topic, without its heading and code."""
    text, title = corpus.folded_text(position), corpus.titles[position]
    start = text.find(title) + len(title) if title and text.find(title, 0, len(title) + 8) >= 0 else 0
    seen: set[int] = set()
    for words in names:
        anchor = max(words, key=len)
        at = text.find(anchor, start)
        while at >= 0 and len(seen) < _MAX_SENTENCES:
            ends = list(_END.finditer(text, max(start, at - _MAX_CHARS), at))
            first = ends[-1].end() if ends else start if at - start <= _MAX_CHARS else -1
            end = _END.search(text, at, at + _MAX_CHARS)
            last = end.start() if end else len(text)
            if first >= 0 and last - at <= _MAX_CHARS and first not in seen:
                seen.add(first)
                sentence = text[first:last].strip()
                if all(word in sentence for word in words) and text.count(_FENCE, 0, first) % 2 == 0:
                    yield sentence
            at = text.find(anchor, max(last, at + 1))


def parse_statement(position: int, sentence: str) -> Iterator[Statement]:
    """What a sentence states, if it is a plain statement."""
    has_digit = _DIGIT.search(sentence)
    if not (has_digit or any(mark in sentence for mark in _MARKS)) or _NOT_PLAIN.search(sentence):
        return
    quantities = list(_QUANTITY.finditer(sentence)) if has_digit else []
    if len(quantities) == 1:
        yield from _parse_quantity(position, sentence, quantities[0])
    elif not quantities:
        yield from _parse_polar(position, sentence)


def _parse_quantity(position: int, sentence: str, quantity: re.Match[str]) -> Iterator[Statement]:
    before, after, bound = sentence[: quantity.start()], sentence[quantity.end() :], ""
    for name, left, right in _BOUNDS:
        if left.search(before) or right.match(after):
            before, after, bound = left.sub("", before), right.sub("", after, 1), name
            break
    unit = re.sub("^.月|間$", lambda found: "か月" if "月" in found[0] else "", quantity[2]).removesuffix("s")
    parts = _SUBJECT_JA.fullmatch(before) or _SUBJECT_EN.match(before)
    subject = _words(parts[1]) if parts else _words(before + " " + after)
    rest = _words(f"{parts[2]} {after}") if parts else frozenset[str]()
    if subject:
        yield Statement(position, subject, f"{unit} {bound}", rest, f"{quantity[1].replace(',', '')} {unit}")


def _parse_polar(position: int, sentence: str) -> Iterator[Statement]:
    for name, negative, positive in _OPPOSITES:
        refused = negative.search(sentence)
        found = refused or positive.search(sentence)
        if found and (refused or not _DENIED.search(sentence)):
            words = _words(f"{sentence[: found.start()]} {sentence[found.end() :]}")
            words |= frozenset(_KANA.findall(sentence[: found.start()]))
            if len(words) > 1:
                yield Statement(position, words, name, frozenset(), f"not {name}" if refused else name)
            return


def _words(text: str) -> frozenset[str]:
    """The words that carry meaning, without endings."""
    return frozenset(_stem(word) for word in _WORD.findall(_MARKUP.sub(" ", text)) if word not in _STOP_WORDS)


def _stem(word: str) -> str:
    if word.isascii() and len(word) > 4:
        for ending in ("ing", "ed", "es", "s"):
            if word.endswith(ending) and not word.endswith("ss"):
                return word.removesuffix(ending)
    return word


def _is_specific(words: Iterable[str]) -> bool:
    """Whether the words say enough to mean the same thing elsewhere: "period" does not, "return period" does."""
    sizes = (1 + (len(word) > 11) if word.isascii() else len(word) / 1.5 for word in words)
    return sum(sizes) >= 2


def _contradict(corpus: ManualCorpus, first: Statement, second: Statement) -> bool:
    if first.value == second.value or first.position == second.position:
        return False
    return _same_case(first.rest, second.rest) and _same_context(corpus, first, second)


def _same_case(first: frozenset[str], second: frozenset[str]) -> bool:
    """The same other words; or one names only the moment from which a time is counted (商品到着後)."""
    only_moment = not (first and second) and all(word.endswith(("後", "日", "時")) for word in first | second)
    return first == second or only_moment


def _same_context(corpus: ManualCorpus, first: Statement, second: Statement) -> bool:
    """Whether the headings around two statements do not limit them to different things, such as two products."""
    one, two = corpus.sections[first.position], corpus.sections[second.position]
    if one.manual != two.manual:
        return False
    titles = corpus.titles[first.position], corpus.titles[second.position]
    parents = _parent_title(corpus, first.position), _parent_title(corpus, second.position)
    subject = first.subject | first.rest
    if titles[0] == titles[1]:
        scopes = [_scope(parent, subject) for parent in parents]
        return scopes[0] == scopes[1] or not all(scopes)
    names_it = any(_scope(title, subject) != _words(_PAGE_KIND.sub(" ", title)) for title in titles)
    is_parallel = _is_parallel(*titles, subject) or _is_parallel(*parents, subject)
    return names_it and not is_parallel and _is_specific(subject)


def _is_parallel(first: str, second: str, subject: frozenset[str]) -> bool:
    """Whether two headings name two things of one kind: two plans, two branches, two products."""
    one, two = _scope(first, subject), _scope(second, subject)
    if not one or not two or one == two:
        return False
    alike = any(a[:2] == b[:2] or a[-2:] == b[-2:] for a in one for b in two if not a.isascii() and not b.isascii())
    return bool(one & two) or alike or first.split()[-1:] == second.split()[-1:]


def _scope(title: str, subject: frozenset[str]) -> frozenset[str]:
    """What a heading adds to the subject: a product, a plan, a case of it."""
    words = _words(_PAGE_KIND.sub(" ", title))
    return frozenset(word for word in words if not any(word in each or each in word for each in subject))


def _parent_title(corpus: ManualCorpus, position: int) -> str:
    section = corpus.sections[position]
    parent = None if section.parent is None else corpus.positions.get((*section.file, section.parent))
    return "" if parent is None else corpus.titles[parent]
