"""A manual's file as it is now: its lines, its sections, and where a ref leads in it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tokonoma.core.desk import SourceText
from tokonoma.files.folder import FileStamp, open_root
from tokonoma.files.text import (
    MAX_SEARCHED,
    MAX_SECTIONS,
    Section,
    decode_text,
    parse_markdown,
    section_text,
    single_section,
    split_lines,
    version_of,
)
from tokonoma.modules.manual.json_nodes import parse_json
from tokonoma.modules.manual.json_text import (
    JsonTree,
    decode_escapes,
    mask_json,
    remove_needless_escapes,
    separate_escapes,
)
from tokonoma.modules.manual.model import is_json


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A manual's file as it is now. `tree` is that of a JSON file, which is read with one member per line."""

    text: str
    lines: Sequence[str]
    sections: Sequence[Section]
    version: str = ""  # the hash of its bytes
    tree: JsonTree | None = None
    written: str = ""  # a JSON file with the lines that it has on the disk
    problem: str = ""
    changed_at: int = 0  # when it was changed on the disk, in milliseconds

    @property
    def is_json(self) -> bool:
        return bool(self.written)

    def with_stamp(self, stamp: FileStamp) -> "SourceFile":
        return replace(self, changed_at=stamp.mtime // 10**6)

    @classmethod
    def parse(cls, text: str, path: str, version: str = "") -> "SourceFile":
        if not is_json(path):
            lines = split_lines(text)
            return cls(text, lines, parse_markdown(text, path, lines), version)
        try:
            found = parse_json(text, path)
        except ValueError as error:
            text, problem = remove_needless_escapes(text), f"{error}: searched as plain text"
            return cls(text, split_lines(text), single_section(text, path), version, written=text, problem=problem)
        text = found.tree.text
        return cls(text, split_lines(text), found.sections, version, found.tree, found.written, found.problem)

    def mask(self, mask: Callable[[str], str]) -> "SourceFile":
        """The file as `mask` shows its text. It keeps its lines, so the sections are the same."""
        text = mask_json(self.text, mask) if self.is_json else mask(self.text)
        if text == self.text:
            return self
        shown = replace(self, text=text, lines=split_lines(text))
        return replace(shown, sections=[self._mask_heading(each, shown, mask) for each in self.sections])

    def _mask_heading(self, section: Section, shown: "SourceFile", mask: Callable[[str], str]) -> Section:
        title = mask(section.title)
        if not self.is_json:
            return replace(section, title=title, names=())
        # A key or a name may be hidden because of what stands beside it.
        if title in self.search_text(section) and title not in shown.search_text(section):
            title = ""
        is_hidden = title != section.title or mask(section.anchor) != section.anchor
        return replace(section, title=title, anchor="" if is_hidden else section.anchor)

    def search_text(self, section: Section) -> str:
        """A section's own text as it is searched: in a JSON file, escapes are what they mean."""
        own = section_text(self.lines, section)
        return decode_escapes(own) if self.is_json else own

    def source_text(self) -> SourceText:
        """What detectors read to find what is in any part of the file."""
        return SourceText(separate_escapes(self.text) if self.is_json else self.text)

    def find_problem(self) -> str:
        """Why not every heading is a section, or not all text is searched; empty if nothing is left out."""
        if len(self.sections) >= MAX_SECTIONS and self.tree is None:
            last = self.sections[-1].line
            return f"{MAX_SECTIONS} headings or more: what follows line {last} is one section. Split the file."
        for section in self.sections:
            if sum(map(len, self.lines[section.line - 1 : section.own_end])) > MAX_SEARCHED:
                return f"too long: of the section at line {section.line} only {MAX_SEARCHED} characters are searched"
        return self.problem

    def section_at(self, line: int) -> Section:
        """The section whose own lines include this one."""
        before = [section for section in self.sections if section.line <= line]
        return before[-1] if before else self.sections[0]

    def locate(self, line: int | None, json_path: str) -> Section:
        """The section that a ref names by its line, or by a place in a JSON file."""
        lines = self.find_lines(json_path) if json_path else None
        return self.section_at(lines[0] if lines else line or 1)

    def find_lines(self, json_path: str) -> tuple[int, int] | None:
        """The first and last line of what a JSON Pointer leads to: of a section, if it is one."""
        tree = self.tree
        value = tree.find(json_path) if tree is not None else None
        if tree is None or value is None:
            return None
        # A caller that may not see a key must not learn that it is there.
        if any(key not in self.lines[line - 1] for line, key in tree.list_keys(value)):
            return None
        named = next((each for each in self.sections if each.anchor == json_path and each.level), None)
        return tree.lines(value) if named is None else (named.line, named.end)


def open_source_file(root: str, manual: str, path: str) -> SourceFile:
    parts = (manual, *path.split("/"))
    with open_root(root) as folder:
        content = folder.read(parts)
    text = decode_text(content.data, parts).removeprefix("\ufeff")
    return SourceFile.parse(text, path, version_of(content.data)).with_stamp(content.stamp)
