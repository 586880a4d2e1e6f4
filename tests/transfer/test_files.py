"""Bytes as text: UTF-8 first, then what a mark says, then Shift_JIS."""

import codecs

import pytest

from tokonoma.transfer.files import decode_text
from tokonoma.transfer.model import SourceError

TEXT = "床の間に掛ける軸\n"


@pytest.mark.parametrize(
    ("raw", "word"),
    [
        (TEXT.encode(), ""),
        (codecs.BOM_UTF8 + TEXT.encode(), ""),
        (TEXT.encode("cp932"), "Shift_JIS"),
        (codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"), "UTF-16"),
        (codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"), "UTF-16"),
        (codecs.BOM_UTF32_LE + TEXT.encode("utf-32-le"), "UTF-32"),
    ],
)
def test_it_is_read_and_said_how(raw, word):
    text, said = decode_text(raw)
    assert text == TEXT
    assert (word in said) if word else said == ""


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "not text"),
        (b"caf\xe9\xff", "not UTF-8 (byte 3)"),
        (codecs.BOM_UTF16_LE + b"a", "is not valid UTF-16"),
    ],
)
def test_what_is_no_text_is_refused_with_a_reason(raw, why):
    with pytest.raises(SourceError) as error:
        decode_text(raw)
    assert why in str(error.value)
