"""Where the words of a query are in a text."""

from hypothesis import given
from hypothesis import strategies as st

from tokonoma.core.query import find_terms


def find_words(text, query):
    return [text[start:end] for start, end in find_terms(text, query)]


def test_words_are_found_whatever_their_case_and_only_where_they_begin():
    assert find_words("The Kettle, kettles and a teakettle.", "KETTLE") == ["Kettle", "kettle"]
    assert find_words("snake_case and case", "case") == ["case", "case"]
    assert find_words("3 of 13 and 30", "3") == ["3", "3"]
    assert find_words("nothing", "") == []


def test_japanese_is_found_by_pairs_that_are_joined():
    assert find_words("床の間の掛け軸を替える", "掛け軸") == ["掛け軸"]
    assert find_words("軸", "軸") == ["軸"]


def test_letters_that_grow_when_folded_do_not_move_the_places():
    assert find_words("ßßß kettle", "kettle") == ["kettle"]
    assert find_words("İİ kettle", "kettle") == ["kettle"]


@given(st.text(), st.text(max_size=20))
def test_places_are_in_order_and_do_not_touch(text, query):
    last = -1
    for start, end in find_terms(text, query):
        assert last < start < end <= len(text)
        last = end
