"""A manual's sections held in memory, in two forms, so that every one of them can be looked through in milliseconds."""

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from tokonoma.core.normalize import normalize, normalize_loose
from tokonoma.modules.manual.katakana import iter_sounds
from tokonoma.modules.manual.pronunciation import Readings, is_installed
from tokonoma.modules.manual.references import SectionReference, article_name
from tokonoma.modules.manual.terms import QueryTerm

_GAP = "\x00"  # stands between two sections: no term holds it
_MAX_CACHED = 1000  # searches
_WHOLE_WORD_CHARS = 4  # characters up to which a Latin term is taken for a whole word
_MIN_TIGHT_CHARS = 5  # characters that a term needs to be looked for without its spaces

Key = tuple[str, str, int]
"""manual, path, first line"""


@dataclass(frozen=True, slots=True)
class IndexedSection:
    """One section, as the index knows it. `size` counts the characters of its own lines."""

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
    def key(self) -> Key:
        return self.manual, self.path, self.line


def tighten(text: str) -> str:
    """The loose form without its spaces: データ ベース is データベース, ServiceAccount is service account."""
    return normalize_loose(text).replace(" ", "")


def build_search_texts(title: str, own: str) -> tuple[str, str]:
    """What is kept of a section's own text: folded, and tight."""
    text = own if title in own else f"{title}\n{own}"
    return " ".join(normalize(text).replace(_GAP, " ").split()), tighten(text).replace(_GAP, "")


class _JoinedText(NamedTuple):
    """The texts of all sections in one string, and where each begins."""

    whole: str
    starts: Sequence[int]

    def text_at(self, place: int) -> str:
        return self.whole[self.starts[place] : self.starts[place + 1] - 1]


