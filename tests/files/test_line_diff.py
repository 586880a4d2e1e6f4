"""Lines that stayed after an edit, against a plain comparison."""

import random
import time

from hypothesis import given
from hypothesis import strategies as st

from tokonoma.files.line_diff import find_replaced, hash_lines, match_lines, move_ranges, split_hashes

TEXTS = st.lists(st.sampled_from([b"a", b"b", b"c", b"", b"d", b"e"]), max_size=30)


@given(TEXTS, TEXTS)
def test_matched_lines_are_equal_rise_and_do_not_overlap(old, new):
    at = place = 0
    for block in match_lines(old, new):
        assert block.old >= at
        assert block.new >= place
        assert old[block.old : block.old + block.size] == new[block.new : block.new + block.size]
        at, place = block.old + block.size, block.new + block.size


@given(st.lists(st.integers(0, 500), unique=True, max_size=40), st.data())
def test_lines_that_occur_once_are_all_found_after_inserting_and_deleting(numbers, data):
    old = [str(number).encode() for number in numbers]
    new = [line for line in old if data.draw(st.booleans())]
    for _ in range(data.draw(st.integers(0, 5))):
        new.insert(data.draw(st.integers(0, len(new))), b"new")
    kept = {block.old + step: block.new + step for block in match_lines(old, new) for step in range(block.size)}
    assert {old[at] for at in kept} == set(old) & set(new)
    ranges = [(at + 1, at + 1) for at in kept]
    moved = {line for start, end in move_ranges(ranges, match_lines(old, new)) for line in range(start, end + 1)}
    assert moved == {place + 1 for place in kept.values()}


def test_a_replaced_line_is_known_and_an_inserted_one_is_not():
    old, new = [b"a", b"b", b"c"], [b"new", b"a", b"changed", b"c"]
    blocks = match_lines(old, new)
    assert find_replaced([(2, 2)], blocks, 3, 4) == [(3, 3)]
    assert find_replaced([(1, 1)], blocks, 3, 4) == []


def test_line_ends_do_not_matter_and_every_letter_does():
    assert hash_lines(["a\r\n", "b"]) == hash_lines(["a\n", "b\n"])
    one, other = split_hashes(hash_lines(["30 days", "300 days"]))
    assert one != other


def test_a_large_file_of_equal_lines_is_compared_quickly():
    rng = random.Random(5)
    old = [rng.choice([b"", b"x", b"y"]) for _ in range(50_000)]
    new = [*old[:20_000], b"z", *old[20_001:]]
    rng.shuffle(new[30_000:])
    before = time.thread_time()
    match_lines(old, new)
    match_lines(old, old[::-1])
    assert time.thread_time() - before < 3
