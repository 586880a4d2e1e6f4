"""What suggestions are made of: every place in a title, a tag or a description where a word begins. Pure.

Text is folded by width, case and sound, so that トコノマ, とこのま and ﾄｺﾉﾏ are one. Where a text tells how kanji are
read, as 床の間（とこのま） does, the reading leads to them too.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

MAX_TITLE_HINTS = 24
MAX_WORD_HINTS = 20  # of a description
MAX_HINT_LENGTH = 64  # characters of a beginning: nobody types more before choosing

_KATAKANA = {code: code - 0x60 for code in range(0x30A1, 0x30F7)}
_KANJI = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# Where words are not set apart, one begins where the script changes; hiragana after kanji mostly ends a word.
_WORD = re.compile(
    rf"[{_KANJI}]+|[\u30a1-\u30fa\u30fc]+|[\uac00-\ud7a3]+|[\u3041-\u3096\u30fc]{{3,}}|[^\W_\u3041-\u30ff{_KANJI}\uac00-\ud7a3]+(?:[-_.'][^\W_\u3041-\u30ff{_KANJI}\uac00-\ud7a3]+)*"
)
_READ = re.compile(rf"([{_KANJI}][{_KANJI}\u3041-\u30fc]*)[（(]([\u3041-\u30fc・ ]{{2,40}})[）)]")


class Hint(NamedTuple):
    folded: str
    kind: str  # title, tag, word
    shown: str


def normalize_hint(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().translate(_KATAKANA).split())


def build_hints(title: str, description: str, tags: tuple[str, ...]) -> list[Hint]:
    """Each once."""
    found: dict[Hint, None] = {}
    for hint in (
        *_build_tag_hints(tags),
        *_build_title_hints(title),
        *_build_word_hints(title, description),
        *_build_reading_hints(f"{title}\n{description}"),
    ):
        if hint.folded:
            found[hint] = None
    return list(found)


def _build_tag_hints(tags: tuple[str, ...]) -> Iterator[Hint]:
    for tag in tags:
        yield Hint(normalize_hint(tag)[:MAX_HINT_LENGTH], "tag", tag)


def _build_title_hints(title: str) -> Iterator[Hint]:
    yield Hint(normalize_hint(title)[:MAX_HINT_LENGTH], "title", title)
    for number, word in enumerate(_WORD.finditer(title)):
        if number == MAX_TITLE_HINTS:
            return
        yield Hint(normalize_hint(title[word.start() :])[:MAX_HINT_LENGTH], "title", title)


def _build_word_hints(title: str, description: str) -> Iterator[Hint]:
    seen: dict[str, str] = {}
    for text in (title, description[:4000]):
        for word in _WORD.findall(text):
            if 2 <= len(word) <= MAX_HINT_LENGTH and not word.isdigit():
                seen.setdefault(normalize_hint(word), word)
                if len(seen) == MAX_WORD_HINTS:
                    break
    for folded, word in seen.items():
        yield Hint(folded, "word", word)


def _build_reading_hints(text: str) -> Iterator[Hint]:
    for written, read in _READ.findall(text[:4000]):
        yield Hint(normalize_hint(read)[:MAX_HINT_LENGTH], "word", written)
