"""Cursors come back as they went; anything else is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.core import cursor
from tokonoma.core.errors import Invalid


@given(st.text(max_size=5), st.lists(st.one_of(st.integers(), st.text()), max_size=4))
def test_a_cursor_comes_back_as_it_went(kind, position):
    assert cursor.decode(kind, cursor.encode(kind, *position)) == position


@given(st.text(max_size=60))
def test_a_foreign_cursor_is_refused_and_says_what_to_do(text):
    with pytest.raises(Invalid, match="first page"):
        cursor.decode("journal", text)


def test_a_cursor_of_another_list_is_refused():
    with pytest.raises(Invalid):
        cursor.decode("memos", cursor.encode("journal", 1))
