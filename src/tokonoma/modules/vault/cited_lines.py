"""The cited lines of a source as sentences, each with the heading, lead-in or table header that it stands under."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tokonoma.files.ranges import Range, merge_ranges
from tokonoma.modules.vault.sentences import Sentence, Word, parse_lines, split_sentences

_HEADING = re.compile(r"\s{0,3}#{1,6}(?:\s|$)")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+")
_ROW = re.compile(r"\s*\|")
_DELIMITERS = re.compile(r"[\s|:-]+")
_ENDS = tuple("。！？!?；;.")

LineKind = str  # blank | heading | row | item | text


@dataclass(frozen=True, slots=True)
class SourceSentence:
    """A sentence of a source. `around` are the numbers of the sentences that it stands under."""

    claim: Sentence
    around: tuple[int, ...] = ()
    by_key: dict[str, list[Word]] = field(default_factory=dict[str, list[Word]])

    def clip(self, ranges: Sequence[Range]) -> "SourceSentence | None":
        """Only what is in the cited lines; None if nothing is."""
        first, last = self.claim.first_line, self.claim.last_line
        if any(start <= first and last <= end for start, end in ranges):
            return self
        inside = [each for each in ranges if each[0] <= last and first <= each[1]]
        words = [word for word in self.claim.words if any(start <= word.line <= end for start, end in inside)]
        numbers = [each for each in self.claim.numbers if any(start <= each.line <= end for start, end in inside)]
        return build_sentence(replace(self.claim, words=words, numbers=numbers), self.around) if inside else None


def build_sentence(claim: Sentence, around: tuple[int, ...] = ()) -> SourceSentence:
    by_key: dict[str, list[Word]] = {}
    for word in claim.words:
        by_key.setdefault(word.key, []).append(word)
        if len(word.key) == 2 and not word.key.isascii() and not word.is_name:
            for character in word.key:  # a kanji alone is found in any word with it
                by_key.setdefault(character, []).append(word)
    return SourceSentence(claim, around, by_key)


class CitedLines:
    """The lines of a source that are cited anywhere, parsed once."""

    def __init__(self, lines: Sequence[str], wanted: Sequence[Range]) -> None:
        self.lines = lines
        self.claims: list[SourceSentence] = []
        self._heading: int | None = None
        self._lead: int | None = None
        self._header: int | None = None
        self._parts: list[tuple[int, str]] = []
        self._block = "blank"
        for start, end in merge_ranges(wanted):
            for number in range(start, min(end, len(lines)) + 1):
                self._read_line(number, lines[number - 1].rstrip("\r\n"))
            self._flush()
        self._firsts = [each.claim.first_line for each in self.claims]
        self._lasts = [each.claim.last_line for each in self.claims]
        self.postings: dict[str, list[int]] = {}
        for at, each in enumerate(self.claims):
            for key in each.by_key:
                self.postings.setdefault(key, []).append(at)

    def find_sentences(self, ranges: Sequence[Range]) -> list[int]:
        """The sentences that these lines hold, in order."""
        found: list[int] = []
        for start, end in merge_ranges(ranges):
            at = bisect_left(self._lasts, start)
            while at < len(self.claims) and self._firsts[at] <= end:
                if not found or found[-1] < at:
                    found.append(at)
                at += 1
        return found

    def _read_line(self, number: int, line: str) -> None:
        kind = _classify(line)
        if kind != "text" or self._block in ("heading", "row", "blank"):
            self._flush()
        if kind == "blank":
            self._block, self._header = kind, None
            return
        if kind != "row":
            self._header = None
        text = _strip_marks(line, kind)
        if not text.strip():
            return
        if kind in ("heading", "row"):
            self._add_block(kind, number, text)
        else:
            self._add_text(number, text)
        self._block = kind

    def _add_block(self, kind: LineKind, number: int, text: str) -> None:
        if kind == "row" and not _DELIMITERS.sub("", text):
            return
        self._parts = [(number, text)]
        self._flush(is_heading=kind == "heading")
        if kind == "heading":
            self._heading, self._lead = len(self.claims) - 1, None
        elif self._header is None:
            self._header = len(self.claims) - 1

    def _add_text(self, number: int, text: str) -> None:
        for sentence in split_sentences(text):
            self._parts.append((number, sentence))
            if sentence.rstrip().endswith(_ENDS):
                self._flush()
        if text.rstrip().endswith((":", "：")):
            self._flush()
            self._lead = len(self.claims) - 1

    def _flush(self, *, is_heading: bool = False) -> None:
        if not self._parts:
            return
        parts, self._parts = self._parts, []
        around = (self._heading, self._lead, self._header)
        claim = parse_lines(parts, is_heading=is_heading)
        self.claims.append(
            build_sentence(claim, () if is_heading else tuple(each for each in around if each is not None))
        )


def _classify(line: str) -> LineKind:
    if not line.strip():
        return "blank"
    if _HEADING.match(line):
        return "heading"
    if _ROW.match(line):
        return "row"
    return "item" if _ITEM.match(line) else "text"


def _strip_marks(line: str, kind: LineKind) -> str:
    if kind == "heading":
        return line.strip().strip("#")
    if kind == "row":
        return line.replace("|", " ")
    found = _ITEM.match(line) if kind == "item" else None
    return line[found.end() :] if found else line
