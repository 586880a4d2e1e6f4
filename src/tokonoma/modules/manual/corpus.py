"""All sections in memory, in two forms, so that every one of them can be searched within milliseconds.

A section is named by its position in `ManualCorpus.sections`.
"""

import json
import re
import threading
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from tokonoma.core.normalize import normalize, normalize_loose
from tokonoma.modules.manual.model import ManualFileKey, SectionKey
from tokonoma.modules.manual.sounds import Readings, is_installed, iter_sounds
from tokonoma.modules.manual.terms import QueryTerm, SectionReference, article_name

_GAP = "\x00"  # between two sections: no term contains it
_MAX_CACHED = 100_000  # positions and letters in the results of earlier searches: less than 10 MB
_ENTRY_SIZE = 50  # what an empty result counts
_WHOLE_WORD_CHARS = 4  # up to this length a Latin term matches whole words only
_MIN_TIGHT_CHARS = 5  # of a term that is searched without its spaces


@dataclass(frozen=True, slots=True)
class IndexedSection:
    """One section's row in the index. `size` counts the characters of its own lines."""

    manual: str
    path: str
    line: int
    own_end: int
    end: int
    level: int
    title: str
    anchor: str
    parent: int | None
    size: int

    @property
    def key(self) -> SectionKey:
        return self.manual, self.path, self.line

    @property
    def file(self) -> ManualFileKey:
        return self.manual, self.path


def build_search_texts(title: str, own: str) -> tuple[str, str]:
    """The two forms of a section's own text: normalized; and loose without spaces, which makes データ ベース equal to
    データベース and ServiceAccount to service account."""
    text = own if title in own else f"{title}\n{own}"
    tight = normalize_loose(text).replace(" ", "").replace(_GAP, "")
    return " ".join(normalize(text).replace(_GAP, " ").split()), tight


class _JoinedText(NamedTuple):
    """The texts of all sections in one string, and where each starts."""

    whole: str
    starts: Sequence[int]

    @classmethod
    def join(cls, texts: Sequence[str]) -> "_JoinedText":
        return cls(_GAP.join(texts) + _GAP, [0, *accumulate(len(text) + 1 for text in texts)])


