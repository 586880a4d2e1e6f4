"""Times: formatted and parsed without loss."""

from hypothesis import given
from hypothesis import strategies as st

from tokonoma.core import clock


@given(st.integers(min_value=0, max_value=253402300799999))
def test_times_come_back_to_the_millisecond(moment):
    assert clock.parse_time(clock.format_time(moment)) == moment


DAY = 86_400_000


def test_the_time_does_not_go_back_with_the_clock_and_goes_on(frozen_clock, monkeypatch):
    ticks = 0
    monkeypatch.setattr(clock.time, "monotonic_ns", lambda: ticks)
    before = clock.now()
    frozen_clock.advance(-3_600_000)
    assert clock.now() == before
    ticks += 10_000 * 1_000_000
    assert clock.now() == before + 5_000  # at half speed
    frozen_clock.advance(3_600_000 + 6_000)
    assert clock.now() == before + 6_000  # the clock has caught up


def test_a_clock_that_was_far_ahead_is_corrected(frozen_clock):
    right = frozen_clock.at
    frozen_clock.advance(400 * DAY)
    assert clock.now() == right + 400 * DAY
    frozen_clock.at = right
    assert clock.now() == right


def test_a_process_goes_on_from_what_the_store_has_seen(frozen_clock):
    clock.continue_from(frozen_clock.at + 3_600_000)
    assert clock.now() >= frozen_clock.at + 3_600_000
    ahead = clock.now()
    clock.continue_from(frozen_clock.at)
    assert clock.now() >= ahead
    clock.continue_from(frozen_clock.at + 8 * DAY)  # no time that could be right
    assert clock.now() < frozen_clock.at + DAY
