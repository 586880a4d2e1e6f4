"""Private keys in PEM and its relatives, also when their beginning or their end is cut off."""

import re
from collections.abc import Iterator

_BEGIN = re.compile(r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}|Private-Lines: ?[0-9]{1,3}")
_END = re.compile(r"-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}|Private-MAC: ?[0-9a-f]{16,80}")
_STOP = re.compile(r"[^A-Za-z0-9+/=:,. \t\r\n\\\"'()@<>_-]")  # what ends a key that has an end
_CUT = re.compile(r"[^A-Za-z0-9+/=\t\n\f\r \\\"]|\n\n[A-Za-z]+ |[a-z] [a-z]")  # what ends a key that has none
_BODY = re.compile(r"[A-Za-z0-9+/=]{20}")


def has_key_marks(text: str) -> bool:
    """Whether a private key may begin or end somewhere: how far it reaches, only the whole text tells."""
    return _BEGIN.search(text) is not None or _END.search(text) is not None


def find_private_keys(text: str) -> Iterator[tuple[int, int]]:
    """From each beginning to the end that belongs to it, looked for once: time is in proportion to the text."""
    at, end, stop = 0, _END.search(text), -1
    while begin := _BEGIN.search(text, at):
        while end is not None and end.start() < begin.end():
            if end.start() >= at:
                yield from _find_tail(text, at, end)
            end = _END.search(text, end.end())
        if stop < begin.end():
            found = _STOP.search(text, begin.end())
            stop = found.start() if found else len(text)
        if end is not None and end.start() <= stop:
            at = end.end()
        else:
            cut = _CUT.search(text, begin.end())
            at = cut.start() if cut else len(text)
        if _BODY.search(text, begin.end(), at):  # a text about keys names the line without a key
            yield begin.start(), at
    while end is not None:
        if end.start() >= at:
            yield from _find_tail(text, at, end)
        end = _END.search(text, end.end())


def _find_tail(text: str, least: int, end: re.Match[str]) -> Iterator[tuple[int, int]]:
    """The lines before an end whose beginning is cut off."""
    start = end.start()
    while start > least:
        line = text.rfind("\n", least, start - 1) + 1 or least
        if not re.fullmatch(r"[A-Za-z0-9+/=]{1,80}\s{0,2}", text[line:start]):
            break
        start = line
    if start < end.start() and _BODY.search(text, start, end.start()):
        yield start, end.end()
