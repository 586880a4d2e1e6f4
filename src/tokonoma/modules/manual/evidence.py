"""Evidence: the lines of a section in which a search found its terms, short enough for a list. Pure functions.

The terms are searched again in the lines, normalized in the same way as the sections that were searched. A match that
goes over the end of a line belongs to the line in which it starts.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from tokonoma.core.normalize import normalize, normalize_loose
from tokonoma.modules.manual.matches import can_be_loose, compile_spaced, iter_matches

MAX_TEXT = 160
"""Characters of one line in a list of hits."""
_MAX_LINES = 5  # of one section
_MAX_WORD_LINES = 2  # of a section that contains only words of the term
_WINDOW = 400  # characters of a long line that are searched at once
_BEFORE = 60  # characters before the end of a match that are shown at least

EvidenceTerm = tuple[str, str]
"""A term in the normalized and in the loose form"""
FoundLine = tuple[int, str]
"""A line, counted from 1, and its text"""


@dataclass(frozen=True, slots=True)
class SearchedTerms:
    """`names` are the topic and its other names, `words` the single words of it."""

    names: Sequence[EvidenceTerm] = ()
    words: Sequence[EvidenceTerm] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """`more` counts the matching lines that are not shown."""

    lines: Sequence[FoundLine]
    more: int = 0


def find_evidence(
    lines: Sequence[str], first: int, terms: SearchedTerms, context: int, decode: Callable[[str], str] = str
) -> Evidence:
    """The matching lines of a section. `lines` are its own lines, `first` is the number of the first of them. Without a
    match, the first words of its text. `decode` turns what is shown into what is searched."""
    searched = _SearchedLines([decode(line) for line in lines])
    found = {line: term for term in reversed(terms.names) for line in searched.find(term)}
    most = _MAX_LINES
    if not found:
        found, most = _find_words(searched, terms.words), _MAX_WORD_LINES
    if not found:
        return Evidence([_show_start(lines, first)] if lines else ())
    shown = sorted(found)[:most]
    return Evidence([*_show_lines(lines, first, shown, found, context, decode)], len(found) - len(shown))


def _show_start(lines: Sequence[str], first: int) -> FoundLine:
    """The first words below the heading."""
    number = next((number for number, line in enumerate(lines[1:], 1) if line.strip()), 0)
    is_heading = number == 0 and lines[0].startswith("#")
    return first + number, "" if is_heading else _show_line(lines[number])


def _find_words(searched: "_SearchedLines", words: Sequence[EvidenceTerm]) -> dict[int, EvidenceTerm]:
    """The lines with the most of the words."""
    by_line: dict[int, list[EvidenceTerm]] = {}
    for word in words:
        for line in searched.find(word):
            by_line.setdefault(line, []).append(word)
    most = max(map(len, by_line.values()), default=0)
    return {line: found[0] for line, found in by_line.items() if len(found) == most}


def _fold(line: str) -> str:
    return " ".join(normalize(line).split())


def _tighten(line: str) -> str:
    return normalize_loose(line).replace(" ", "")


class _SearchedLines:
    """Lines in the two forms in which sections are searched, each joined into one text."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._folded = [_fold(line) for line in lines]
        self._folded_starts = [0, *accumulate(len(line) + 1 for line in self._folded)]
        self._folded_text = " ".join(self._folded)
        self._tight: tuple[str, Sequence[int]] | None = None  # made when it is needed

    def find(self, term: EvidenceTerm) -> set[int]:
        """The lines in which the term starts, counted from 0."""
        folded, loose = term
        found = {bisect_right(self._folded_starts, at) - 1 for at in iter_matches(self._folded_text, folded)}
        needle = loose.replace(" ", "")
        if not can_be_loose(needle):
            return found
        if needle.isascii():
            places = [match.start() for match in compile_spaced(needle).finditer(self._folded_text)]
            places += _find_all(self._folded_text, needle)
            return found | {bisect_right(self._folded_starts, at) - 1 for at in places}
        if self._tight is None:
            tight = [_tighten(line) for line in self._lines]
            self._tight = "".join(tight), [0, *accumulate(map(len, tight))]
        text, starts = self._tight
        return found | {bisect_right(starts, at) - 1 for at in _find_all(text, needle)}


def _find_all(text: str, needle: str) -> list[int]:
    places: list[int] = []
    at = text.find(needle)
    while at >= 0:
        places.append(at)
        at = text.find(needle, at + len(needle))
    return places


def _show_lines(
    lines: Sequence[str],
    first: int,
    shown: Sequence[int],
    found: dict[int, EvidenceTerm],
    context: int,
    decode: Callable[[str], str],
) -> Iterator[FoundLine]:
    """Each matching line with the lines around it, none of them twice. The text of a heading is left out: a hit has it
    as its title."""
    after = 0  # the first line that was not shown yet
    for index in shown:
        start, end = max(after, index - context), min(len(lines), index + context + 1)
        end = min([end, *(each for each in shown if each > index)])  # the next one is shown as a match
        texts = [_show_line(lines[each], found[index] if each == index else None, decode) for each in range(start, end)]
        after = end
        yield first + index, "" if index == 0 and context == 0 and lines[0].startswith("#") else "\n".join(texts)


def _show_line(line: str, term: EvidenceTerm | None = None, decode: Callable[[str], str] = str) -> str:
    """A line without the spaces around it, or the part of it around the term."""
    text = line.strip()
    if len(text) <= MAX_TEXT:
        return text
    end = _find_end(text, term, decode) if term else 0
    start = max(0, min(end - MAX_TEXT + _BEFORE, len(text) - MAX_TEXT))
    cut = text[start : start + MAX_TEXT]
    return f"{'…' if start else ''}{cut}{'…' if start + MAX_TEXT < len(text) else ''}"


def _find_end(text: str, term: EvidenceTerm, decode: Callable[[str], str]) -> int:
    """Where the first match in a long line ends; the end of the line if the match goes on in the next one."""
    folded, loose = term
    needle = loose.replace(" ", "")
    tests: list[Callable[[str], bool]] = [lambda part: folded in _fold(decode(part))] if folded else []
    if can_be_loose(needle):
        tests.append(lambda part: needle in _tighten(decode(part)))
    size = max(_WINDOW, 4 * max(len(folded), len(needle)))
    for contains in tests:
        for start in range(0, len(text), size // 2):
            window = text[start : start + size]
            if contains(window):
                low, high = 0, len(window)  # the shortest beginning with the match in it
                while low < high:
                    middle = (low + high) // 2
                    low, high = (low, middle) if contains(window[:middle]) else (middle + 1, high)
                return start + low
    return len(text)
