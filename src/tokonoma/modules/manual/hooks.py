"""Sections as records: read by their address, as documents and rows of the index, and reclassified by the policy."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

from tokonoma.core.desk import (
    CLASSIFICATIONS,
    Classification,
    Document,
    Record,
    Rows,
    SourceText,
    Statements,
    parse_address,
)
from tokonoma.core.errors import Denied, Missing, Refusal
from tokonoma.core.ids import uuid7
from tokonoma.core.module import ServerInfo
from tokonoma.core.paths import split_file_path
from tokonoma.files.folder import open_root
from tokonoma.files.front_matter import read_front_matter
from tokonoma.files.links import find_html_anchors
from tokonoma.files.text import MAX_SEARCHED, find_line_starts, section_text
from tokonoma.modules.manual.definitions import find_definitions
from tokonoma.modules.manual.joined_text import build_search_texts
from tokonoma.modules.manual.json_text import separate_escapes
from tokonoma.modules.manual.model import SectionPlace, is_json, parse_place_name, parse_section_name, section_address
from tokonoma.modules.manual.past_sections import hash_body, hash_text
from tokonoma.modules.manual.source_file import SourceFile, open_source_file
from tokonoma.modules.manual.tables import NAME
from tokonoma.modules.manual.terms import find_references

_MAX_REFERENCES = 2000  # of one section
_MAX_ANCHORS = 100
_ANCHOR_LINE = re.compile(r"\s*+(?:<a\s[^<>]*+>(?:</a>)?+\s*+)++")
_SELECT_SECTIONS = "select line, space, label from manual_section where manual = :manual and path = :path"
_SELECT_FILES = "select distinct manual, path, space from manual_section"


def read_record(server: ServerInfo, rows: Rows, address: str) -> Record | None:
    """A section with its descendants, lines, a value of a JSON file, or a whole file. Its classification is the
    strictest of its parts."""
    place = parse_place_name(parse_address(address)[1])
    manual, path = place.manual, place.path
    stored = rows.rows(_SELECT_SECTIONS, manual=manual, path=path)
    if not stored:
        return None
    try:
        file = open_source_file(server.locations()["manuals"], manual, path)
    except Refusal:
        return None
    part = _find_part(file, place)
    if part is None:
        return None
    first, last = part.lines
    inside = {each.line for each in file.sections if each.line <= last and each.own_end >= first}
    parts: list[Classification] = [row[2] for row in stored if row[0] in inside]
    if not inside.issubset(row[0] for row in stored):
        parts.append("secret")  # a part that is not indexed yet has no known classification, so the strictest applies
    strictest: Classification = max(parts or ["internal"], key=CLASSIFICATIONS.index)
    return Record(
        address,
        NAME,
        stored[0][1],
        strictest,
        part.title,
        part.text,
        part_classifications=frozenset(parts),
        source=part.source,
        start=part.start,
    )


def read_stamp(server: ServerInfo, address: str) -> object:
    """What changes when the file does."""
    place = parse_place_name(parse_address(address)[1])
    with suppress(Refusal), open_root(server.locations()["manuals"]) as folder:
        return folder.read_stamp(folder.resolve_names((place.manual, *split_file_path(place.path))))


class _FilePart(NamedTuple):
    lines: tuple[int, int]
    title: str
    text: str
    source: SourceText
    start: int


def _find_part(file: SourceFile, place: SectionPlace) -> _FilePart | None:
    """What an address leads to; None if the file has no such lines or no such value."""
    total, source = max(1, len(file.lines)), file.source_text()
    if place.json_path:
        value = file.tree.find(place.json_path) if file.tree is not None else None
        if file.tree is None or value is None:
            return None
        start, stop = file.tree.starts[value], file.tree.stops[value]
        title = place.json_path.rpartition("/")[2]
        return _FilePart(file.tree.lines(value), title, file.text[start:stop], source, start)
    if place.line is None:
        text = file.written if file.is_json else file.text
        source = SourceText(separate_escapes(text) if file.is_json else text)
        return _FilePart((1, total), place.path, text, source, 0)
    section = file.section_at(place.line)
    first, last = (section.line, section.end) if place.end_line is None else (place.line, place.end_line)
    if not first <= last <= total or place.line > total:
        return None
    start, text = find_line_starts(file.text)[first - 1], "".join(file.lines[first - 1 : last])
    return _FilePart((first, last), section.title, text, source, start)


def read_document(server: ServerInfo, rows: Rows, address: str) -> Document | None:
    """One section, as it is indexed."""
    manual, path, _ = parse_section_name(parse_address(address)[1])
    stored = rows.rows(_SELECT_SECTIONS, manual=manual, path=path)
    try:
        file = open_source_file(server.locations()["manuals"], manual, path)
    except Refusal:
        return None
    documents = build_documents(manual, path, stored[0][1], file) if stored else ()
    return next((each for each in documents if each.address == address), None)


def list_documents(server: ServerInfo, rows: Rows, after: str | None, limit: int) -> list[Document]:
    """For a reindex: every section, in order of address."""
    namespaces = {(manual, path): namespace for manual, path, namespace in rows.rows(_SELECT_FILES)}
    first = section_address(*parse_section_name(parse_address(after)[1])[:2]) + "#" if after is not None else ""
    documents: list[Document] = []
    for manual, path in sorted(namespaces, key=lambda file: section_address(*file) + "#"):
        if section_address(manual, path) + "#" < first:
            continue
        if len(documents) >= limit:
            break
        try:
            file = open_source_file(server.locations()["manuals"], manual, path)
        except (Missing, Denied):
            continue
        built = build_documents(manual, path, namespaces[manual, path], file)
        rest = [each for each in built if after is None or each.address > after]
        documents += sorted(rest, key=lambda each: each.address)
    return documents[:limit]


def build_documents(manual: str, path: str, namespace: str, file: SourceFile) -> Iterator[Document]:
    """A file's sections as documents of the shared index."""
    titles = {section.line: section.title for section in file.sections}
    facts, source, starts = (("manual_id", manual), ("path", path)), file.source_text(), find_line_starts(file.text)
    for section in file.sections:
        title = section.title if section.parent is None else f"{titles[section.parent]} > {section.title}"
        address, text, start = section_address(manual, path, section.line), section_text(file.lines, section), 0
        if section.line <= len(file.lines):
            start = starts[section.line - 1]
        if file.is_json:
            text = source.text[start : start + len(text)]
        yield Document(address, namespace, text, title, facts=facts, at=file.changed_at, source=source, start=start)


