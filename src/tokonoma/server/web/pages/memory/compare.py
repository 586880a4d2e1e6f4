"""Two texts as lines that stayed, came and went."""

import difflib
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

_LINES = 1_000  # that are compared one by one: beyond that, comparing takes too long
_SHOWN = 4_000  # lines of a comparison
_AROUND = 3


class DiffLine(NamedTuple):
    kind: str  # same, came, went, gap
    text: str


def compare_texts(old: str, new: str) -> list[DiffLine]:
    """Empty if both are the same."""
    before, after = old.splitlines(), new.splitlines()
    if before == after:
        return []
    if max(len(before), len(after)) > _LINES:
        return list(islice(_compare_roughly(before, after), _SHOWN))
    return list(islice(_compare_lines(before, after), _SHOWN))


def _compare_lines(before: Sequence[str], after: Sequence[str]) -> Iterable[DiffLine]:
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for number, group in enumerate(matcher.get_grouped_opcodes(_AROUND)):
        if number:
            yield DiffLine("gap", "")
        for kind, old_start, old_end, new_start, new_end in group:
            if kind == "equal":
                yield from (DiffLine("same", line) for line in before[old_start:old_end])
                continue
            yield from (DiffLine("went", line) for line in before[old_start:old_end])
            yield from (DiffLine("came", line) for line in after[new_start:new_end])


def _compare_roughly(before: Sequence[str], after: Sequence[str]) -> Iterable[DiffLine]:
    """One block, from the first line that differs to the last."""
    start = _count_equal(before, after)
    end = _count_equal(before[start:][::-1], after[start:][::-1])
    yield from (DiffLine("went", line) for line in before[start : len(before) - end])
    yield from (DiffLine("came", line) for line in after[start : len(after) - end])


def _count_equal(one: Sequence[str], other: Sequence[str]) -> int:
    count = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        count += 1
    return count
