"""All sections in memory, in two forms, so that every one of them can be searched within milliseconds.

A section is named by its position in `ManualCorpus.sections`.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from tokonoma.core.normalize import normalize
from tokonoma.core.paths import name_key
from tokonoma.files.pages import PageIndex
from tokonoma.files.text import MAX_SEARCHED
from tokonoma.modules.manual.edges import (
    WordEdges,
    ends_joined_word,
    find_form_edges,
    find_word_edges,
    is_before_kanji,
    starts_number,
)
from tokonoma.modules.manual.joined_text import JoinedText
from tokonoma.modules.manual.matches import can_be_loose, compile_spaced
from tokonoma.modules.manual.model import ManualFileKey, SectionKey, is_json
from tokonoma.modules.manual.numerals import has_number
from tokonoma.modules.manual.search_results import SearchResults
from tokonoma.modules.manual.sounds import Readings, english_consonants, is_installed, iter_sounds
from tokonoma.modules.manual.terms import QueryTerm, SectionReference, article_name

_PLAIN = re.compile("[0-9a-z]+(?: [0-9a-z]+)*")


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
    hash: str = ""

    @property
    def key(self) -> SectionKey:
        return self.manual, self.path, self.line

    @property
    def file(self) -> ManualFileKey:
        return self.manual, self.path

    @property
    def json_path(self) -> str:
        """The JSON Pointer of a section of a JSON file; empty if it is the whole file, or several members."""
        return self.anchor if is_json(self.path) else ""


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
        names: Sequence[str] = (),
    ) -> None:
        self.sections = sections
        self.titles = [" ".join(normalize(section.title).split()) for section in sections]
        self._folded, self._tight = JoinedText.join(folded), JoinedText.join(tight)
        # A term contains no line end, so that no match reaches from one name into the next.
        named = zip(self.titles, names or [""] * len(sections), strict=True)
        self._titles = JoinedText.join([f"{title}\n{normalize(each)}" if each else title for title, each in named])
        self._refers = refers
        self._span = 0, len(sections)
        self._manual: str | None = None  # that it is limited to
        self._results = SearchResults()  # of all parts
        # By span: the last list of words and the sections with them. The lists of two manuals are asked for in turn.
        self._words_found: dict[tuple[int, int], tuple[tuple[str, ...], Mapping[int, list[str]]]] = {}
        self._parts: dict[str, ManualCorpus] = {}

    def __len__(self) -> int:
        return len(self.sections)

    def limit_to(self, manual: str | None) -> "ManualCorpus":
        """The same sections at the same positions, but only those of one manual are searched."""
        if manual is None or manual == self._manual:
            return self
        part = self._parts.get(manual)
        if part is None:
            own = [position for position, section in enumerate(self.sections) if section.manual == manual]
            _ = (
                self.positions,
                self.files,
                self.file_keys,
                self.by_heading,
                self.pages,
                self.cut,
            )  # computed once for all parts
            part = copy(self)
            for name in ("by_sound", "katakana_words", "readings"):
                part.__dict__.pop(name, None)
            part._span = (own[0], own[-1] + 1) if own else (0, 0)  # sections are in order of their manuals
            part._manual = manual
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
    def cut(self) -> frozenset[int]:
        """The sections that are too long to be searched to their end."""
        folded, tight = ([end - start for start, end in pairwise(text.starts)] for text in (self._folded, self._tight))
        sizes = enumerate(zip(folded, tight, (section.size for section in self.sections), strict=True))
        return frozenset(position for position, each in sizes if max(each) > MAX_SEARCHED)

    @cached_property
    def files(self) -> Mapping[ManualFileKey, list[int]]:
        files: dict[ManualFileKey, list[int]] = {}
        for position, section in enumerate(self.sections):
            files.setdefault(section.file, []).append(position)
        return files

    @cached_property
    def file_keys(self) -> Sequence[ManualFileKey]:
        """The file of each section."""
        return [section.file for section in self.sections]

    @cached_property
    def pages(self) -> Mapping[str, PageIndex]:
        """The files of each manual, for links."""
        manuals = dict.fromkeys(manual for manual, _ in self.files)
        return {name: PageIndex([path for manual, path in self.files if manual == name]) for name in manuals}

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

    def has_word(self, word: str) -> bool:
        """Whether these sections contain a Latin word of three letters or more."""
        return any(word in self.by_sound.get(sound, ()) for sound in english_consonants(word)[:1])

    def may_refer(self, position: int, name: str) -> bool:
        """Whether a name, without case, is in the references of a section."""
        return bool(self._refers) and name in name_key(self._refers[position])

    def find_exact(self, term: QueryTerm) -> frozenset[int]:
        """Sections whose normalized text contains the term."""
        part, needle, edges = self._part_of(term), term.folded, _choose_edges(term)
        key = "exact form" if term.kind == "form" else "exact"
        return part._look_up((key, needle), lambda: part._search_exact(needle, edges))

    def find_loose(self, term: QueryTerm) -> frozenset[int]:
        """Sections that contain the term when spaces, dots and hyphens are ignored."""
        part, needle = self._part_of(term), term.loose.replace(" ", "")
        if not can_be_loose(needle):
            return frozenset()
        if term.kind == "form" and " " not in term.folded:  # no part of a longer word
            if needle.isascii() or has_number(needle):
                return frozenset()
            return part._look_up(
                ("loose form", needle), lambda: part._find_sections(self._tight, needle, is_before_kanji)
            )
        return part._look_up(("loose", needle), lambda: part._search_loose(needle, term))

    def find_in_headings(self, term: QueryTerm) -> frozenset[int]:
        part, needle, edges = self._part_of(term), term.folded, _choose_edges(term)
        key = "headings form" if term.kind == "form" else "headings"
        return part._look_up((key, needle), lambda: part._find_sections(self._titles, needle, edges))

    def find_words(self, words: Sequence[str]) -> Mapping[int, list[str]]:
        """Sections that contain any of these words, and which."""
        known, wanted = self._words_found.get(self._span), tuple(words)
        if known is not None and known[0] == wanted:
            return known[1]
        found: dict[int, list[str]] = {}
        for word in words:
            folded = " ".join(normalize(word).split())
            for position in self.find_exact(QueryTerm(word, folded, folded)):
                found.setdefault(position, []).append(folded)
        self._words_found[self._span] = wanted, found
        return found

    def find_following(self, name: str, choices: Sequence[str]) -> list[str]:
        """The name with each choice that follows it somewhere, with or without a space between: as written."""
        pattern = re.compile(re.escape(name) + "ー? ?(?:" + "|".join(map(re.escape, choices)) + ")")
        text, starts = self._folded
        return sorted(set(pattern.findall(text, starts[self._span[0]], starts[self._span[1]])))

    def _part_of(self, term: QueryTerm) -> "ManualCorpus":
        """What is searched for a term: these sections, or those of the only manual in which it is a name."""
        return self.limit_to(term.manual)

    def _searched_text(self) -> str:
        text, starts = self._folded
        return text[starts[self._span[0]] : starts[self._span[1]]]

    def _search_exact(self, needle: str, stands_alone: WordEdges | None) -> frozenset[int]:
        if not _PLAIN.fullmatch(needle):
            return self._find_sections(self._folded, needle, stands_alone)
        # Letters and digits are in the tight text, too, without the spaces between; and that is searched anyway.
        found = self._search_tight(needle.replace(" ", ""))
        return frozenset(each for each in found if self._folded.holds(needle, each, stands_alone))

    def _search_tight(self, needle: str) -> frozenset[int]:
        return self._look_up(("tight", needle), lambda: self._find_sections(self._tight, needle))

    def _search_loose(self, needle: str, term: QueryTerm) -> frozenset[int]:
        is_number = needle[0].isdigit()
        found = self._find_sections(self._tight, needle, starts_number) if is_number else self._search_tight(needle)
        if not needle.isascii():
            return found
        exact = self.find_exact(term)
        if found <= exact:
            return found
        spaced = compile_spaced(needle)
        return frozenset(
            position
            for position in found
            if position in exact
            or spaced.search(folded := self.folded_text(position))
            or ends_joined_word(folded, needle, self.has_word)
        )

    def _find_sections(self, text: JoinedText, needle: str, stands_alone: WordEdges | None = None) -> frozenset[int]:
        return frozenset(text.find_sections(needle, *self._span, stands_alone))

    def _look_up(self, key: tuple[str, str], search: Callable[[], frozenset[int]]) -> frozenset[int]:
        """The sections never change, so results are cached."""
        found = self._results.get((*self._span, *key))
        if found is None:
            found = search()
            self._results.put((*self._span, *key), found)
        return found


def _choose_edges(term: QueryTerm) -> WordEdges | None:
    return find_form_edges(term.folded) if term.kind == "form" else find_word_edges(term.folded)
