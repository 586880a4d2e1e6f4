"""Patterns of RE2 over texts: compiled once, and their matches as places in the text.

RE2 needs time linear in the length of the text for any pattern, so it can also run the patterns of a policy.
"""

from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any, cast

from tokonoma.core.concurrency import check_running_call
from tokonoma.policy.detections import Detector, MatchCheck, Nature


def load_re2() -> Any:
    """RE2 has no types. It takes 3 MB of memory, so it is imported when it is needed."""
    import re2

    return re2


@lru_cache(maxsize=1024)
def compile_pattern(pattern: str) -> Any:
    """Raises ValueError with the reason if RE2 rejects the pattern."""
    try:
        return load_re2().compile(pattern, build_options())
    except load_re2().error as error:
        said: Any = error.args[0] if error.args else ""
        raise ValueError(said.decode() if isinstance(said, bytes) else str(said)) from None


def build_options() -> Any:
    options: Any = load_re2().Options()
    options.log_errors = False
    options.max_mem = 8 << 20
    return options


def build_detector(
    kind: str,
    nature: Nature,
    hint: str | tuple[str, ...],
    pattern: str,
    check: MatchCheck | None = None,
    group: int = 0,
    trim: str = "",
) -> Detector:
    """`hint` says where the pattern can match: words, or a short pattern for the pass in which all detectors are tried.
    Together, the long patterns would need more states than RE2 can keep."""
    find = partial(find_in_text, pattern, group=group)
    if isinstance(hint, tuple):
        return Detector(kind, nature, pattern, check, trim=trim, find=find, words=hint)
    return Detector(kind, nature, hint, check, trim=trim, find=find)


def find_in_text(pattern: str, text: str, group: int = 0) -> Iterator[tuple[int, int]]:
    data = text.encode("utf-8", "replace")
    to_char = int if len(data) == len(text) else _CharOffsets(data)
    for count, match in enumerate(compile_pattern(pattern).finditer(data)):
        if count % 256 == 0:
            check_running_call()
        start, end = cast("tuple[int, int]", match.span(group))
        yield to_char(start), to_char(end)


class _CharOffsets:
    """From a byte offset to a character offset. In rising order it continues from the previous offset."""

    def __init__(self, data: bytes) -> None:
        self._data, self._byte, self._letter = data, 0, 0

    def __call__(self, byte: int) -> int:
        if byte < self._byte:
            self._byte = self._letter = 0
        self._letter += len(self._data[self._byte : byte].decode("utf-8", "replace"))
        self._byte = byte
        return self._letter
