"""Files that grow: after an append only the last passage and the new ones are indexed.

A Markdown text is parsed line by line, so the parser is kept where the text ends and reads on from there. A few of them
are kept, by the hash of the text. Where an addition changes more than the end, the whole file is indexed as always.
"""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tokonoma.core.desk import SourceText, Tx
from tokonoma.core.paths import PathParts, join_path
from tokonoma.files.backlog import Check
from tokonoma.files.encoding import DecodedText
from tokonoma.files.folder import FileContent
from tokonoma.files.indexed_file import (
    SELECT_FILE,
    IndexedFile,
    drop_passages,
    find_writer,
    insert_passages,
    raise_classification,
    save_stamp,
    to_documents,
)
from tokonoma.files.markdown import BlockScanner, Heading, split_bare_lines
from tokonoma.files.text import (
    MAX_SECTIONS,
    Passage,
    Section,
    count_text_lines,
    file_address,
    namespace_of,
    parse_markdown,
    passage_size,
    split_lines,
    split_section,
    to_section,
)

MIN_BYTES = 64 * 1024
"""A shorter file is parsed and compared as a whole within a few milliseconds."""

_MAX_KEPT = 4  # a parser may hold a paragraph as long as the text


class _HeadingReader:
    """Reads a Markdown text in pieces of whole lines."""

    def __init__(self) -> None:
        self._scanner, self.lines = BlockScanner(keep_items=False, keep_code=False), 0

    @property
    def headings(self) -> list[Heading]:
        return self._scanner.blocks.headings

    def read(self, text: str) -> list[Heading]:
        """The headings that end in this piece."""
        known = len(self.headings)
        for line in split_bare_lines(text):
            self.lines += 1
            self._scanner.read_line(self.lines, line)
        return self.headings[known:]


@dataclass(frozen=True, slots=True)
class TextEnd:
    """The passage at the end of a text, which an addition may change: its lines, and its first character."""

    start: int
    end: int
    place: int


class GrowingText:
    """A text that is read on where it was extended."""

    def __init__(self, text: str, parts: PathParts) -> None:
        self.lines, self._reader = count_text_lines(text), None
        if parts[-1].casefold().endswith(".md"):
            self._reader = _HeadingReader()
            self._last = parse_markdown(text, parts[-1], find_headings=self._reader.read)[-1]
        else:
            self._last = Section(1, self.lines, self.lines, 0, parts[-1])
        self._skipped = self.lines - self._reader.lines if self._reader else 0
        # A rule in the first line opens a front matter as soon as there is a second one; and one without a text below
        # is not followed by a section yet.
        opens = self._reader is not None and not self._skipped and text.lstrip("\ufeff")[:3] in ("---", "+++")
        self._is_unsettled = opens or self._skipped == self.lines

    def extend(self, before: str, after: str) -> tuple[TextEnd, list[Passage]] | None:
        """The last passage of the text before, and those that take its place. None if more than that has changed; the
        object is then of no use any more."""
        known, added = self.lines, after[len(before) :]
        if not before.endswith("\n"):
            if not added.startswith("\n"):
                return None
            added = added[1:]
        self.lines += count_text_lines(added)
        size = passage_size(self.lines)
        if self._is_unsettled or size != passage_size(known):
            return None
        sections = self._read_sections(known, added)
        if sections is None:
            return None
        skipped = known - (known - self._last.line) % size - 1  # lines before the last passage
        place = _find_line_from_end(before, known - skipped)
        ends = [*(each.line - 1 for each in sections), self.lines]
        tail = [replace(self._last, line=skipped + 1), *sections]
        lines = split_lines(after[place:])
        passages = [
            passage
            for section, end in zip(tail, ends, strict=True)
            for passage in split_section(lines, replace(section, own_end=end), size, skipped)
        ]
        self._last = sections[-1] if sections else self._last
        return TextEnd(skipped + 1, known, place), passages

    def _read_sections(self, known: int, added: str) -> list[Section] | None:
        """The sections that begin in the addition; None if it changes the sections before it."""
        if self._reader is None:
            return []
        had_headings = bool(self._reader.headings)
        sections = [to_section(heading, self._skipped) for heading in self._reader.read(added)]
        # The first heading may leave nothing before it, and an underline makes a heading of the paragraph above.
        changes_others = sections and (not had_headings or sections[0].line <= known)
        return None if changes_others or len(self._reader.headings) > MAX_SECTIONS else sections


def _find_line_from_end(text: str, count: int) -> int:
    """Where the last `count` lines begin."""
    place = len(text) - text.endswith("\n")
    for _ in range(count):
        place = text.rfind("\n", 0, place)
    return place + 1


class _KeptTexts:
    """The newest few, each by the hash of its text and its name."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._texts: dict[tuple[str, str], GrowingText] = {}

    def take(self, version: str, parts: PathParts) -> GrowingText | None:
        """It belongs to the caller then: it changes when it reads on."""
        with self._lock:
            return self._texts.pop((version, parts[-1]), None)

    def keep(self, version: str, parts: PathParts, text: GrowingText) -> None:
        with self._lock:
            self._texts[version, parts[-1]] = text
            while len(self._texts) > _MAX_KEPT:
                del self._texts[next(iter(self._texts))]


_kept = _KeptTexts()


def index_appended(
    tx: Tx, parts: PathParts, before: FileContent, after: FileContent, author: str, check: Check
) -> IndexedFile | None:
    """Index a file after an addition, as `index_file` does. `author` is that of the text before. None if the whole file
    has to be indexed."""
    row, path = tx.row(SELECT_FILE, path=join_path(parts)), join_path(parts)
    known = IndexedFile.from_row(row) if row is not None else None
    is_longer = len(before.data) >= MIN_BYTES and after.data.startswith(before.data)
    if known is None or not is_longer or not known.holds(before.version, tx.masks_key):
        return None
    if find_writer(tx, path, after.version) != author:
        return None  # that is stored with every passage
    if not isinstance(before.decoded, DecodedText) or not isinstance(after.decoded, DecodedText):
        return None
    old, new = before.decoded.text, after.decoded.text
    growing = _kept.take(before.version, parts) or GrowingText(old, parts)
    extended = growing.extend(old, new) if new.startswith(old) else None
    if extended is None:
        return None
    source, (end, passages) = SourceText(new), extended
    change = tx.find_change(old, source)
    if change < end.place:
        return None  # a secret may begin in an earlier passage
    documents = to_documents(
        parts, source, _place_passages(passages, end, new), after.stamp, raise_classification(tx, path), author
    )
    last, addresses = file_address(path, end.start, end.end), {each.address for each in documents}
    drop_passages(tx, [] if last in addresses else [last], check)
    insert_passages(tx, path, documents, check)
    _kept.keep(after.version, parts, growing)
    is_masked = known.is_masked
    if change < len(new) and not is_masked:
        is_masked = int(tx.mask_for_index(new, file_address(path), namespace_of(parts)) != new)
    return save_stamp(tx, path, after.stamp, after.version, growing.lines, is_masked)


def _place_passages(passages: Sequence[Passage], end: TextEnd, text: str) -> Iterator[tuple[Passage, int]]:
    line, place = end.start, end.place
    for each in passages:
        for _ in range(each.start - line):  # lines that are in no passage: they are blank
            place = text.index("\n", place) + 1
        yield each, place
        line, place = each.end + 1, place + len(each.text)
