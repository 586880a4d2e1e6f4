"""vault_search: lines that hold a text, as it is written, nearly, or by a pattern."""

from collections.abc import Callable
from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core import cursor as cursors
from tokonoma.core.desk import Desk
from tokonoma.core.errors import Invalid, Refusal
from tokonoma.core.ids import Opaque
from tokonoma.core.normalize import normalize, normalize_loose
from tokonoma.files.folder import RootFolder
from tokonoma.files.index_sync import NO_TEXT, sync_folder
from tokonoma.files.sections import split_lines
from tokonoma.files.text import decode_text, file_address
from tokonoma.modules.vault.glob import compile_glob, compile_pattern
from tokonoma.modules.vault.paths import Glob, RelativeDir, open_vault, resolve_folder

_MAX_LINE_CHARS = 240  # characters of a line in the answer
SearchMode = Literal["plain", "regex", "loose"]


class FoundLine(TypedDict):
    path: str
    line: int
    address: Opaque
    text: str
    text_truncated: NotRequired[bool]


class FoundLines(TypedDict):
    items: list[FoundLine]
    searched_files: int
    has_more: bool
    next_cursor: NotRequired[Opaque]


def search(
    desk: Desk,
    query: Annotated[str, Field(min_length=1, max_length=1000)],
    mode: Annotated[
        SearchMode,
        Field(description="plain: case and width ignored; loose: hyphens, dots, spaces and okurigana too; regex: RE2"),
    ] = "plain",
    glob: Glob = None,
    relative_dir: RelativeDir = None,
    limit: Annotated[int, Field(ge=1, le=200)] = 50,
    cursor: Annotated[str | None, Field(description="next_cursor of the page before")] = None,
) -> FoundLines:
    """Lines of the vault's files that hold a text, in order of path and line; long lines are cut around it."""
    at, line = cursors.decode("vault_search", cursor) if cursor else ("", 0)
    matches, wanted = compile_glob(glob), _build_line_matcher(query, mode)
    items: list[FoundLine] = []
    searched = 0
    with open_vault(desk) as folder:
        known = sync_folder(desk, folder, resolve_folder(desk, folder, relative_dir))
        paths = sorted(each.path for each in known if each.lines != NO_TEXT and matches(each.path) and each.path >= at)
        for path in paths:
            desk.check()
            searched += 1
            items += _search_file(folder, path, wanted, line if path == at else 0, limit + 1 - len(items))
            if len(items) > limit:
                break
    told: FoundLines = {"items": items[:limit], "searched_files": searched, "has_more": len(items) > limit}
    if len(items) > limit:
        last = items[limit - 1]
        told["next_cursor"] = cursors.encode("vault_search", last["path"], last["line"])
    return told


def _build_line_matcher(query: str, mode: SearchMode) -> Callable[[str], int]:
    """From a line to where the text stands in it; -1 if nowhere."""
    if mode == "regex":
        pattern = compile_pattern(query, "query")

        def by_pattern(line: str) -> int:
            found = pattern.search(line)
            return -1 if found is None else found.start()

        return by_pattern
    change = normalize if mode == "plain" else normalize_loose
    text = change(query)
    if not text.strip():
        raise Invalid("Nothing is left of the query once it is folded; search with mode plain or regex.", field="query")
    return lambda line: change(line).find(text)


def _search_file(folder: RootFolder, path: str, wanted: Callable[[str], int], after: int, most: int) -> list[FoundLine]:
    parts = tuple(path.split("/"))
    try:
        lines = split_lines(decode_text(folder.read(parts).data, parts))
    except Refusal:  # it changed since it was listed
        return []
    found: list[FoundLine] = []
    for number, line in enumerate(lines, 1):
        place = wanted(line.rstrip("\r\n")) if number > after else -1
        if place >= 0:
            found.append(_to_found_line(path, number, line.rstrip("\r\n"), place))
            if len(found) == most:
                break
    return found


def _to_found_line(path: str, number: int, line: str, place: int) -> FoundLine:
    start = (
        0 if len(line) <= _MAX_LINE_CHARS else max(0, min(place - _MAX_LINE_CHARS // 4, len(line) - _MAX_LINE_CHARS))
    )
    told: FoundLine = {
        "path": path,
        "line": number,
        "address": file_address(path, number),
        "text": line[start : start + _MAX_LINE_CHARS],
    }
    if len(line) > _MAX_LINE_CHARS:
        told["text_truncated"] = True
    return told