class ManualCorpus:
    """`sections`, and for each its two forms, joined into one long string each: one search goes through all of them."""

    def __init__(
        self,
        sections: Sequence[IndexedSection],
        folded: Sequence[str],
        tightened: Sequence[str],
        refers: Sequence[str] = (),
    ) -> None:
        self.sections = sections
        self.titles = [" ".join(normalize(section.title).split()) for section in sections]
        self._folded, self._tight, self._titles = _join_texts(folded), _join_texts(tightened), _join_texts(self.titles)
        self._refers = refers
        self._span = 0, len(sections)
        self._cache: dict[tuple[str, str], frozenset[int]] = {}
        self._parts: dict[str, ManualCorpus] = {}

    def __len__(self) -> int:
        return len(self.sections)

    def limit_to(self, manual: str | None) -> "ManualCorpus":
        """The same sections by the same numbers, but only those of one manual are looked through."""
        if manual is None:
            return self
        part = self._parts.get(manual)
        if part is None:
            own = [place for place, section in enumerate(self.sections) if section.manual == manual]
            _ = self.positions, self.files, self.file_numbers, self.by_heading  # made once for all
            part = copy(self)
            for own_words in ("by_sound", "kana", "readings"):
                part.__dict__.pop(own_words, None)
            part._span = (own[0], own[-1] + 1) if own else (0, 0)  # they stand in order of their manuals
            part._cache = {}
            self._parts[manual] = part
        return part

    @cached_property
    def positions(self) -> Mapping[Key, int]:
        return {section.key: place for place, section in enumerate(self.sections)}

    @cached_property
    def files(self) -> Mapping[tuple[str, str], list[int]]:
        found: dict[tuple[str, str], list[int]] = {}
        for place, section in enumerate(self.sections):
            found.setdefault((section.manual, section.path), []).append(place)
        return found

    @cached_property
    def file_numbers(self) -> Sequence[int]:
        """The number of each section's file."""
        numbers = {place: number for number, places in enumerate(self.files.values()) for place in places}
        return [numbers[place] for place in range(len(self.sections))]

    @cached_property
    def by_heading(self) -> Mapping[tuple[str, str], list[int]]:
        """The sections of a manual by their folded headings, and by the article or appendix that a heading names."""
        found: dict[tuple[str, str], list[int]] = {}
        for place, (section, title) in enumerate(zip(self.sections, self.titles, strict=True)):
            for name in {title, article_name(title)} - {""}:
                found.setdefault((section.manual, name), []).append(place)
        return found

    @cached_property
    def by_sound(self) -> Mapping[str, list[str]]:
        """The katakana and English words of these sections by how they sound, the commonest first."""
        found: dict[str, list[str]] = {}
        text, starts = self._folded
        for word, sound in iter_sounds(text[starts[self._span[0]] : starts[self._span[1]]]):
            found.setdefault(sound, []).append(word)
        return found

    @cached_property
    def katakana_words(self) -> frozenset[str]:
        """The katakana words."""
        return frozenset(word for words in self.by_sound.values() for word in words if not word.isascii())

    @cached_property
    def readings(self) -> Readings | None:
        """The Japanese words of these sections by their readings, where they can be read."""
        if not is_installed():
            return None
        text, starts = self._folded
        return Readings(text[starts[self._span[0]] : starts[self._span[1]]])

    def folded_text(self, place: int) -> str:
        return self._folded.text_at(place)

    def tight_text(self, place: int) -> str:
        return self._tight.text_at(place)

    def references(self, place: int) -> list[SectionReference]:
        """What a section refers to."""
        return [SectionReference(*each) for each in json.loads(self._refers[place])] if self._refers else []

    def find_exact(self, term: QueryTerm) -> frozenset[int]:
        """Sections whose folded text holds the term."""
        return self._cached(("written", term.folded), lambda: self._find_sections(self._folded, term.folded))

    def find_loose(self, term: QueryTerm) -> frozenset[int]:
        """Sections that hold the term when spaces, dots and hyphens are left out."""
        needle = term.loose.replace(" ", "")
        if len(needle) < _MIN_TIGHT_CHARS and needle.isascii():
            return frozenset()
        return self._cached(("loosely", needle), lambda: self._search_loose(needle, term))

    def find_in_headings(self, term: QueryTerm) -> frozenset[int]:
        """Sections whose heading holds the term."""
        return self._cached(("titled", term.folded), lambda: self._find_sections(self._titles, term.folded))

    def _search_loose(self, needle: str, term: QueryTerm) -> frozenset[int]:
        found = self._find_sections(self._tight, needle, whole=False)
        if not needle.isascii():
            return found
        sure = self.find_exact(term)
        spread = _spaced_pattern(needle)
        return frozenset(
            place
            for place in found
            if place in sure or needle in (folded := self.folded_text(place)) or spread.search(folded)
        )

    def _find_sections(self, text: _JoinedText, needle: str, whole: bool = True) -> frozenset[int]:
        """The sections of this span that hold the needle; of each, the first place is enough."""
        if not needle:
            return frozenset()
        edges = _word_edges(needle) if whole else None
        first, last = self._span
        haystack, starts = text
        end = starts[last]
        found: list[int] = []
        at = haystack.find(needle, starts[first], end)
        while at >= 0:
            if edges is None or _stands_alone(haystack, at, at + len(needle), edges):
                section = bisect_right(starts, at) - 1
                found.append(section)
                at = haystack.find(needle, starts[section + 1], end)
            else:
                at = haystack.find(needle, at + 1, end)
        return frozenset(found)

    def find_words(self, words: Sequence[str]) -> Mapping[int, list[str]]:
        """Sections that hold any of these words, and which."""
        found: dict[int, list[str]] = {}
        for word in words:
            folded = " ".join(normalize(word).split())
            for place in self.find_exact(QueryTerm(word, folded, folded)):
                found.setdefault(place, []).append(folded)
        return found

    def _cached(self, key: tuple[str, str], search: Callable[[], frozenset[int]]) -> frozenset[int]:
        """The sections never change: what was looked for is remembered."""
        found = self._cache.get(key)
        if found is None:
            if len(self._cache) >= _MAX_CACHED:
                self._cache.clear()
            found = self._cache[key] = search()
        return found

    def find_following(self, name: str, choices: Sequence[str]) -> list[str]:
        """Which of the choices stand right after the name somewhere, with a space between or without: as written."""
        pattern = re.compile(re.escape(name) + "ー? ?(?:" + "|".join(map(re.escape, choices)) + ")")
        text, starts = self._folded
        return sorted(set(pattern.findall(text, starts[self._span[0]], starts[self._span[1]])))


def _join_texts(texts: Sequence[str]) -> _JoinedText:
    starts, at = [0], 0
    for text in texts:
        at += len(text) + 1
        starts.append(at)
    return _JoinedText(_GAP.join(texts) + _GAP, starts)


def _spaced_pattern(needle: str) -> re.Pattern[str]:
    """The letters of a Latin term with little between them, from the start of a word to the end of one: `containerd` is
    not in `a container does`."""
    return re.compile(r"(?<![a-z0-9])" + r"[\W_]{0,2}".join(map(re.escape, needle)) + r"(?:e?s)?(?![a-z0-9])")


def _word_edges(needle: str) -> tuple[bool, bool] | None:
    """Whether the term must begin, and end, where a word does. `cri` is not in `script`."""
    if not needle or not (needle[0].isascii() or needle[-1].isascii()):
        return None
    begins = needle[0].isascii() and needle[0].isalnum()
    return begins, begins and len(needle) <= _WHOLE_WORD_CHARS and needle[-1].isalnum()


def _stands_alone(text: str, start: int, end: int, edges: tuple[bool, bool]) -> bool:
    begins, ends = edges
    if begins and start and _is_word_character(text[start - 1]):
        return False
    if not ends or end >= len(text) or not _is_word_character(text[end]):
        return True
    return text[end] == "s" and (end + 1 >= len(text) or not _is_word_character(text[end + 1]))  # a plural


def _is_word_character(character: str) -> bool:
    return character.isascii() and character.isalnum()
