"""The scanner: all detectors over a text, in one pass that asks which can match at all. Only those are run.

RE2 takes time in proportion to the text whatever the pattern; so it may also run patterns that a policy brings.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Any, cast

from tokonoma.policy.detect_personal import PERSONAL_DETECTORS
from tokonoma.policy.detect_secrets import SECRET_DETECTORS
from tokonoma.policy.detections import Detection, resolve_overlaps
from tokonoma.policy.detector import Detector

BUILTIN_DETECTORS: tuple[Detector, ...] = (*SECRET_DETECTORS, *PERSONAL_DETECTORS)
KINDS_BY_NATURE: dict[str, frozenset[str]] = {
    "pii": frozenset(each.kind for each in PERSONAL_DETECTORS),
    "secret": frozenset(each.kind for each in SECRET_DETECTORS),
}
_VERSION = 1
"""Counts up whenever a detector finds something else than before: stored texts are then looked at again."""

# What every find of the built-in detectors has at least one of. Most short texts have none, and never meet RE2.
_DIGIT = re.compile(r"[0-9０-９@＠]")
_WORDS = ("丁目", "番", "BEGIN", "://", "パスワード", "暗証", "合言葉", "キー", "トークン")
_WORDS_FOLDED = ("pass", "pwd", "key", "token", "secret", "bearer", "basic")  # in whatever case
_LONG = re.compile(r"[A-Za-z0-9_/+=-]{16}")
_WIDE = re.compile("[！-～‐‑‒–—―−　]")
_FOLDED = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | dict.fromkeys(map(ord, "‐‑‒–—―−"), ord("-"))
_KEPT = 4096  # texts remembered
_LONGEST = 20_000  # characters of one that is


class Scanner:
    def __init__(self, more: Sequence[Detector] = ()) -> None:
        self.detectors = (*BUILTIN_DETECTORS, *more)
        more_of = hashlib.sha256("\0".join(f"{each.kind}\0{each.pattern}" for each in more).encode()).hexdigest()[:12]
        self.version = f"{_VERSION}.{more_of}" if more else str(_VERSION)
        self.natures = {each.kind: each.nature for each in self.detectors}
        self._builtin_only = not more
        self._cached_scan = lru_cache(maxsize=_KEPT)(self.scan_uncached)

    def scan(self, text: str) -> tuple[Detection, ...]:
        """Resolved, in order of place."""
        if self.is_clean(text):
            return ()
        return self._cached_scan(text) if len(text) <= _LONGEST else self.scan_uncached(text)

    def is_clean(self, text: str) -> bool:
        """Whether one can tell at a glance that nothing will be found. For most short texts one can."""
        return len(text) < 6 or (
            self._builtin_only and not _DIGIT.search(text) and not _has_telling_word(normalize_width(text))
        )

    @cached_property
    def _pattern_set(self) -> Any:
        found: Any = load_re2().Set.SearchSet(_options())
        for each in self.detectors:
            found.Add(each.pattern)
        found.Compile()
        return found

    @cached_property
    def _patterns(self) -> list[Any]:
        return [None] * len(self.detectors)

    def scan_uncached(self, text: str) -> tuple[Detection, ...]:
        """As `scan`, without remembering."""
        folded = text if text.isascii() else normalize_width(text)
        data = folded.encode("utf-8", "replace")
        likely: list[int] = self._pattern_set.Match(data)
        if not likely:
            return ()
        place = _char_offsets(folded, data)
        finds = [find for number in likely for find in self._find_matches(number, folded, data, place)]
        return tuple(resolve_overlaps(finds)) if finds else ()

    def _find_matches(self, number: int, folded: str, data: bytes, place: "_CharOffsets") -> Iterator[Detection]:
        one = self.detectors[number]
        for match in self._compile_detector(number).finditer(data):
            start, end = (place(each) for each in cast("tuple[int, int]", match.span(one.group)))
            span = (start, end) if one.check is None else one.check(folded, start, end)
            if span is not None and span[0] < span[1]:
                yield Detection(one.kind, one.nature, *span)

    def _compile_detector(self, number: int) -> Any:
        if self._patterns[number] is None:
            self._patterns[number] = compile_pattern(self.detectors[number].pattern)
        return self._patterns[number]


def _has_telling_word(text: str) -> bool:
    """Whether it holds a word that finds have. One pass a word is a third of what one expression for all would take."""
    for word in _WORDS:
        if word in text:
            return True
    if _LONG.search(text):
        return True
    small = text.casefold()
    for word in _WORDS_FOLDED:  # noqa: SIM110 - a generator would cost as much again
        if word in small:
            return True
    return False


def normalize_width(text: str) -> str:
    """The same text, letter for letter, with full-width ASCII and the other dashes as ASCII."""
    return text.translate(_FOLDED) if _WIDE.search(text) else text


class _CharOffsets:
    """From a byte to its character. Asked in rising order it counts on from where it was."""

    def __init__(self, data: bytes) -> None:
        self._data, self._byte, self._letter = data, 0, 0

    def __call__(self, byte: int) -> int:
        if byte < self._byte:
            self._byte = self._letter = 0
        self._letter += len(self._data[self._byte : byte].decode("utf-8", "replace"))
        self._byte = byte
        return self._letter


def _char_offsets(folded: str, data: bytes) -> Any:
    return int if len(data) == len(folded) else _CharOffsets(data)


def load_re2() -> Any:
    """RE2, which has no types. It takes 3 MB: only who needs it pays."""
    import re2

    return re2


def compile_pattern(pattern: str) -> Any:
    """ValueError says what RE2 does not take."""
    try:
        return load_re2().compile(pattern, _options())
    except load_re2().error as error:
        said: Any = error.args[0] if error.args else ""
        raise ValueError(said.decode() if isinstance(said, bytes) else str(said)) from None


def _options() -> Any:
    options: Any = load_re2().Options()
    options.log_errors = False
    options.max_mem = 8 << 20
    return options


@lru_cache(maxsize=1)
def builtin_scanner() -> Scanner:
    """The scanner without a policy's own detectors."""
    return Scanner()
