"""manual_search: the lines that contain a text, in the order of the files, as this caller may see them."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk
from tokonoma.core.errors import Refusal
from tokonoma.core.ids import Opaque
from tokonoma.core.normalize import normalize
from tokonoma.files.backlog import IndexingProgress
from tokonoma.files.line_search import (
    LineMatcher,
    SearchMode,
    build_line_matcher,
    compile_glob,
    shorten_line,
)
from tokonoma.files.text import MAX_SEARCHED
from tokonoma.modules.manual.json_text import decode_escapes
from tokonoma.modules.manual.model import (
    ManualFileKey,
    ManualId,
    ManualRef,
    PageCursor,
    build_ref,
    cite_manuals,
    is_json,
)
from tokonoma.modules.manual.refs import hide_sections, mask_file
from tokonoma.modules.manual.source_file import SourceFile, open_source_file
from tokonoma.modules.manual.sync import ManualLibrary, load_library

_MASK = normalize("[masked:")  # in a text of the index: this caller may see more than that
_MAX_WARNINGS = 20


class ManualLine(TypedDict):
    """`ref` leads to the section of the line."""

    ref: ManualRef
    line: int
    text: str
    text_truncated: NotRequired[bool]
    before: NotRequired[list[str]]
    after: NotRequired[list[str]]


class ManualLines(TypedDict):
    items: list[ManualLine]
    searched_files: int
    has_more: bool
    next_cursor: NotRequired[Opaque]
    warnings: NotRequired[list[str]]
    indexing: NotRequired[IndexingProgress]


def search(
    desk: Desk,
    query: Annotated[str, Field(min_length=1, max_length=1000)],
    mode: Annotated[
        SearchMode,
        Field(description="plain: ignores case and width; loose: also hyphens, dots, spaces, okurigana; regex: RE2"),
    ] = "plain",
    manual_id: ManualId = None,
    glob: Annotated[
        str | None, Field(description="paths in a manual, like *.json, api/**; a leading ! excludes")
    ] = None,
    limit: Annotated[int, Field(ge=1, le=200)] = 50,
    cursor: PageCursor = None,
    context: Annotated[int, Field(ge=0, le=2, description="lines before and after")] = 0,
) -> ManualLines:
    """Find lines that contain a text, in order of manual, path and line; long lines are shortened around it. In JSON,
    strings are searched as what they mean, and json_path leads to the value. manual_find finds other names too."""
    manual, path, line = desk.open_cursor("manual_search", cursor) if cursor else ("", "", 0)
    matches, matcher = compile_glob(glob), build_line_matcher(query, mode)
    library = load_library(desk)
    files = [file for file in _list_files(library, manual_id) if matches(file[1]) and file >= (manual, path)]
    may_match = _build_filter(library, query, mode, matcher)
    items: list[ManualLine] = []
    problems = {file: note.problem for file, note in library.notes.items() if note.problem}
    warnings = [f"{name}/{file}: {why}" for (name, file), why in problems.items() if (name, file) in files]
    searched = 0
    while searched < len(files) and len(items) <= limit:
        desk.check()
        file, searched = files[searched], searched + 1
        try:
            if may_match(desk, file):
                found = _search_file(desk, library, file, matcher, line if file == (manual, path) else 0, context)
                items += islice(found, limit + 1 - len(items))
        except Refusal as error:  # it changed since it was listed
            warnings.append(f"{file[0]}/{file[1]}: {error.kind}")
    cite_manuals(desk)
    page: ManualLines = {"items": items[:limit], "searched_files": searched, "has_more": len(items) > limit}
    if (indexing := library.count_indexed(manual_id)) is not None:
        page["indexing"] = indexing
    if page["has_more"]:
        last = items[limit - 1]
        page["next_cursor"] = desk.seal_cursor(
            "manual_search", last["ref"]["manual_id"], last["ref"]["path"], last["line"]
        )
    if warnings:
        page["warnings"] = warnings[:_MAX_WARNINGS]
    return page


def _list_files(library: ManualLibrary, manual_id: str | None) -> list[ManualFileKey]:
    sections = library.corpus.sections
    return sorted({sections[position].file for position in library.positions(manual_id)})


def _build_filter(
    library: ManualLibrary, query: str, mode: SearchMode, matcher: LineMatcher
) -> Callable[[Desk, ManualFileKey], bool]:
    """Whether a file can have such a line. The index holds the normalized text of every section, so most files need not
    be read for a plain query. The loose form of a text depends on the line after it, so that index says too little."""
    corpus, is_plain = library.corpus, mode == "plain"
    needle = " ".join(normalize(query).split()) if is_plain else ""

    def is_likely(position: int) -> bool:
        is_cut, text = corpus.sections[position].size >= MAX_SEARCHED, corpus.folded_text(position)
        has_front_matter = corpus.sections[position].level == 0 and not is_json(corpus.sections[position].path)
        return is_cut or has_front_matter or _MASK in text or (is_plain and needle in text)

    def may_match(desk: Desk, file: ManualFileKey) -> bool:
        positions = library.positions(*file)
        if any(map(is_likely, positions)) or (is_json(file[1]) and not is_plain):
            return True
        first = corpus.sections[positions[0]].line
        if is_plain and first == 1:
            return False
        source = open_source_file(desk.server.locations()["manuals"], *file)
        # Lines before the first section, such as a front matter, are in no section.
        lines = source.lines[: first - 1] if is_plain else source.lines
        return any(matcher(line.rstrip("\r\n")) >= 0 for line in lines)

    return may_match


def _search_file(
    desk: Desk, library: ManualLibrary, file: ManualFileKey, matcher: LineMatcher, after: int, context: int
) -> Iterator[ManualLine]:
    indexed = map(library.corpus.sections.__getitem__, library.positions(*file))
    hashes = {section.line: section.hash for section in indexed}  # of those that the caller may see
    masked = mask_file(desk, library, *file, open_source_file(desk.server.locations()["manuals"], *file))
    shown = hide_sections(masked, hashes)
    starts = [section.line for section in shown.sections]
    for number, line in enumerate(shown.lines[after:], after + 1):
        for text in _split_shown(shown, line):
            position = matcher(text)
            if position >= 0:
                section = shown.sections[max(0, bisect_right(starts, number) - 1)]
                ref = build_ref(*file, section.line, hashes.get(section.line, ""), _find_pointer(shown, number))
                yield _to_item(shown, ref, number, shorten_line(text, position), context)
                break


def _split_shown(file: SourceFile, line: str) -> Sequence[str]:
    """A line as it is searched. In JSON a string may hold several."""
    text = line.rstrip("\r\n")
    return decode_escapes(text).split("\n") if file.is_json and "\\" in text else [text]


def _to_item(file: SourceFile, ref: ManualRef, number: int, found: tuple[str, bool], context: int) -> ManualLine:
    ref.pop("target", None)  # as in manual_hits
    item: ManualLine = {"ref": ref, "line": number, "text": found[0]}
    if found[1]:
        item["text_truncated"] = True
    if context:
        before, after = file.lines[max(0, number - 1 - context) : number - 1], file.lines[number : number + context]
        item["before"] = [shorten_line(line.rstrip("\r\n"), 0)[0] for line in before]
        item["after"] = [shorten_line(line.rstrip("\r\n"), 0)[0] for line in after]
    return item


def _find_pointer(file: SourceFile, line: int) -> str:
    """Of the value in a line of a JSON file, if the caller may see every key on the way to it."""
    if file.tree is None:
        return ""
    pointer = file.tree.pointer(file.tree.value_of_line(line))
    return pointer if pointer and file.find_lines(pointer) is not None else ""
