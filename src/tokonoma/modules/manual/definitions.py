"""Other names that a manual's prose defines: "Long Name (LN)", 「以下『本契約』という」. Pure functions.

Code defines nothing: `route("main")` is a call, and the table of a function's arguments describes values.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import product

from tokonoma.core.normalize import HAN, normalize
from tokonoma.files.links import remove_comments
from tokonoma.modules.manual.sounds import english_consonants, join_sounds, katakana_consonants

_FENCE = re.compile(r"[ \t>]*+(?:[-+*][ \t]++|\d{1,9}[.)][ \t]++)?(`{3,}+|~{3,}+)")
_NOT_PROSE = re.compile(
    r"\]\([^()\s]*+(?:[ \t][^()\n]*+)?\)"  # the target of a link; its label stays
    r"|<[^<>\n]*+>|\{\{[^{}\n]*+\}\}|\b(?:https?|ftp|file)://[^\s()]*+"
)
_BACKTICKS = re.compile("`++")
_MARKS = str.maketrans("", "", "*[]")
_CODE = "\x01"  # in the place of code: no name contains it

# Definitions in a normalized text: its brackets are ASCII; 「」 and 『』 stay as they are.
_BRACKETS = re.compile(r"\(([^()]{2,70})\)")
_MAX_PARTS = 4  # of a name
_BEFORE = 90  # characters before a bracket that may belong to what it explains
_LATIN_NAME = re.compile(r"[a-z][a-z0-9 .'/-]*\Z")
_ABBREVIATION = re.compile(r"[a-z][a-z0-9/-]{1,9}\Z")
_LAST_LATIN = re.compile(r"[a-z][a-z0-9_'/-]*(?:[ -][a-z][a-z0-9_'/-]*){0,7}\Z")
_LAST_JAPANESE = re.compile(f"[{HAN}ァ-ヺー][{HAN}ァ-ヺーa-z0-9]{{1,29}}\\Z")
_ALL_JAPANESE = re.compile(f"[{HAN}ァ-ヺー]{{2,30}}\\Z")
_ALL_KANA = re.compile("[ァ-ヺー]+\\Z")
_LAST_ANY = re.compile(r"[^\s。、,.「」『』()]{2,40}\Z")
# Words that are often in brackets and name nothing.
_REMARK = re.compile(
    r"(?:optional|required|recommended|deprecated|default|alpha|beta|stable|experimental|example|note|see|new|old|etc|e\.g|i\.e|"
    r"オプション|必須|推奨|非推奨|任意|デフォルト|既定|例|注|参照|ベータ|アルファ|安定版|旧|新|省略可|複数可|以上|以下|上記|下記)[\w.]*\Z"
)
# A remark on a word, not another name of it: container (パス内).
_PLACE = re.compile("[内時中後前用等外数版製別側名]\\Z")
# The words from which on a name may start: "… is the service agreement (the "Agreement")".
_NOT_IN_NAMES = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be by can do for from has have in into is it its of on or our that the these this to used"
        " uses using was were which will with you your",
    )
)
_HEREAFTER = re.compile(r"(?:以下|以後)[、,]?(?:単に)?[「『]([^」』]{1,30})[」』]")
_HEREAFTER_EN = re.compile(
    r"(?:hereinafter|hereafter|herein)?,? ?(?:referred to as |called )?(?:the )?[\"“']([a-z][\w -]{1,40})[\"”']\Z"
)


def find_definitions(own: str) -> Iterator[tuple[str, str]]:
    """The pairs that the prose of a section defines to mean one thing."""
    folded = " ".join(normalize(_extract_prose(own)).split())
    for bracket in _BRACKETS.finditer(folded):
        start = bracket.start()
        if folded[start - 1 : start].isascii() and folded[start - 1 : start] not in (" ", ""):
            continue  # a call, or a plural: name(s)
        before = folded[max(0, start - _BEFORE) : start].rstrip()
        pair = _parse_definition(before, bracket[1].strip())
        if pair is not None and not _REMARK.match(pair[0]) and not _REMARK.match(pair[1]):
            yield pair


def _extract_prose(own: str) -> str:
    """A section without code, tables, comments, tags and addresses. Emphasis and the labels of links stay as text."""
    lines: list[str] = []
    fence, after_blank = "", True
    for line in remove_comments(own).split("\n"):
        mark = _FENCE.match(line)
        if fence:
            fence = "" if mark and mark[1].startswith(fence) else fence
            continue
        is_code = mark is not None or (after_blank and line.startswith(("    ", "\t"))) or _is_row(line)
        fence = mark[1] if mark else ""
        after_blank = not line.strip() or (is_code and not fence)
        lines.append(_CODE if is_code else line)
    return _NOT_PROSE.sub(" ", _remove_inline_code("\n".join(lines))).translate(_MARKS)


def _is_row(line: str) -> bool:
    """Of a table."""
    return line.lstrip().startswith("|") or " | " in line


def _remove_inline_code(text: str) -> str:
    return "\n\n".join(_remove_code_spans(paragraph) for paragraph in text.split("\n\n"))


def _remove_code_spans(paragraph: str) -> str:
    """A code span ends at the next run of as many backticks; a run without such an end is text."""
    runs = [run.span() for run in _BACKTICKS.finditer(paragraph)]
    closing: list[int | None] = []
    latest: dict[int, int] = {}
    for index in range(len(runs) - 1, -1, -1):
        length = runs[index][1] - runs[index][0]
        closing.append(latest.get(length))
        latest[length] = index
    closing.reverse()
    parts: list[str] = []
    at = index = 0
    while index < len(runs):
        end = closing[index]
        if end is not None:
            parts += [paragraph[at : runs[index][0]], _CODE]
            at, index = runs[end][1], end
        index += 1
    return "".join([*parts, paragraph[at:]])


def _parse_definition(before: str, inside: str) -> tuple[str, str] | None:
    hereafter = _HEREAFTER.search(inside)
    if hereafter:
        named = _LAST_ANY.search(before)
        return (named[0], hereafter[1]) if named else None
    hereafter = _HEREAFTER_EN.match(inside)
    if hereafter:
        named = _LAST_LATIN.search(before)
        name = _cut_name(named[0].split()) if named else ""
        return (name, hereafter[1]) if name else None
    if _LATIN_NAME.match(inside):
        return _parse_latin(before, inside)
    latin = _LAST_LATIN.search(before) if _ALL_JAPANESE.match(inside) and not _PLACE.search(inside) else None
    if latin is None:
        return None
    words = latin[0].split()
    count = _count_words(inside, words)
    return (" ".join(words[-count:]), inside) if count else None


def _cut_name(words: Sequence[str]) -> str:
    """The last words that can be a name: two or three."""
    for index, word in enumerate(reversed(words[-4:])):
        if word in _NOT_IN_NAMES or index == 3:
            return " ".join(words[len(words) - index :]) if index > 1 else ""
    return " ".join(words) if len(words) > 1 else ""


def is_certain(one: str, other: str) -> bool:
    """Whether letters or sounds show that both are one name. Kanji and English show nothing: 検索 (google)."""
    return one.isascii() == other.isascii() or _ALL_KANA.match(other if one.isascii() else one) is not None


def _parse_latin(before: str, inside: str) -> tuple[str, str] | None:
    """A Latin name in brackets: the abbreviation of the words before it, their expansion, or their English."""
    japanese = _LAST_JAPANESE.search(before)
    if japanese:
        return (japanese[0], inside) if _is_same_name(japanese[0], inside) else None
    named = _LAST_LATIN.search(before)
    if named is None:
        return None
    if _ABBREVIATION.match(inside):
        long = _find_expansion(named[0], inside.removesuffix("s") if len(inside) > 3 else inside)
        if long:
            return long, inside
    short = named[0].split()[-1]
    return (inside, short) if _ABBREVIATION.match(short) and _find_expansion(inside, short) == inside else None


def _is_same_name(japanese: str, latin: str) -> bool:
    """Katakana shows the sound of a word, so トラフィック(ingress) defines nothing. The letters of an abbreviation must
    be heard in order. Kanji do not show a sound and are always accepted."""
    if not _ALL_KANA.match(japanese):
        return True
    sound = katakana_consonants(japanese)
    if _sounds_like(re.findall("[a-z]+", latin)[:_MAX_PARTS], sound):
        return True
    sounds = english_consonants(latin) or ("",)
    return _ABBREVIATION.match(latin) is not None and any(_is_subsequence(each, sound) for each in sounds)


def _sounds_like(words: Sequence[str], sound: str) -> bool:
    return any(join_sounds(each) == sound for each in product(*map(english_consonants, words)))


def _find_expansion(long: str, short: str) -> str:
    """The last words of `long` whose initials are `short`, or that start with it and contain its letters in order."""
    words = re.split(r"[ -]", long)
    letters = re.sub(r"[^a-z0-9]", "", short)
    for count in range(min(len(letters), len(words)), 0, -1):
        chosen = words[-count:]
        if "".join(word[:1] for word in chosen) == letters:
            return " ".join(chosen)
    for count in range(min(len(letters), len(words)), 1, -1):
        chosen = words[-count:]
        if chosen[0][:1] == letters[:1] and count * 2 >= len(letters) and _is_subsequence(letters, "".join(chosen)):
            return " ".join(chosen)
    return ""


def _is_subsequence(letters: str, text: str) -> bool:
    rest = iter(text)
    return all(letter in rest for letter in letters)


def _count_words(name: str, words: Sequence[str]) -> int:
    """How many of the last words a bracketed Japanese name means: by their sound if it is in kana, else three."""
    if not _ALL_KANA.match(name):
        return min(3, len(words))
    sound = katakana_consonants(name)
    counts = range(1, min(4, len(words)) + 1)
    return next((count for count in counts if sound and _sounds_like(words[-count:], sound)), 0)
