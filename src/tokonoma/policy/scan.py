"""The scanner: one pass over a text finds the detectors that can match, and only those are run.

RE2 needs time linear in the length of the text for any pattern, so it can also run the patterns of a policy.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Any, cast

from tokonoma.policy.detect_personal import PERSONAL_DETECTORS
from tokonoma.policy.detect_secrets import SECRET_DETECTORS
from tokonoma.policy.detections import Detection, Detector, resolve_overlaps

BUILTIN_DETECTORS: tuple[Detector, ...] = (*SECRET_DETECTORS, *PERSONAL_DETECTORS)
KINDS_BY_NATURE: dict[str, frozenset[str]] = {
    "pii": frozenset(each.kind for each in PERSONAL_DETECTORS),
    "secret": frozenset(each.kind for each in SECRET_DETECTORS),
}
_VERSION = 1
"""Increase it when a detector finds something else than before: stored texts are then scanned again."""

_OWN_VERSION = 2
"""The same for the detectors of a policy."""

# Every detection of the built-in detectors has at least one of these. Most short texts have none and skip RE2.
_DIGIT = re.compile(r"[0-9０-９@＠]")
_WORDS = ("丁目", "番", "BEGIN", "://", "パスワード", "暗証", "合言葉", "キー", "トークン")
_WORDS_FOLDED = ("pass", "pwd", "key", "token", "secret", "bearer", "basic")  # in any case
_LONG = re.compile(r"[A-Za-z0-9_/+=-]{16}")
_WIDE = re.compile("[！-～‐‑‒–—―−　]")
_FOLDED = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | dict.fromkeys(map(ord, "‐‑‒–—―−"), ord("-"))
_CACHED_TEXTS = 4096
_CACHED_DETECTIONS = 50  # of one text


class Scanner:
    def __init__(self, more: Sequence[Detector] = ()) -> None:
        self.detectors = (*BUILTIN_DETECTORS, *more)
        more_of = hashlib.sha256("\0".join(f"{each.kind}\0{each.pattern}" for each in more).encode()).hexdigest()[:12]
        self.version = f"{_VERSION}.{_OWN_VERSION}.{more_of}" if more else str(_VERSION)
        self.natures = {each.kind: each.nature for each in self.detectors}
        self._builtin_only = not more
        self._cached: dict[bytes, tuple[Detection, ...]] = {}  # by the hash of the text, which is not kept itself
        # A text that is written is scanned when it comes in and when it is indexed: the newest is kept, however large.
        self._newest: tuple[bytes, tuple[Detection, ...]] = (b"", ())

    def scan(self, text: str) -> tuple[Detection, ...]:
        """In order of place, without overlaps."""
        if self.is_clean(text):
            return ()
        key = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        found = self._cached.get(key)
        if found is not None:
            return found
        newest, found = self._newest
        if newest != key:
            found = self.scan_uncached(text)
            self._newest = key, found
            if len(self._cached) >= _CACHED_TEXTS:
                self._cached = {}
            if len(found) <= _CACHED_DETECTIONS:
                self._cached[key] = found
        return found

    def is_clean(self, text: str) -> bool:
        """Whether a cheap test rules out any detection, as for most short texts."""
        # What a policy's own detectors match is not known here, however short the text is.
        return self._builtin_only and (
            len(text) < 6 or (not _DIGIT.search(text) and not _has_telling_word(normalize_width(text)))
        )

    @cached_property
    def _pattern_set(self) -> Any:
        found: Any = load_re2().Set.SearchSet(_options())
        for each in self.detectors:
            found.Add(each.pattern)
        found.Compile()
        return found

    def scan_uncached(self, text: str) -> tuple[Detection, ...]:
        normalized = text if text.isascii() else normalize_width(text)
        data = normalized.encode("utf-8", "replace")
        likely: list[int] = self._pattern_set.Match(data)
        if not likely:
            return ()
        to_char = int if len(data) == len(normalized) else _CharOffsets(data)
        return tuple(resolve_overlaps(one for each in likely for one in self._run(each, normalized, data, to_char)))

    def _run(self, number: int, text: str, data: bytes, to_char: Callable[[int], int]) -> Iterator[Detection]:
        one = self.detectors[number]
        for start, end in one.find(text) if one.find is not None else _match_pattern(one, data, to_char):
            end = start + len(text[start:end].rstrip(one.trim))
            if start < end and (one.check is None or one.check(text, start, end)):
                yield Detection(one.kind, one.nature, start, end)


def _match_pattern(one: Detector, data: bytes, to_char: Callable[[int], int]) -> Iterator[tuple[int, int]]:
    for match in compile_pattern(one.pattern).finditer(data):
        start, end = cast("tuple[int, int]", match.span(one.group))
        yield to_char(start), to_char(end)


def _has_telling_word(text: str) -> bool:
    """One pass per word takes a third of the time of one expression for all words."""
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
    """Replace full-width ASCII and other dashes by ASCII; the length stays the same."""
    return text.translate(_FOLDED) if _WIDE.search(text) else text


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


def load_re2() -> Any:
    """RE2 has no types. It takes 3 MB of memory, so it is imported when it is needed."""
    import re2

    return re2


@lru_cache(maxsize=1024)
def compile_pattern(pattern: str) -> Any:
    """Raises ValueError with the reason if RE2 rejects the pattern."""
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
    """The scanner without custom detectors."""
    return Scanner()
