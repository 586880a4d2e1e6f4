"""Times: formatted and parsed without loss."""

from hypothesis import given
from hypothesis import strategies as st

from tokonoma.core import clock


@given(st.integers(min_value=0, max_value=253402300799999))
def test_times_come_back_to_the_millisecond(moment):
    assert clock.parse_time(clock.format_time(moment)) == moment