class ManualCorpus:
    """`sections`, and the two forms of all their texts, joined into one long string each: one search covers all.

    Nothing in it refers back to it: a corpus that is replaced is freed at once, and not when Python looks for cycles.
    """

    def __init__(
        self,
        sections: Sequence[IndexedSection],
        folded: Sequence[str],
        tight: Sequence[str],
        refers: Sequence[str] = (),
    ) -> None:
        self.sections = sections
        self.titles = [" ".join(normalize(section.title).split()) for section in sections]
        self._folded, self._tight = _JoinedText.join(folded), _JoinedText.join(tight)
        self._titles = _JoinedText.join(self.titles)
        self._refers = refers
        self._span = 0, len(sections)
        self._results = _SearchResults()  # of all parts
        self._parts: dict[str, ManualCorpus] = {}

    def __len__(self) -> int:
        return len(self.sections)

    def limit_to(self, manual: str | None) -> "ManualCorpus":
        """The same sections at the same positions, but only those of one manual are searched."""
        if manual is None:
            return self
        part = self._parts.get(manual)
        if part is None:
            own = [position for position, section in enumerate(self.sections) if section.manual == manual]
            _ = self.positions, self.files, self.by_heading  # computed once for all parts
            part = copy(self)
            for name in ("by_sound", "katakana_words", "readings"):
                part.__dict__.pop(name, None)
            part._span = (own[0], own[-1] + 1) if own else (0, 0)  # sections are in order of their manuals
            part._parts = {}  # not those of the whole, which hold this part
            self._parts[manual] = part
        return part

    def count_searched(self) -> int:
        """The sections of the manual that it is limited to, or all."""
        return self._span[1] - self._span[0]

    @cached_property
    def positions(self) -> Mapping[SectionKey, int]:
        return {section.key: position for position, section in enumerate(self.sections)}

    @cached_property
    def files(self) -> Mapping[ManualFileKey, list[int]]:
        files: dict[ManualFileKey, list[int]] = {}
        for position, section in enumerate(self.sections):
            files.setdefault(section.file, []).append(position)
        return files

    @cached_property
    def by_heading(self) -> Mapping[tuple[str, str], list[int]]:
        """The sections of a manual by their normalized heading, and by the article or appendix that it names."""
        found: dict[tuple[str, str], list[int]] = {}
        for position, (section, title) in enumerate(zip(self.sections, self.titles, strict=True)):
            for name in {title, article_name(title)} - {""}:
                found.setdefault((section.manual, name), []).append(position)
        return found

    @cached_property
    def by_sound(self) -> Mapping[str, list[str]]:
        """The katakana and English words of these sections by their sound, the most frequent first."""
        found: dict[str, list[str]] = {}
        for word, sound in iter_sounds(self._searched_text()):
            found.setdefault(sound, []).append(word)
        return found

    @cached_property
    def katakana_words(self) -> frozenset[str]:
        return frozenset(word for words in self.by_sound.values() for word in words if not word.isascii())

    @cached_property
    def readings(self) -> Readings | None:
        """The Japanese words of these sections by their readings, if the dictionary is installed."""
        return Readings(self._searched_text()) if is_installed() else None

    def folded_text(self, position: int) -> str:
        text, starts = self._folded
        return text[starts[position] : starts[position + 1] - 1]

    def references(self, position: int) -> list[SectionReference]:
        return [SectionReference(*each) for each in json.loads(self._refers[position])] if self._refers else []

    def find_exact(self, term: QueryTerm) -> frozenset[int]:
        """Sections whose normalized text contains the term."""
        return self._look_up(("exact", term.folded), lambda: self._find_sections(self._folded, term.folded))

    def find_loose(self, term: QueryTerm) -> frozenset[int]:
        """Sections that contain the term when spaces, dots and hyphens are ignored."""
        needle = term.loose.replace(" ", "")
        if len(needle) < _MIN_TIGHT_CHARS and needle.isascii():
            return frozenset()
        return self._look_up(("loose", needle), lambda: self._search_loose(needle, term))

    def find_in_headings(self, term: QueryTerm) -> frozenset[int]:
        return self._look_up(("headings", term.folded), lambda: self._find_sections(self._titles, term.folded))

    def find_words(self, words: Sequence[str]) -> Mapping[int, list[str]]:
        """Sections that contain any of these words, and which."""
        found: dict[int, list[str]] = {}
        for word in words:
            folded = " ".join(normalize(word).split())
            for position in self.find_exact(QueryTerm(word, folded, folded)):
                found.setdefault(position, []).append(folded)
        return found

    def find_following(self, name: str, choices: Sequence[str]) -> list[str]:
        """The name with each choice that follows it somewhere, with or without a space between: as written."""
        pattern = re.compile(re.escape(name) + "ー? ?(?:" + "|".join(map(re.escape, choices)) + ")")
        text, starts = self._folded
        return sorted(set(pattern.findall(text, starts[self._span[0]], starts[self._span[1]])))

    def _searched_text(self) -> str:
        text, starts = self._folded
        return text[starts[self._span[0]] : starts[self._span[1]]]

    def _search_loose(self, needle: str, term: QueryTerm) -> frozenset[int]:
        found = self._find_sections(self._tight, needle, whole_words=False)
        if not needle.isascii():
            return found
        exact = self.find_exact(term)
        # The letters with little between them, from the start of a word to the end of one: `containerd` is not in
        # `a container does`.
        letters = r"[\W_]{0,2}".join(map(re.escape, needle))
        spaced = re.compile(rf"(?<![a-z0-9]){letters}(?:e?s)?(?![a-z0-9])")
        return frozenset(
            position
            for position in found
            if position in exact or needle in (folded := self.folded_text(position)) or spaced.search(folded)
        )

    def _find_sections(self, text: _JoinedText, needle: str, whole_words: bool = True) -> frozenset[int]:
        """The searched sections that contain the needle; in each, the first match is enough."""
        if not needle:
            return frozenset()
        edges = _word_edges(needle) if whole_words else None
        haystack, starts = text
        end = starts[self._span[1]]
        found: list[int] = []
        at = haystack.find(needle, starts[self._span[0]], end)
        while at >= 0:
            if edges is None or _stands_alone(haystack, at, at + len(needle), edges):
                section = bisect_right(starts, at) - 1
                found.append(section)
                at = haystack.find(needle, starts[section + 1], end)
            else:
                at = haystack.find(needle, at + 1, end)
        return frozenset(found)

    def _look_up(self, key: tuple[str, str], search: Callable[[], frozenset[int]]) -> frozenset[int]:
        """The sections never change, so results are cached."""
        found = self._results.get((*self._span, *key))
        if found is None:
            found = search()
            self._results.put((*self._span, *key), found)
        return found


_ResultKey = tuple[int, int, str, str]
"""first and last section, kind of search, text"""


class _SearchResults:
    """The results of earlier searches. All are dropped when they get too large together: a frequent term is in every
    section, so their number says nothing of their size."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: dict[_ResultKey, frozenset[int]] = {}
        self._size = 0

    def get(self, key: _ResultKey) -> frozenset[int] | None:
        return self._found.get(key)

    def put(self, key: _ResultKey, found: frozenset[int]) -> None:
        size = len(found) + len(key[3]) + _ENTRY_SIZE
        with self._lock:
            if self._size + size > _MAX_CACHED:
                self._found.clear()
                self._size = 0
            if key not in self._found:
                self._found[key] = found
                self._size += size


def _word_edges(needle: str) -> tuple[bool, bool] | None:
    """Whether the term must start, and end, at the edge of a word. `cri` is not in `script`."""
    if not (needle[0].isascii() or needle[-1].isascii()):
        return None
    starts = needle[0].isascii() and needle[0].isalnum()
    return starts, starts and len(needle) <= _WHOLE_WORD_CHARS and needle[-1].isalnum()


def _stands_alone(text: str, start: int, end: int, edges: tuple[bool, bool]) -> bool:
    must_start, must_end = edges
    if must_start and start and _is_word_character(text[start - 1]):
        return False
    if not must_end or end >= len(text) or not _is_word_character(text[end]):
        return True
    return text[end] == "s" and (end + 1 >= len(text) or not _is_word_character(text[end + 1]))  # a plural


def _is_word_character(character: str) -> bool:
    return character.isascii() and character.isalnum()
