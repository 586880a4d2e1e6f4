"""JSON files as sections (ADR 0046): each starts in a line of its own and is an object, an array, or members in a row.

A section's anchor is the JSON Pointer of what it holds; it has none if it holds several members of something larger.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from tokonoma.core.normalize import normalize
from tokonoma.files.text import MAX_SECTIONS, Section
from tokonoma.modules.manual.json_text import (
    JsonTree,
    escape_name,
    remove_needless_escapes,
    scan_json,
    spread_json,
)

_NODE_CHARS = 1500  # what is longer is divided
_MAX_DEPTH = 40  # of what is divided
_MAX_POINTER = 500  # characters of a stored pointer
_MAX_TITLE = 100  # characters
_MAX_CACHED = 200_000  # characters of a file that is kept in memory
_TITLE_KEYS = ("title", "name", "id")


@dataclass(frozen=True, slots=True)
class JsonDocument:
    """A JSON file: as it was written, as it is read, and its sections."""

    written: str
    tree: JsonTree
    sections: list[Section]
    problem: str


def parse_json(raw: str, path: str) -> JsonDocument:
    """Divide a file; ValueError says why it is no JSON, or too much of it."""
    return _parse_cached(raw, path) if len(raw) <= _MAX_CACHED else _parse(raw, path)


def _parse(raw: str, path: str) -> JsonDocument:
    written = remove_needless_escapes(raw)
    tree = scan_json(written)
    spread = spread_json(tree)
    if spread is not None:
        tree = scan_json(spread)
    limit = 0
    sections = _Cutter(tree, limit).cut(path)
    while len(sections) > MAX_SECTIONS:
        limit = max(2 * limit, 2 * _NODE_CHARS, len(tree.text) // MAX_SECTIONS)
        sections = _Cutter(tree, limit).cut(path)
    return JsonDocument(written, tree, sections, _find_repeated_key(tree))


# Several calls in a row read the same file.
_parse_cached = lru_cache(maxsize=8)(_parse)


def find_named_value(tree: JsonTree, last_line: int, terms: Sequence[str]) -> str | None:
    """The pointer of the first key or value up to a line that contains one of the normalized terms."""
    for value in range(len(tree.starts)):
        if tree.lines(value)[0] > last_line:
            return None
        names = tree.names[value], tree.scalar(value) or ""
        if any(term in normalize(name) for name in names if isinstance(name, str) for term in terms):
            return tree.pointer(value)
    return None


def _find_repeated_key(tree: JsonTree) -> str:
    seen: set[tuple[int, str]] = set()
    for value, (parent, name) in enumerate(zip(tree.parents, tree.names, strict=True)):
        if isinstance(name, str):
            if (parent, name) in seen:
                line = tree.line_at(tree.keys[value])
                return f"line {line}: a key occurs twice in one object; json_path leads to the last"
            seen.add((parent, name))
    return ""


class _Cutter:
    """Divides a tree into sections. With a `limit`, members of up to so many characters together are one section."""

    def __init__(self, tree: JsonTree, limit: int) -> None:
        self._tree, self._limit = tree, limit
        self._sections: list[Section] = []

    def cut(self, name: str) -> list[Section]:
        tree = self._tree
        last = max(1, tree.line_at(len(tree.text)))
        self._sections.append(Section(1, last, last, 0, name))
        if tree.starts:
            self._divide(0, self._sections[0], "")
        return _set_ends(self._sections, last)

    def _divide(self, container: int, section: Section, pointer: str | None, depth: int = 0) -> None:
        """Open sections for what is in an object or array. What comes first stays in its own section."""
        tree, most = self._tree, max(_NODE_CHARS, self._limit)
        repeated = self._find_repeated(container)
        size = 0  # of the small members in the section that is open
        run: list[int] = []  # those members, unless it is the container's own section
        for child in tree.children(container):
            below = self._point(pointer, child, repeated)
            if not self._is_small(child):
                self._name_run(run)
                opened = self._open(child, section, below) if self._starts_line(child) else section
                if tree.size(child) > most and depth < _MAX_DEPTH:
                    self._divide(child, opened, below, depth + 1)
                run, size = [], most
            elif size + tree.size(child) <= most:
                size += tree.size(child)
                if run:
                    run.append(child)
            elif self._starts_line(child):  # otherwise it belongs to what is before it in the line
                self._name_run(run)
                self._open(child, section, below)
                run, size = [child], tree.size(child)
        self._name_run(run)

    def _is_small(self, child: int) -> bool:
        return not self._tree.is_container(child) or self._tree.size(child) <= self._limit

    def _starts_line(self, child: int) -> bool:
        """Whether a section can start with it: a line has one section."""
        return self._tree.lines(child)[0] > self._sections[-1].line

    def _open(self, child: int, parent: Section, pointer: str | None) -> Section:
        line = self._tree.lines(child)[0]
        section = Section(line, line, line, parent.level + 1, self._title(child), pointer or "", parent.line)
        self._sections.append(section)
        return section

    def _name_run(self, run: list[int]) -> None:
        """If the newest section holds several members, it has no pointer of its own."""
        if len(run) > 1:
            first, last = (str(self._tree.names[each])[:_MAX_TITLE] for each in (run[0], run[-1]))
            self._sections[-1] = replace(self._sections[-1], title=f"{first} … {last}", anchor="")

    def _title(self, child: int) -> str:
        """The key; of an object in an array, its title, name or id."""
        tree, name = self._tree, self._tree.names[child]
        if isinstance(name, str):
            return name[:_MAX_TITLE]
        fields = {tree.names[each]: tree.scalar(each) for each in _first(tree.children(child))}
        titles = (fields.get(key) for key in _TITLE_KEYS)
        return next((title[:_MAX_TITLE] for title in titles if title), self._element_title(child))

    def _element_title(self, child: int) -> str:
        above = self._tree.names[self._tree.parents[child]]
        return f"{above}[{self._tree.names[child]}]"[:_MAX_TITLE]

    def _find_repeated(self, container: int) -> set[str | int]:
        if self._tree.text[self._tree.starts[container]] == "[":
            return set()
        names = Counter(self._tree.names[child] for child in self._tree.children(container))
        return {name for name, count in names.items() if count > 1}

    def _point(self, pointer: str | None, child: int, repeated: set[str | int]) -> str | None:
        name = self._tree.names[child]
        if pointer is None or name in repeated:
            return None
        below = pointer + escape_name(name)
        return below if len(below) <= _MAX_POINTER else None


def _first(children: Iterator[int]) -> list[int]:
    return [child for _, child in zip(range(20), children, strict=False)]


def _set_ends(sections: list[Section], last: int) -> list[Section]:
    """A section's own lines reach to the next section; all of it, to the next one that is not inside it."""
    ends = [last] * len(sections)
    open_sections: list[int] = []
    for index, section in enumerate(sections):
        while open_sections and sections[open_sections[-1]].level >= section.level:
            ends[open_sections.pop()] = section.line - 1
        open_sections.append(index)
    following = [*(section.line - 1 for section in sections[1:]), last]
    return [
        replace(section, own_end=own_end, end=end)
        for section, own_end, end in zip(sections, following, ends, strict=True)
    ]
