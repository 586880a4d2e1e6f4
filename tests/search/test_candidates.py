"""Neighbours of a thread lend each other their nearness."""

from hypothesis import given
from hypothesis import strategies as st

from tokonoma.search.candidates import blend_with_neighbours, weigh_neighbours

SEATS = {10: ("t", 0), 11: ("t", 1), 12: ("t", 2), 13: ("t", 3), 20: ("u", 1), 21: ("u", 3)}


def test_who_sits_around_whom():
    assert weigh_neighbours([11, 20, 99], SEATS) == {11: {10: 0.4, 12: 0.4, 13: 0.2}, 20: {21: 0.2}}


def test_a_turn_between_two_that_answer_is_raised():
    around = weigh_neighbours([11], SEATS)[11]
    assert blend_with_neighbours(0.1, around, {10: 0.9, 12: 0.9}) > 0.35
    assert blend_with_neighbours(0.1, around, {}) == 0.1


@given(st.floats(0, 1), st.dictionaries(st.sampled_from(list(SEATS)), st.floats(0, 1)))
def test_nobody_loses_by_having_neighbours(own, shares):
    for around in weigh_neighbours(SEATS, SEATS).values():
        assert own <= blend_with_neighbours(own, around, shares) <= max(own, *shares.values(), 0.0) + 1e-9
