"""How near two texts are: the fast bound is never below what is measured."""

from hypothesis import given
from hypothesis import strategies as st

from tokonoma.modules.memory.duplicates import TextShape, bound_overlap, measure_overlap

TEXTS = st.text("abc あい", max_size=60)


@given(TEXTS, TEXTS)
def test_the_bound_is_never_too_low(one, other):
    shapes = TextShape.build(one), TextShape.build(other)
    assert 0.0 <= measure_overlap(*shapes) <= bound_overlap(*shapes) <= 1.0
    assert measure_overlap(*shapes) == measure_overlap(*reversed(shapes))


@given(TEXTS)
def test_a_text_overlaps_with_itself_as_a_whole(text):
    shape = TextShape.build(text)
    assert measure_overlap(shape, shape) == bound_overlap(shape, shape) == 1.0


def test_other_texts_are_bounded_well_below():
    one, other = TextShape.build("the spare key is in the drawer"), TextShape.build("buy rice and miso on friday")
    assert bound_overlap(one, other) < 0.2
