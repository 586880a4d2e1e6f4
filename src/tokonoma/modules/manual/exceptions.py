"""manual_excepts: sections with words of exception, and the sentence in which the first of them is."""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk
from tokonoma.core.errors import Invalid, Refusal
from tokonoma.core.ids import Opaque
from tokonoma.core.normalize import normalize
from tokonoma.files.backlog import IndexingProgress
from tokonoma.files.line_search import shorten_line
from tokonoma.modules.manual.corpus import IndexedSection
from tokonoma.modules.manual.json_text import decode_escapes
from tokonoma.modules.manual.model import (
    ManualFileKey,
    ManualId,
    ManualRef,
    PageCursor,
    build_ref,
    cite_manuals,
    paginate,
    parse_ref,
)
from tokonoma.modules.manual.refs import ManualReader
from tokonoma.modules.manual.source_file import SourceFile
from tokonoma.modules.manual.sync import ManualLibrary
from tokonoma.modules.manual.terms import QueryTerm, parse_query
from tokonoma.modules.manual.variants import expand_term

_PER_PAGE = 50
_CONTEXT_CHARS = 60  # on each side of an exception that is in no single line
_SENTENCE_END = re.compile(r"(?<=[。．！？])|(?<=[.!?])(?=\s)|\n")


class ExceptionHit(TypedDict):
    """`snippet` is the sentence of the first exception, in `line`."""

    ref: ManualRef
    title: str
    words: list[str]
    line: NotRequired[int]
    snippet: str


class ExceptionHits(TypedDict):
    items: list[ExceptionHit]
    total: int
    has_more: bool
    next_cursor: NotRequired[Opaque]
    indexing: NotRequired[IndexingProgress]


def list_exceptions(
    desk: Desk,
    manual_id: ManualId = None,
    ref: Annotated[dict[str, Any] | None, Field(description="one file, or one section with start_line")] = None,
    query: Annotated[
        str | None, Field(min_length=1, max_length=2000, description="only exceptions on this topic")
    ] = None,
    cursor: PageCursor = None,
) -> ExceptionHits:
    """List sections with words of exception (ただし, 対象外, unless, not supported …), each with the sentence of the
    first one and its line; with query, the first one that names the topic, if there is one."""
    reader = ManualReader(desk)
    library = reader.library
    positions = _find_positions(library, manual_id, ref)
    with_words = library.corpus.find_words(library.glossary(manual_id)[0].exceptions)
    names = _find_names(library, manual_id, query) if query is not None else []
    topical = _find_topical(library, names) if query is not None else None
    listed = [each for each in positions if each in with_words and (topical is None or each in topical)]
    shown, fields = paginate(desk, "excepts", listed, cursor, _PER_PAGE)
    if ref is None and (indexing := library.count_indexed(manual_id)) is not None:
        fields["indexing"] = indexing
    cite_manuals(desk)
    items: list[ExceptionHit] = []
    for position in shown:
        section, folded = library.corpus.sections[position], library.corpus.folded_text(position)
        words = sorted(with_words[position], key=folded.find)
        hit: ExceptionHit = {
            "ref": build_ref(*section.key, section.hash, section.json_path),
            "title": section.title,
            "words": words[:10],
            "snippet": folded[max(0, (at := folded.find(words[0])) - _CONTEXT_CHARS) : at + _CONTEXT_CHARS],
        }
        found = _find_sentence(_open_shown(reader, section.file), section, words, [term.folded for term in names])
        if found is not None:
            hit["line"], hit["snippet"] = found
        items.append(hit)
    return {"items": items, **fields}


def _find_names(library: ManualLibrary, manual_id: str | None, query: str) -> list[QueryTerm]:
    """The topic, and every other name of it."""
    if not query.strip():
        raise Invalid("query is empty. Give a topic, or leave it out.", field="query")
    phrase = parse_query(query, None, ()).phrase
    corpus, definitions = library.corpus.limit_to(manual_id), library.list_definitions(manual_id)
    return [phrase, *expand_term(phrase, library.glossary(manual_id)[1], corpus, definitions)]


def _find_topical(library: ManualLibrary, names: Sequence[QueryTerm]) -> Collection[int]:
    corpus, found = library.corpus, set[int]()
    for name in names:
        found.update(corpus.find_exact(name), corpus.find_loose(name), corpus.find_in_headings(name))
    return found


def _open_shown(reader: ManualReader, file: ManualFileKey) -> SourceFile | None:
    try:
        return reader.open_file(*file)
    except Refusal:  # it changed a moment ago
        return None


def _find_sentence(
    file: SourceFile | None, section: IndexedSection, words: Sequence[str], names: Sequence[str]
) -> tuple[int, str] | None:
    """The line and the sentence of the first exception; the first that also holds one of the names, if there is one."""
    first: tuple[int, str] | None = None
    for number, sentence, folded in _iter_sentences(file, section):
        place = min((at for word in words if (at := folded.find(word)) >= 0), default=-1)
        if place < 0:
            continue
        found = number, shorten_line(sentence.strip(), min(place, len(sentence)))[0]
        first = first or found
        if not names or any(name in folded for name in names):
            return found
    return first


def _iter_sentences(file: SourceFile | None, section: IndexedSection) -> Iterator[tuple[int, str, str]]:
    if file is None:
        return
    for number, line in enumerate(file.lines[section.line - 1 : section.own_end], section.line):
        text = decode_escapes(line) if file.is_json else line
        for sentence in _SENTENCE_END.split(text):
            yield number, sentence, " ".join(normalize(sentence).split())


def _find_positions(library: ManualLibrary, manual_id: str | None, ref: dict[str, Any] | None) -> Sequence[int]:
    if ref is None:
        return library.positions(manual_id)
    manual, path, line = parse_ref(ref)
    positions, sections = library.positions(manual, path), library.corpus.sections
    if line is None:
        return positions
    position = max((each for each in positions if sections[each].line <= line), default=positions[0])
    first, last = sections[position].line, sections[position].end
    return [each for each in positions if first <= sections[each].line <= last]
