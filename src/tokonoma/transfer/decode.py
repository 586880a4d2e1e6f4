"""Bytes of somebody's file as text. Pure."""

import codecs

_BOMS = (  # the longer ones first: UTF-32's begins like UTF-16's
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_NAMES = {"cp932": "Shift_JIS", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16", "utf-32-le": "UTF-32"}
_SNIFF_BYTES = 8192
_OWN_PREFIX = b"---\ntokonoma:"  # a memo of ours, which may hold anything


class DecodingError(Exception):
    """The bytes are no text in any way that is tried here."""


def detect_encoding(start: bytes) -> str:
    """The encoding that a mark at the start of a file names; UTF-8 without one."""
    return next((name for mark, name in _BOMS if start.startswith(mark)), "utf-8")


def decode_text(raw: bytes) -> tuple[str, str]:
    """The text, and a word on its encoding if it was not plain UTF-8."""
    for mark, name in _BOMS:
        if raw.startswith(mark):
            return _decode_strictly(raw[len(mark) :], name), "" if name == "utf-8" else _describe_encoding(name)
    if b"\0" in raw[:_SNIFF_BYTES] and not raw.startswith(_OWN_PREFIX):
        raise DecodingError("It is not text (it holds NUL bytes).")
    try:
        return raw.decode(), ""
    except UnicodeDecodeError as error:
        try:
            return raw.decode("cp932"), _describe_encoding("cp932")
        except UnicodeDecodeError:
            raise DecodingError(f"It is not UTF-8 (byte {error.start}), nor Shift_JIS.") from None


def _decode_strictly(raw: bytes, name: str) -> str:
    try:
        return raw.decode(name)
    except UnicodeDecodeError as error:
        said = f"It says that it is {_NAMES.get(name, name.upper())}, and is not ({error.reason})."
        raise DecodingError(said) from None


def _describe_encoding(name: str) -> str:
    return f"It was read as {_NAMES.get(name, name.upper())}."
