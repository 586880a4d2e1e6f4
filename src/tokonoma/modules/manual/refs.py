"""Refs: which part of a manual a caller means, and whether it is still the text that the ref was given for.

A ref may carry the hash of its section's text. `a1b2c3d4+7` means the line that is seven lines below the first line of
that section. A ref whose section has changed is refused, and leads to where the section is now.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal

from tokonoma.core.desk import Desk, parse_address
from tokonoma.core.errors import Conflict, Invalid, Missing
from tokonoma.modules.manual.corpus import IndexedSection
from tokonoma.modules.manual.model import (
    ManualFileKey,
    ManualRef,
    SectionKey,
    SectionPlace,
    build_ref,
    parse_place_name,
    parse_ref,
    section_address,
)
from tokonoma.modules.manual.past_sections import find_successors
from tokonoma.modules.manual.source_file import SourceFile, open_source_file
from tokonoma.modules.manual.sync import ManualLibrary, load_library, refresh_record

_HASH = re.compile(r"([0-9a-f]{8})(?:\+(\d{1,9}))?\Z")
_SELECT_VERSION = "select hash from manual_stamp where manual = :manual and path = :path"

SectionState = Literal["same", "moved", "changed", "gone"]
_HAPPENED: Mapping[SectionState, str] = {
    "moved": "has moved. Read it at `current`",
    "changed": "has changed since the ref was given. Read it as it is now at `current`",
    "gone": "is gone: no section has its text or its headings. Search again",
}


def parse_place(ref: Mapping[str, Any]) -> SectionPlace:
    manual, path, line = parse_ref(ref)
    column, end = (_read_number(ref, name) for name in ("start_column", "end_line"))
    if line is None and (column or end):
        raise Invalid("A ref with end_line or start_column needs a start_line.", field="ref")
    if line and end and end < line:
        raise Invalid(f"end_line {end} is before start_line {line}.", field="ref")
    text = ref.get("hash")
    match = _HASH.match(text) if isinstance(text, str) else None
    if text is not None and (match is None or line is None):
        raise Invalid("hash must be that of a ref which a tool returned, with its start_line.", field="ref")
    hash, offset = (match[1], int(match[2] or 0)) if match else ("", 0)
    return SectionPlace(manual, path, line, column or 1, end, ref.get("json_path") or "", hash, offset)


def _read_number(ref: Mapping[str, Any], name: str) -> int | None:
    value = ref.get(name)
    if value is not None and (type(value) is not int or value < 1):
        raise Invalid(f"{name} must be an integer from 1.", field="ref")
    return value


class ManualReader:
    """The manuals as one caller may see them now. What is read once stays in memory until the call ends."""

    def __init__(self, desk: Desk, wanted: ManualFileKey | None = None) -> None:
        """`wanted` is a file that is indexed in any case."""
        self.desk, self.library = desk, load_library(desk, wanted)
        self._files: dict[tuple[str, str], SourceFile] = {}
        self._whole: dict[tuple[str, str], SourceFile] = {}  # masked, with the sections that the caller may not see

    def open_file(self, manual: str, path: str) -> SourceFile:
        """A file that the caller may see, without what is hidden from it. Conflict if it is not the file that was
        indexed a moment ago: its lines would belong to other sections."""
        known = self._files.get((manual, path))
        if known is not None:
            return known
        positions = self.library.positions(manual, path)
        visible = {self.library.corpus.sections[position].line for position in positions}
        file = open_source_file(self.desk.server.locations()["manuals"], manual, path)
        row = self.desk.row(_SELECT_VERSION, manual=manual, path=path)
        if row is None or not row[0].endswith(f" {file.version}"):
            raise Conflict(f"{path} is being changed. Try again.", reason="changing", path=path)
        self._whole[manual, path] = whole = mask_file(self.desk, self.library, manual, path, file)
        self._files[manual, path] = shown = hide_sections(whole, visible)
        return shown

    def find_lines(self, place: SectionPlace) -> tuple[int, int] | None:
        """The first and last line of what a JSON Pointer leads to, if the caller may see it."""
        shown, whole = self.open_file(place.manual, place.path), self._whole[place.manual, place.path]
        lines = whole.find_lines(place.json_path)
        if lines is None or whole.section_at(lines[0]).line not in {section.line for section in shown.sections}:
            return None
        return lines

    def add_hash(self, ref: ManualRef) -> None:
        """Add to a ref of an open file the hash of its section. A line above the first section has none."""
        line = ref.get("start_line", 1)
        section = self.open_file(ref["manual_id"], ref["path"]).section_at(line)
        position = self.library.corpus.positions.get((ref["manual_id"], ref["path"], section.line))
        if position is not None and line >= section.line:
            hash = self.library.corpus.sections[position].hash
            ref["hash"] = hash if line == section.line else f"{hash}+{line - section.line}"

    @cached_property
    def _by_hash(self) -> Mapping[tuple[str, str], Sequence[IndexedSection]]:
        """The sections that the caller may see, by manual and hash."""
        found: dict[tuple[str, str], list[IndexedSection]] = {}
        for position in self.library.positions(None):
            section = self.library.corpus.sections[position]
            found.setdefault((section.manual, section.hash), []).append(section)
        return found

    def find_section(self, key: SectionKey, hash: str) -> tuple[SectionState, IndexedSection | None]:
        """What has become of the section that was here and had this hash, among those that the caller may see."""
        manual, path, line = key
        same_text = self._by_hash.get((manual, hash))
        if same_text:
            nearest = min(same_text, key=lambda section: (section.path != path, abs(section.line - line)))
            return ("same" if nearest.key == key else "moved"), nearest
        for later in reversed(find_successors(self.desk, manual, path, hash)):
            for section in self._by_hash.get((manual, later), ()):
                if section.path == path:
                    return "changed", section
        return "gone", None

    def check_place(self, place: SectionPlace) -> None:
        """Conflict if the ref has a hash and does not lead to the text that it was given for."""
        if not place.hash or self._is_same(place):
            return
        start = (place.line or 1) - place.offset
        state, section = self.find_section((place.manual, place.path, start), place.hash)
        if state == "same":  # a JSON Pointer leads elsewhere now
            state = "moved"
        current: ManualRef | None = None
        if section is not None:
            current = build_ref(*section.key, section.hash, section.json_path)
        where = f"line {start}" if place.line is not None else place.json_path
        problem = f"The section that was at {where} of {place.path} {_HAPPENED[state]}. Its text is not shown."
        raise Conflict(problem, reason=state, current=current)

    def _is_same(self, place: SectionPlace) -> bool:
        """Whether the section with the hash is at the line of the ref, and holds, or is in, what its pointer leads to.
        An address has only one of the two."""
        found = self._by_hash.get((place.manual, place.hash), ())
        lines = {section.line for section in found if section.path == place.path}
        if not lines or (place.line is not None and place.line - place.offset not in lines):
            return False
        if not place.json_path:
            return place.line is not None
        first, last = self.find_lines(place) or (0, 0)
        sections = self.open_file(place.manual, place.path).sections
        return any(each.line in lines and each.line <= last and each.own_end >= first for each in sections)


def refresh_section(desk: Desk, address: str) -> None:
    """Update the index for a record that is about to be read. Conflict if the address has a hash, and the section has
    changed; Missing if it leads to a value of a JSON file that the caller may not see."""
    refresh_record(desk, address)
    place = parse_place_name(parse_address(address)[1])
    if not place.hash and not place.json_path:
        return
    reader = ManualReader(desk)
    reader.check_place(place)
    if place.json_path and reader.find_lines(place) is None:  # a key that is hidden from this caller does not exist
        raise Missing(f"There is no record at {address}.", address=address)


def mask_file(desk: Desk, library: ManualLibrary, manual: str, path: str, file: SourceFile) -> SourceFile:
    """The file without what this caller may not see."""
    address, namespace = section_address(manual, path), library.on_disk.namespace_of(manual)
    return file.mask(lambda text: desk.policy.mask_text(text, address, namespace))


def hide_sections(file: SourceFile, visible: Collection[int]) -> SourceFile:
    """The file as a caller may see it: lines of hidden sections become empty, without a trace. `visible` are the first
    lines of sections."""
    if all(section.line in visible for section in file.sections):
        return file
    lines = list(file.lines)
    for section in file.sections:
        if section.line not in visible:
            lines[section.line - 1 : section.own_end] = [""] * (section.own_end - section.line + 1)
    shown = [section for section in file.sections if section.line in visible] or file.sections[:1]
    return replace(file, text="".join(lines), lines=lines, sections=shown)
