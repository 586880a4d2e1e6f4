"""Text made comparable. Pure, linear in the text's length, and total: any str goes in, lone surrogates and NULs too.

tidy    width, compatibility forms, accents, dashes, and the spellings of kana and kanji that are one word; case kept
fold    the first form: tidy, and case folded. What a reader takes for the same text
loosen  the second form: kana by their sound, okurigana, hyphens, dots, brackets and slashes joined as well
"""

import re
import unicodedata

from tokonoma.core.spellings import COMPANIES, KANA, KANJI, LETTERS, SOUNDS, VU

HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
HIRAGANA = "\u3041-\u3096\u309d-\u309f"
KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff"
HANGUL = "\uac00-\ud7a3"

# A run of combining marks is sorted by the interpreter in quadratic time: beyond 30 in a row (Unicode's own
# "stream-safe" bound) they are dropped. The first pattern finds where to look at all, and skips ordinary text quickly.
_UNCOMMON = re.compile("[^\u0000-\u02ff\u3000-\u3029\u3030-\u3098\u309b-\uabff\uac00-\ud7a3\uff00-\uffef]{31,}")
_MARKS_KEPT = 30

_ODD = re.compile(
    "["
    "\ud800-\udfff\u0000-\u0008\u000e-\u001f\u007f-\u009f"  # halves of pairs and control characters
    "\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff"  # what is not seen
    "\ufff9-\ufffb\U000e0000-\U000e0fff"
    "\u2010-\u2015\u2043\u2212\u2018\u2019\u201b\u02bc\u2032"  # dashes and apostrophes
    "\u00c0-\u024f\u0300-\u036f\u0370-\u03ff\u1e00-\u1fff"  # Latin and Greek letters, loose accents
    "\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u0660-\u0669\u06f0-\u06f9\u0966-\u096f"
    + "".join(KANA | KANJI | LETTERS)
    + "]"
)
_DASHES = frozenset("\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212")
_APOSTROPHES = frozenset("\u2018\u2019\u201b\u02bc\u2032")
_VU = re.compile("ヴ[ァィェォュ]?|ゔ")
_COMPANY = re.compile(r"\([株有]\)")

# データ・ベース, データ-ベース, アン=マリー
_JOINED = re.compile("(?<=[ァ-ヺー])[・=-](?=[ァ-ヺ])")
# サーバー/サーバ: a long vowel at the end of a katakana word of four characters or more. カバー is not カバ.
_LONG_END = re.compile("(?<=[ァ-ヺー]{3})ー+(?![ァ-ヺー])")
# Often left out between two kanji: 申し込み/申込み, 受け付け/受付. に, へ and で are particles there.
OKURIGANA = "いきぎしじちびみりえけげせめれべ"
_OKURIGANA = re.compile(f"(?<=[{HAN}])[{OKURIGANA}](?=[{HAN}])")
_PUNCTUATION = re.compile(r"[^\w\s.]+|_+|(?<!\d)\.+|\.+(?!\d)")
_SPACES = re.compile(r"\s+")
_SPACE_BESIDE = re.compile(f" (?=[{HAN}ぁ-ヿ])|(?<=[{HAN}ぁ-ヿ]) ")


class _Replacements(dict[str, str]):
    """Odd character → what stands for it; each is worked out once."""

    def __missing__(self, odd: str) -> str:
        plain = self[odd] = _find_replacement(odd)
        return plain


def _find_replacement(odd: str) -> str:
    if odd in _DASHES:
        return "-"
    if odd in _APOSTROPHES:
        return "'"
    if odd.isdigit() and not odd.isascii():
        return str(unicodedata.digit(odd))
    kind = unicodedata.category(odd)
    if kind in {"Cs", "Cc"}:
        return " "
    if kind in {"Mn", "Cf", "Lm"}:
        return ""
    base = unicodedata.normalize("NFD", odd)[:1]
    return LETTERS.get(base, base) if base.isalpha() else odd


_replacements = _Replacements(KANA | KANJI | LETTERS)


def normalize_case(text: str) -> str:
    """One spelling for what differs in width, accents, dashes, long vowels, kana and kanji variants. Case is kept."""
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", _UNCOMMON.sub(_limit_marks, text))
    text = _ODD.sub(_replace_match, text)
    if "ヴ" in text or "ゔ" in text:
        text = _VU.sub(lambda found: VU[found[0]], text)
    if "(" in text:
        text = _COMPANY.sub(lambda found: COMPANIES[found[0]], text)
    return _LONG_END.sub("", _JOINED.sub("", text))


def normalize(text: str) -> str:
    """The first form: tidy and without case. fold(fold(text)) == fold(text)."""
    if text.isascii():
        return text.lower()
    # Folding case can undo a composition and composing can bring a capital back: both settle within a few rounds.
    for _ in range(4):
        before, text = text, normalize_case(text).casefold()
        if text == before:
            break
    return text


def normalize_loose(text: str) -> str:
    """The second form: what a patient reader still takes for the same word. loosen(loosen(text)) == loosen(text)."""
    text = _SPACES.sub(" ", _PUNCTUATION.sub("", normalize(text))).strip()
    text = _OKURIGANA.sub("", _SPACE_BESIDE.sub("", text))
    return _LONG_END.sub("", text.translate(SOUNDS))


def _replace_match(found: re.Match[str]) -> str:
    return _replacements[found[0]]


def _limit_marks(found: re.Match[str]) -> str:
    kept: list[str] = []
    marks = 0
    for character in found[0]:
        marks = marks + 1 if unicodedata.combining(character) else 0
        if marks <= _MARKS_KEPT:
            kept.append(character)
    return "".join(kept)
