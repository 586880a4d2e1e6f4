"""Ranges of lines, against brute force."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tokonoma.files.ranges import count_lines, find_gaps, intersect_ranges, merge_ranges, subtract_ranges

RANGES = st.lists(st.tuples(st.integers(1, 40), st.integers(0, 10)).map(lambda pair: (pair[0], pair[0] + pair[1])))


def lines(ranges) -> set[int]:
    return {line for start, end in ranges for line in range(start, end + 1)}


@given(RANGES)
def test_merged_ranges_hold_the_same_lines_and_do_not_touch(ranges):
    merged = merge_ranges(ranges)
    assert lines(merged) == lines(ranges)
    assert count_lines(merged) == len(lines(ranges))
    assert all(after[0] > before[1] + 1 for before, after in pairwise(merged))


@given(st.integers(0, 60), RANGES)
def test_gaps_are_the_lines_that_no_range_holds(total, ranges):
    assert lines(find_gaps(total, ranges)) == set(range(1, total + 1)) - lines(ranges)


@given(RANGES, RANGES)
def test_common_and_remaining_lines(one, other):
    assert lines(intersect_ranges(one, other)) == lines(one) & lines(other)
    assert lines(subtract_ranges(one, other)) == lines(one) - lines(other)
