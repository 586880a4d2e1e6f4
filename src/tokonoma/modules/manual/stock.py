"""A manual's sections held in memory, in two forms, so that every one of them can be looked through in milliseconds."""

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from tokonoma.core.fold import fold, loosen
from tokonoma.modules.manual.katakana import sounds_in
from tokonoma.modules.manual.references import article
from tokonoma.modules.manual.terms import Term

_GAP = "\x00"  # stands between two sections: no term holds it
_REMEMBERED = 1000  # searches
_SHORT = 4  # characters up to which a Latin term is taken for a whole word
_TIGHTEST = 5  # characters that a term needs to be looked for without its spaces

Key = tuple[str, str, int]
"""manual, path, first line"""


@dataclass(frozen=True, slots=True)
class Held:
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


def tight(text: str) -> str:
    """The loose form without its spaces: データ ベース is データベース, ServiceAccount is service account."""
    return loosen(text).replace(" ", "")


def forms(title: str, own: str) -> tuple[str, str]:
    """What is kept of a section's own text: folded, and tight."""
    text = own if title in own else f"{title}\n{own}"
    return " ".join(fold(text).replace(_GAP, " ").split()), tight(text).replace(_GAP, "")


class Stock:
    """`sections`, and for each its two forms, joined into one long string each: one search goes through all of them."""

    def __init__(self, sections: Sequence[Held], folded: Sequence[str], tightened: Sequence[str]) -> None:
        self.sections = sections
        self.titles = [" ".join(fold(section.title).split()) for section in sections]
        self._folded, self._folded_at = _joined(folded)
        self._tight, self._tight_at = _joined(tightened)
        self._titles, self._titles_at = _joined(self.titles)
        self._known: dict[tuple[str, str], frozenset[int]] = {}

    def __len__(self) -> int:
        return len(self.sections)

    @cached_property
    def places(self) -> Mapping[Key, int]:
        return {section.key: place for place, section in enumerate(self.sections)}

    @cached_property
    def files(self) -> Mapping[tuple[str, str], list[int]]:
        found: dict[tuple[str, str], list[int]] = {}
        for place, section in enumerate(self.sections):
            found.setdefault((section.manual, section.path), []).append(place)
        return found

    @cached_property
    def named(self) -> Mapping[tuple[str, str], list[int]]:
        """The sections of a manual by their folded headings, and by the article or appendix that a heading names."""
        found: dict[tuple[str, str], list[int]] = {}
        for place, (section, title) in enumerate(zip(self.sections, self.titles, strict=True)):
            for name in {title, article(title)} - {""}:
                found.setdefault((section.manual, name), []).append(place)
        return found

    @cached_property
    def by_sound(self) -> Mapping[str, list[str]]:
        """The katakana and English words of all sections by how they sound, the commonest first."""
        found: dict[str, list[str]] = {}
        for word, sound in sounds_in(self._folded):
            found.setdefault(sound, []).append(word)
        return found

    @cached_property
    def kana(self) -> frozenset[str]:
        """The katakana words."""
        return frozenset(word for words in self.by_sound.values() for word in words if not word.isascii())

    def folded(self, place: int) -> str:
        return self._folded[self._folded_at[place] : self._folded_at[place + 1] - 1]

    def tight(self, place: int) -> str:
        return self._tight[self._tight_at[place] : self._tight_at[place + 1] - 1]

    def written(self, term: Term) -> frozenset[int]:
        """Sections whose folded text holds the term."""
        return self._once(("written", term.folded), lambda: _places(self._folded, term.folded, self._folded_at))

    def loosely(self, term: Term) -> frozenset[int]:
        """Sections that hold the term when spaces, dots and hyphens are left out."""
        needle = term.loose.replace(" ", "")
        if len(needle) < _TIGHTEST and needle.isascii():
            return frozenset()
        return self._once(("loosely", needle), lambda: _places(self._tight, needle, self._tight_at, whole=False))

    def titled(self, term: Term) -> frozenset[int]:
        """Sections whose heading holds the term."""
        return self._once(("titled", term.folded), lambda: _places(self._titles, term.folded, self._titles_at))

    def with_word(self, words: Sequence[str]) -> Mapping[int, list[str]]:
        """Sections that hold any of these words, and which."""
        found: dict[int, list[str]] = {}
        for word in words:
            folded = " ".join(fold(word).split())
            for place in self.written(Term(word, folded, folded)):
                found.setdefault(place, []).append(folded)
        return found

    def _once(self, key: tuple[str, str], search: Callable[[], frozenset[int]]) -> frozenset[int]:
        """The sections never change: what was looked for is remembered."""
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            found = self._known[key] = search()
        return found

    def followed(self, name: str, choices: Sequence[str]) -> list[str]:
        """Which of the choices stand right after the name somewhere, with a space between or without: as written."""
        pattern = re.compile(re.escape(name) + "ー? ?(?:" + "|".join(map(re.escape, choices)) + ")")
        return sorted(set(pattern.findall(self._folded)))


def _joined(texts: Sequence[str]) -> tuple[str, list[int]]:
    starts, at = [0], 0
    for text in texts:
        at += len(text) + 1
        starts.append(at)
    return _GAP.join(texts) + _GAP, starts


def _edges(needle: str) -> tuple[bool, bool] | None:
    """Whether the term must begin, and end, where a word does. `cri` is not in `script`."""
    if not needle or not (needle[0].isascii() or needle[-1].isascii()):
        return None
    begins = needle[0].isascii() and needle[0].isalnum()
    return begins, begins and len(needle) <= _SHORT and needle[-1].isalnum()


def _places(text: str, needle: str, starts: Sequence[int], whole: bool = True) -> frozenset[int]:
    """The sections that hold the needle; of each, the first place is enough."""
    if not needle:
        return frozenset()
    edges = _edges(needle) if whole else None
    found: set[int] = set()
    at = text.find(needle)
    while at >= 0:
        if edges is None or _stands_alone(text, at, at + len(needle), edges):
            section = bisect_right(starts, at) - 1
            found.add(section)
            at = text.find(needle, starts[section + 1])
        else:
            at = text.find(needle, at + 1)
    return frozenset(found)


def _stands_alone(text: str, start: int, end: int, edges: tuple[bool, bool]) -> bool:
    begins, ends = edges
    if begins and start and _is_word(text[start - 1]):
        return False
    if not ends or end >= len(text) or not _is_word(text[end]):
        return True
    return text[end] == "s" and (end + 1 >= len(text) or not _is_word(text[end + 1]))  # a plural


def _is_word(character: str) -> bool:
    return character.isascii() and character.isalnum()
