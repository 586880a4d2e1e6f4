"""Completions: each place in a title, a tag or a description where a word begins, normalized. Pure."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

MAX_HINT_LENGTH = 64  # characters
_MAX_TITLE_HINTS = 24
_MAX_WORD_HINTS = 20  # of a title and a description

_KATAKANA = {code: code - 0x60 for code in range(0x30A1, 0x30F7)}
_KANJI = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# Where words are not set apart, one begins where the script changes; hiragana after kanji mostly ends a word.
_WORD = re.compile(
    rf"[{_KANJI}]+|[\u30a1-\u30fa\u30fc]+|[\uac00-\ud7a3]+|[\u3041-\u3096\u30fc]{{3,}}|[^\W_\u3041-\u30ff{_KANJI}\uac00-\ud7a3]+(?:[-_.'][^\W_\u3041-\u30ff{_KANJI}\uac00-\ud7a3]+)*"
)
_READING = re.compile(r"[（(]([\u3041-\u30fc・ ]{2,40}+)[）)]")
_HAN = re.compile(f"[{_KANJI}]")
_JAPANESE = re.compile(rf"[{_KANJI}\u3041-\u30fc]")


class Hint(NamedTuple):
    """A text that a query can be completed to, and the normalized beginning that leads to it."""

    folded: str
    kind: str  # title, tag, word
    shown: str


def normalize_hint(text: str) -> str:
    """By width, case and sound: トコノマ, とこのま and ﾄｺﾉﾏ are one."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().translate(_KATAKANA).split())


def build_hints(title: str, description: str, tags: Iterable[str]) -> list[Hint]:
    """Every place in a title, a tag or a description where a word begins, each once. Where a text tells how kanji are
    read, as 床の間（とこのま） does, the reading leads to them too."""
    words: dict[str, str] = {}
    for text in (title, description[:4000]):
        for word in _WORD.findall(text):
            if 2 <= len(word) <= MAX_HINT_LENGTH and not word.isdigit():
                words.setdefault(normalize_hint(word), word)
                if len(words) == _MAX_WORD_HINTS:
                    break
    starts = [0, *(word.start() for word in islice(_WORD.finditer(title), _MAX_TITLE_HINTS))]
    hints = [
        *(Hint(normalize_hint(tag)[:MAX_HINT_LENGTH], "tag", tag) for tag in tags),
        *(Hint(normalize_hint(title[start:])[:MAX_HINT_LENGTH], "title", title) for start in starts),
        *(Hint(folded, "word", word) for folded, word in words.items()),
        *(
            Hint(normalize_hint(reading)[:MAX_HINT_LENGTH], "word", written)
            for written, reading in _find_readings(f"{title}\n{description}"[:4000])
        ),
    ]
    return list(dict.fromkeys(hint for hint in hints if hint.folded))


def _find_readings(text: str) -> Iterator[tuple[str, str]]:
    for reading in _READING.finditer(text):
        start = reading.start()
        while start and start > reading.start() - 40 and _JAPANESE.match(text, start - 1):
            start -= 1
        first = _HAN.search(text, start, reading.start())
        if first is not None:
            yield text[first.start() : reading.start()], reading[1]
