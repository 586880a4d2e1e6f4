"""The scanner: one pass over a text finds the detectors that can match, and only those are run."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Any

from tokonoma.core.concurrency import check_running_call
from tokonoma.policy.appended import continues_far, find_difference, find_seam, holds_far_reaching, join_detections
from tokonoma.policy.detect_makers import MAKER_DETECTORS
from tokonoma.policy.detect_personal import PERSONAL_DETECTORS
from tokonoma.policy.detect_secrets import SECRET_DETECTORS
from tokonoma.policy.detections import Detection, Detector, resolve_overlaps
from tokonoma.policy.patterns import build_options, find_in_text, load_re2
from tokonoma.policy.patterns import compile_pattern as compile_pattern
from tokonoma.policy.seed_phrases import has_seed_words

BUILTIN_DETECTORS: tuple[Detector, ...] = (*SECRET_DETECTORS, *PERSONAL_DETECTORS)
KINDS_BY_NATURE: dict[str, frozenset[str]] = {
    "pii": frozenset(each.kind for each in PERSONAL_DETECTORS),
    "secret": frozenset(each.kind for each in SECRET_DETECTORS),
}
_VERSION = 2
"""Increase it when a detector finds something else than before: stored texts are then scanned again."""

_OWN_VERSION = 2
"""The same for the detectors of a policy."""

# Every detection of the built-in detectors has at least one of these. Most short texts have none and skip RE2.
_DIGIT = re.compile(r"[0-9０-９@＠]")
_WORDS = ("丁目", "番", "BEGIN", "://", "パス", "合言葉")
_WORDS_FOLDED = ("pass", "pwd", "pw", "psk")  # in any case
_LONG = re.compile(r"[A-Za-z0-9_/+=-]{16}")
_WIDE = re.compile("[！-～‐‑‒–—―−　]")
_FOLDED = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | dict.fromkeys(map(ord, "‐‑‒–—―−"), ord("-"))
_MAKER_WORDS = sum(len(each.words) for each in MAKER_DETECTORS)  # every key of a maker has a part that is long
_GENERIC = frozenset(("api_key", "password", "bearer_token", "cookie"))
LONG_TEXT = 32 * 1024
"""From here on it is worth while to scan only what was added to a text."""

_LEAST_LENGTH = 6  # of anything that the built-in detectors find
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
        # A text that is written is scanned when it comes in and when it is indexed, and compared with the one before:
        # of those with many detections, two are kept.
        self._crowded: dict[bytes, tuple[Detection, ...]] = {}
        self._extensible: set[bytes] = set()  # texts in which nothing can be continued from far away

    def scan(self, text: str) -> tuple[Detection, ...]:
        """In order of place, without overlaps."""
        if self._builtin_only and len(text) < _LEAST_LENGTH:
            return ()
        key = _hash(text).digest()  # first: the names of fields come with every record, and a text comes several times
        found = self._find_kept(key)
        if found is not None:
            return found
        is_clean = len(text) < LONG_TEXT and self.is_clean(text)
        return self._keep(key, () if is_clean else self.scan_uncached(text))

    def scan_appended(self, before: str, after: str) -> tuple[Detection, ...]:
        """`scan(after)`. If it only adds to a long text that was scanned, just its end is scanned."""
        return self._scan_both(before, after)[1]

    def find_change(self, before: str, after: str) -> tuple[int, tuple[Detection, ...]]:
        """What is found in a text, and from which place on that is something else than in the text before."""
        old, new = self._scan_both(before, after)
        return find_difference(self.scan(before) if old is None else old, new, len(after)), new

    def _scan_both(self, before: str, after: str) -> tuple[tuple[Detection, ...] | None, tuple[Detection, ...]]:
        """What is found in two texts; None if the first was not scanned before, and need not be."""
        if len(before) < LONG_TEXT or not self._builtin_only or not after.startswith(before):
            return None, self.scan(after)
        digest = _hash(before)
        old_key = digest.digest()
        digest.update(after[len(before) :].encode("utf-8", "surrogatepass"))
        new_key = digest.digest()
        old, new = self._find_kept(old_key), self._find_kept(new_key)
        if new is None:
            joined = None
            if old is not None and self._is_extensible(old_key, before):
                joined = self._scan_end(old, before, after)
            if joined is not None:
                self._extensible.discard(old_key)
                self._extensible.add(new_key)
            new = self._keep(new_key, self.scan_uncached(after) if joined is None else joined)
        return old, new

    def _scan_end(self, known: Sequence[Detection], before: str, after: str) -> tuple[Detection, ...] | None:
        seam = find_seam(before)
        if seam is None:
            return None
        end = normalize_width(after[seam.first :])
        if continues_far(end, len(before) - seam.first):
            return None
        return join_detections(known, self.scan_uncached(end), seam)

    def _is_extensible(self, key: bytes, text: str) -> bool:
        if key not in self._extensible:
            if holds_far_reaching(normalize_width(text)):
                return False
            if len(self._extensible) >= _CACHED_TEXTS:
                self._extensible = set()
            self._extensible.add(key)
        return True

    def _find_kept(self, key: bytes) -> tuple[Detection, ...] | None:
        found = self._cached.get(key)
        return self._crowded.get(key) if found is None else found

    def _keep(self, key: bytes, found: tuple[Detection, ...]) -> tuple[Detection, ...]:
        if len(found) > _CACHED_DETECTIONS:
            self._crowded = {**dict(list(self._crowded.items())[-1:]), key: found}
            return found
        if len(self._cached) >= _CACHED_TEXTS:
            self._cached = {}
        self._cached[key] = found
        return found

    def is_clean(self, text: str) -> bool:
        """Whether a cheap test rules out any detection, as for most short texts."""
        # What a policy's own detectors match is not known here, however short the text is.
        return self._builtin_only and (
            len(text) < _LEAST_LENGTH
            or not (_DIGIT.search(text) or _has_telling_word(normalize_width(text)) or has_seed_words(text))
        )

    @cached_property
    def _words(self) -> list[tuple[str, int]]:
        """The words of the detectors, and the number of the detector that each belongs to: those of makers first."""
        return [(word, number) for number, each in enumerate(self.detectors) for word in each.words]

    @cached_property
    def _pattern_set(self) -> tuple[Any, list[int]]:
        """The patterns of all detectors without words, and the numbers of those detectors."""
        found: Any = load_re2().Set.SearchSet(build_options())
        numbers = [number for number, each in enumerate(self.detectors) if not each.words]
        for number in numbers:
            found.Add(self.detectors[number].pattern)
        found.Compile()
        return found, numbers

    def scan_uncached(self, text: str) -> tuple[Detection, ...]:
        """Raises Unavailable when the call that it works for was cancelled or is past its time limit."""
        normalized = text if text.isascii() else normalize_width(text)
        found: list[Detection] = []
        for number in self._find_likely(normalized):
            check_running_call()
            found += _run(self.detectors[number], normalized)
        return tuple(resolve_overlaps(drop_generic(found)))

    def _find_likely(self, text: str) -> list[int]:
        """The numbers of the detectors that can find something."""
        patterns, numbers = self._pattern_set
        places: list[int] = patterns.Match(text.encode("utf-8", "replace")) or []
        likely = {numbers[place] for place in places}
        small = text.casefold()
        for word, number in self._words if _LONG.search(text) else self._words[_MAKER_WORDS:]:
            if word in small:
                likely.add(number)
        return sorted(likely)


def _hash(text: str) -> Any:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass"))


def _run(one: Detector, text: str) -> Iterator[Detection]:
    matches = one.find(text) if one.find is not None else find_in_text(one.pattern, text, one.group)
    for start, end in matches:
        end = start + len(text[start:end].rstrip(one.trim))
        if start < end and (one.check is None or one.check(text, start, end)):
            yield Detection(one.kind, one.nature, start, end)


def drop_generic(found: list[Detection]) -> list[Detection]:
    """Without those that another detector has named better."""
    named = {(one.start, one.end) for one in found if one.kind not in _GENERIC}
    return [one for one in found if one.kind not in _GENERIC or (one.start, one.end) not in named]


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


@lru_cache(maxsize=1)
def builtin_scanner() -> Scanner:
    """The scanner without custom detectors."""
    return Scanner()
