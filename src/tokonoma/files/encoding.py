"""Which encoding a file is in: UTF-8, or one that Japanese files are found in. Pure functions.

A guess must be sure: a file that is read in a wrong encoding is searched in vain, without a sign of it. Japanese text
is recognised by its kana, which every sentence has, and by its kanji, nearly all of which are common ones. Bytes of
another language decode to rare kanji, half-width katakana and hardly any kana.
"""

import codecs
import re
from functools import lru_cache
from itertools import islice
from typing import Literal, NamedTuple

Encoding = Literal["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "cp932", "euc_jp", "iso2022_jp_ext"]
Obstacle = Literal["not_text", "encoding"]
"""Why a file is not read as text: it is none, or its encoding is unknown"""

ENCODING_NAMES: dict[Encoding, str] = {
    "utf-8": "UTF-8",
    "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16",
    "utf-32-le": "UTF-32",
    "utf-32-be": "UTF-32",
    "cp932": "Shift_JIS",
    "euc_jp": "EUC-JP",
    "iso2022_jp_ext": "ISO-2022-JP",
}
_MARKS: tuple[tuple[bytes, Encoding], ...] = (  # UTF-32 first: its mark begins like that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\f\r\x1b"))
_ESCAPE = b"\x1b$"  # what follows are characters of two bytes
_OTHER_RUNS = re.compile(r"[^\x00-\x7f]+")
_HALF_WIDTH = re.compile(r"[\uff61-\uff9f]")
_KANA = re.compile(r"[\u3041-\u3096\u30a1-\u30fa\u30fc]")
_SIGNS = re.compile(r"[\u3000-\u303f\u30fb\uff01-\uff5e\u2010-\u2026\u2190-\u2193\u2500-\u25ff\u2460-\u2473]")
_SAMPLE = 20_000  # characters that are looked at
_MIN_KANA, _MIN_KANA_SHARE, _MIN_COMMON_SHARE = 3, 0.1, 0.95


class DecodedText(NamedTuple):
    text: str
    encoding: Encoding


def decode_bytes(data: bytes) -> DecodedText | Obstacle:
    """The text of a file and its encoding. A mark at its start is part of a UTF-8 text, and of no other."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            text = _decode(data[len(mark) :], encoding)
            return DecodedText(text, encoding) if text is not None and "\0" not in text else "not_text"
    if b"\0" in data:
        return _guess_utf16(data) or "not_text"
    text = _decode(data, "utf-8")
    if text is not None:
        return _guess_escaped(data) or DecodedText(text, "utf-8")
    if data.translate(None, _CONTROLS) != data:
        return "not_text"
    return _guess_japanese(data) or "encoding"


def _decode(data: bytes, encoding: Encoding) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None


def _guess_escaped(data: bytes) -> DecodedText | None:
    if _ESCAPE[:1] not in data or _ESCAPE not in data or not data.isascii():  # a single byte is found much faster
        return None
    text = _decode(data, "iso2022_jp_ext")
    return DecodedText(text, "iso2022_jp_ext") if text is not None and not text.isascii() else None


def _guess_utf16(data: bytes) -> DecodedText | None:
    """Without a mark, it shows by the NUL in every ASCII character; line ends at least are such."""
    encodings: tuple[Encoding, ...] = ("utf-16-le", "utf-16-be")
    for encoding in encodings:
        text = _decode(data, encoding)
        if text is not None and "\0" not in text and _is_common(text):
            return DecodedText(text, encoding)
    return None


def _guess_japanese(data: bytes) -> DecodedText | None:
    encodings: tuple[Encoding, ...] = ("cp932", "euc_jp")
    guesses: list[DecodedText] = []
    for encoding in encodings:
        text = _decode(data, encoding)
        if text is not None and _is_japanese(text):
            guesses.append(DecodedText(text, encoding))
    return guesses[0] if len(guesses) == 1 else None  # both: it cannot be decided


def _is_japanese(text: str) -> bool:
    """Half-width katakana says nothing: it is what many bytes of other encodings look like."""
    runs = islice((run[0] for run in _OTHER_RUNS.finditer(text)), _SAMPLE)
    sample = _HALF_WIDTH.sub("", "".join(runs)[:_SAMPLE])
    kana = len(_KANA.findall(sample))
    return kana >= max(_MIN_KANA, _MIN_KANA_SHARE * len(sample)) and _share_common(sample) >= _MIN_COMMON_SHARE


def _is_common(text: str) -> bool:
    """Whether it is made of ASCII, Latin letters and common Japanese characters."""
    sample = text[:_SAMPLE]
    others = "".join(_OTHER_RUNS.findall(sample))
    plain = sum(character.isprintable() or character in "\t\n\f\r" for character in sample if character < "\x80")
    latin = sum("\xa0" <= character < "\u0250" for character in others)
    return plain + latin + _share_common(others) * len(others) >= _MIN_COMMON_SHARE * len(sample)


def _share_common(sample: str) -> float:
    common, found = _common_kanji(), len(_KANA.findall(sample)) + len(_SIGNS.findall(sample))
    return (found + sum(character in common for character in sample)) / max(1, len(sample))


@lru_cache(maxsize=1)
def _common_kanji() -> frozenset[str]:
    """The 2 965 kanji of the first level of JIS X 0208."""
    pairs = (bytes([row, cell]) for row in range(0xB0, 0xD0) for cell in range(0xA1, 0xFF))
    return frozenset(text for pair in pairs if (text := _decode(pair, "euc_jp")))