def build_rows(manual: str, path: str, file: SourceFile) -> Iterator[dict[str, Any]]:
    """A file's sections as rows of `manual_section`, without namespace and classification."""
    front = None if is_json(path) else read_front_matter(file.text)
    anchors = _find_anchors(file)
    for section in file.sections:
        written, own, names = section_text(file.lines, section), file.search_text(section), ""
        size = len(own)
        if front is not None and section.line == 1 and not section.level:  # of it, only some fields are searched
            own = front.text + "".join(file.lines[front.lines : section.own_end])
            names = "\n".join(front.names)
        own = own[:MAX_SEARCHED]
        # Twice: one character may be normalized to eighteen.
        folded, tight = (text[:MAX_SEARCHED] for text in build_search_texts(section.title, own))
        yield {
            "line": section.line,
            "own_end": section.own_end,
            "end": section.end,
            "level": section.level,
            "title": section.title,
            "anchor": " ".join((section.anchor, *anchors.get(section.line, ()))),
            "parent": section.parent,
            "manual": manual,
            "path": path,
            "size": size,
            "folded": folded,
            "tight": tight,
            "defines": json.dumps(sorted(set(find_definitions(own))), ensure_ascii=False),
            "hash": hash_text(written),
            "body_hash": hash_body(written),
            "refers": json.dumps(list(islice(find_references(own), _MAX_REFERENCES)), ensure_ascii=False),
            "names": names,
        }


def _find_anchors(file: SourceFile) -> Mapping[int, Sequence[str]]:
    """The anchors in HTML of each section, by its first line. One right above a heading belongs to it."""
    anchors: dict[int, list[str]] = {}
    if "<a " not in file.text:
        return anchors
    following = [*(section.line for section in file.sections[1:]), 0]
    for section, after in zip(file.sections, following, strict=True):
        own = section_text(file.lines, section)
        found, last = find_html_anchors(own), find_html_anchors(own.rstrip().rpartition("\n")[2])
        if after and last and _ANCHOR_LINE.fullmatch(own.rstrip().rpartition("\n")[2]):
            anchors.setdefault(after, []).extend(last)
            found = found[: len(found) - len(last)]
        anchors.setdefault(section.line, []).extend(found[:_MAX_ANCHORS])
    return anchors


def reclassify(statements: Statements, classifications: Mapping[str, Classification]) -> None:
    """Store the new classification of each section."""
    rows: list[dict[str, Any]] = []
    for address, label in classifications.items():
        manual, path, line = parse_section_name(parse_address(address)[1])
        rows.append({"manual": manual, "path": path, "line": line, "label": label})
    statements.run_many(
        "update manual_section set label = :label where manual = :manual and path = :path and line = :line", rows
    )
    renew_state(statements, "classes")


def renew_state(statements: Statements, name: str) -> None:
    """Tell every process that the sections it caches, or their classifications, have changed."""
    statements.run("delete from manual_state where name = :name", name=name)
    statements.run("insert into manual_state values (:name, :value)", name=name, value=uuid7())
