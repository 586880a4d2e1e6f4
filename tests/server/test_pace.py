"""Progress: upwards only, a burst, then a trickle, and always the end."""

import math

from hypothesis import given
from hypothesis import strategies as st

from tokonoma.server.mcp.tool_call import BURST, PER_SECOND, ProgressLimiter


def test_a_short_burst_passes_whole():
    pace = ProgressLimiter()
    assert [pace.allows(step, 3, now=5.0) for step in range(4)] == [True] * 4


def test_a_flood_is_thinned_and_its_end_passes():
    pace = ProgressLimiter()
    told = [step for step in range(10_001) if pace.allows(step, 10_000, now=1.0)]
    assert told == [*range(int(BURST)), 10_000]


def test_it_recovers_with_time():
    pace = ProgressLimiter()
    told = sum(pace.allows(step, None, now=step / 1000) for step in range(10_000))  # ten seconds
    assert BURST <= told <= BURST + 10 * PER_SECOND + 1


@given(st.lists(st.floats() | st.integers(-5, 5)))
def test_what_is_told_always_rises(values):
    pace, told = ProgressLimiter(), []
    for moment, value in enumerate(values):
        if pace.allows(value, None, now=float(moment)):
            told.append(value)
    assert all(math.isfinite(value) for value in told)
    assert told == sorted(set(told))
