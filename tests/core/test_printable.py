"""Stored text that is shown: nothing of it steers a terminal, and JSON keeps its value."""

import json

import orjson
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.core.printable import escape_controls, escape_json, escape_line, measure_width, shorten

STEERING = [*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0)), *map(chr, range(0x2028, 0x202F)), "\u2066", "\u2069"]


def test_what_steers_becomes_visible():
    assert escape_controls("a\x1b]0;x\x07b\rc\x9b31m\u202ed\x7f") == r"a\x1b]0;x\x07b\rc\x9b31m\u202ed\x7f"
    assert escape_controls("a\tb\nc") == "a\tb\nc"
    assert escape_line("a\tb\nc") == r"a\tb\nc"
    assert escape_controls("half \udc9b") == r"half \udc9b"


def test_other_text_stays():
    for text in ("日本語 ｶﾅ 𠮟 👨\u200d👩\u200d👧", "שלום\u200f", "é\u00a0ü", "C:\\x1b"):
        assert escape_controls(text) == escape_line(text) == text


@given(st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from(STEERING)))
def test_nothing_that_steers_is_left(text):
    assert not set(STEERING) & set(escape_line(text))
    assert not (set(STEERING) - {"\n", "\t"}) & set(escape_controls(text))


@given(st.dictionaries(st.text(), st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from(STEERING))))
def test_json_keeps_its_value(value):
    for dumped in (json.dumps(value, ensure_ascii=False), json.dumps(value)):
        shown = escape_json(dumped)
        assert json.loads(shown) == value
        assert not set(STEERING) & set(shown) - {"\n"}
    assert orjson.loads(escape_json(dumped)) == value


def test_a_text_is_cut_to_columns():
    assert measure_width("ab床の間") == 8
    assert measure_width("e\u0301") == 1
    assert shorten("  two\n lines ", 20) == "two lines"
    assert shorten("床の間の軸", 10) == "床の間の軸"
    assert shorten("床の間の軸", 9) == "床の間の…"
    assert shorten("abcdef", 4) == "abc…"


@given(st.text(), st.integers(2, 40))
def test_a_cut_text_never_takes_more_columns(text, width):
    assert measure_width(shorten(text, width)) <= width
