"""Merges two edits of one text by lines. Pure.

Lines that only one side has changed are taken from it. Where both sides have changed the same lines, or neighbouring
ones, the preferred side is taken and the merge says so.
"""

from collections.abc import Iterator, Sequence

from tokonoma.files.line_diff import match_lines


def merge_texts(base: str, preferred: str, other: str) -> tuple[str, bool]:
    """The merged text, and whether both sides have changed the same place in different ways."""
    old, left, right = base.split("\n"), preferred.split("\n"), other.split("\n")
    merged: list[str] = []
    clash = False
    for old_part, left_part, right_part in _split_by_common_lines(old, left, right):
        if right_part in (old_part, left_part):
            merged += left_part
        elif left_part == old_part:
            merged += right_part
        else:
            clash = True
            merged += left_part
    return "\n".join(merged), clash


def _split_by_common_lines(
    old: Sequence[str], left: Sequence[str], right: Sequence[str]
) -> Iterator[tuple[list[str], list[str], list[str]]]:
    """Parts that belong together in the three texts: lines that are in all of them, and what stands between these."""
    in_left, in_right = _find_kept(old, left), _find_kept(old, right)
    place = (0, 0, 0)
    for line in sorted(in_left.keys() & in_right.keys()):
        found = (line, in_left[line], in_right[line])
        if found != place:
            yield (
                list(old[place[0] : found[0]]),
                list(left[place[1] : found[1]]),
                list(right[place[2] : found[2]]),
            )
        yield [old[line]], [old[line]], [old[line]]
        place = (line + 1, in_left[line] + 1, in_right[line] + 1)
    yield list(old[place[0] :]), list(left[place[1] :]), list(right[place[2] :])


def _find_kept(old: Sequence[str], new: Sequence[str]) -> dict[int, int]:
    """Where each line of the old text is in the new one, if it stayed."""
    blocks = match_lines([_to_key(line) for line in old], [_to_key(line) for line in new])
    return {block.old + number: block.new + number for block in blocks for number in range(block.size)}


def _to_key(line: str) -> bytes:
    return line.encode("utf-8", "surrogatepass")
