"""Sections as records: read by their address, as documents and rows of the index, and reclassified by the policy."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

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
from tokonoma.files.folder import open_root
from tokonoma.files.text import (
    MAX_SEARCHED,
    MAX_SECTIONS,
    Section,
    find_line_starts,
    parse_markdown,
    section_text,
    single_section,
    split_lines,
)
from tokonoma.modules.manual.corpus import build_search_texts
from tokonoma.modules.manual.model import parse_section_name, section_address
from tokonoma.modules.manual.tables import NAME
from tokonoma.modules.manual.terms import find_references
from tokonoma.modules.manual.variants import find_definitions

_MAX_REFERENCES = 40  # of one section
_SELECT_SECTIONS = "select line, space, label from manual_section where manual = :manual and path = :path"
_SELECT_FILES = "select distinct manual, path, space from manual_section"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A manual's file as it is now."""

    text: str
    lines: Sequence[str]
    sections: Sequence[Section]

    @classmethod
    def parse(cls, text: str, path: str) -> "SourceFile":
        sections = single_section(text, path) if path.lower().endswith(".json") else parse_markdown(text, path)
        return cls(text, split_lines(text), sections)

    def mask(self, mask: Callable[[str], str]) -> "SourceFile":
        """The file as `mask` shows its text. It keeps its lines, so the sections are the same."""
        text = mask(self.text)
        if text == self.text:
            return self
        return SourceFile(text, split_lines(text), [replace(each, title=mask(each.title)) for each in self.sections])

    def find_problem(self) -> str:
        """Why not every heading is a section, or not all text is searched; empty if nothing is left out."""
        if len(self.sections) >= MAX_SECTIONS:
            last = self.sections[-1].line
            return f"{MAX_SECTIONS} headings or more: what follows line {last} is one section. Split the file."
        for section in self.sections:
            if sum(map(len, self.lines[section.line - 1 : section.own_end])) > MAX_SEARCHED:
                return f"too long: of the section at line {section.line} only {MAX_SEARCHED} characters are searched"
        return ""

    def section_at(self, line: int) -> Section:
        """The section whose own lines include this one."""
        before = [section for section in self.sections if section.line <= line]
        return before[-1] if before else self.sections[0]


def open_source_file(root: str, manual: str, path: str) -> SourceFile:
    with open_root(root) as folder:
        data = folder.read((manual, *path.split("/"))).data
    return SourceFile.parse(data.decode("utf-8-sig", errors="replace"), path)


def read_record(server: ServerInfo, rows: Rows, address: str) -> Record | None:
    """A section with its descendants, or a whole file if the address has no line. Its classification is the strictest
    of its parts."""
    manual, path, line = parse_section_name(parse_address(address)[1])
    stored = rows.rows(_SELECT_SECTIONS, manual=manual, path=path)
    if not stored:
        return None
    try:
        file = open_source_file(server.locations()["manuals"], manual, path)
    except Refusal:
        return None
    section = file.section_at(line or 1)
    first, last = (1, len(file.lines)) if line is None else (section.line, section.end)
    parts: list[Classification] = [row[2] for row in stored if first <= row[0] <= last]
    strictest: Classification = max(parts or ["internal"], key=CLASSIFICATIONS.index)
    text = file.text if line is None else section_text(file.lines, section, whole=True)
    return Record(
        address,
        NAME,
        stored[0][1],
        strictest,
        path if line is None else section.title,
        text,
        part_classifications=frozenset(parts),
        source=SourceText(file.text),
        start=0 if line is None else find_line_starts(file.text)[section.line - 1],
    )


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
    facts, source, starts = (("manual_id", manual), ("path", path)), SourceText(file.text), find_line_starts(file.text)
    for section in file.sections:
        title = section.title if section.parent is None else f"{titles[section.parent]} > {section.title}"
        address, text, start = section_address(manual, path, section.line), section_text(file.lines, section), 0
        if section.line <= len(file.lines):
            start = starts[section.line - 1]
        yield Document(address, namespace, text, title, facts=facts, source=source, start=start)


def build_rows(manual: str, path: str, file: SourceFile) -> Iterator[dict[str, Any]]:
    """A file's sections as rows of `manual_section`, without namespace and classification."""
    for section in file.sections:
        own = section_text(file.lines, section)
        size, own = len(own), own[:MAX_SEARCHED]
        # Twice: one character may be normalized to eighteen.
        folded, tight = (text[:MAX_SEARCHED] for text in build_search_texts(section.title, own))
        yield {
            "line": section.line,
            "own_end": section.own_end,
            "end": section.end,
            "level": section.level,
            "title": section.title,
            "anchor": section.anchor,
            "parent": section.parent,
            "manual": manual,
            "path": path,
            "size": size,
            "folded": folded,
            "tight": tight,
            "defines": json.dumps(sorted(set(find_definitions(folded))), ensure_ascii=False),
            "refers": json.dumps(list(islice(find_references(own), _MAX_REFERENCES)), ensure_ascii=False),
        }


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
