"""vault_search: lines that hold a text, as it is written, nearly, or by a pattern."""

from collections.abc import Callable
from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core import cursor as cursors
from tokonoma.core.desk import Desk
from tokonoma.core.errors import Invalid, Refusal
from tokonoma.core.normalize import fold, loosen
from tokonoma.core.opaque import Plain
from tokonoma.files.folder import Folder
from tokonoma.files.index_sync import NO_TEXT, all_files
from tokonoma.files.sections import lines_of
from tokonoma.files.text import address, decoded
from tokonoma.modules.vault.glob import compiled, matcher
from tokonoma.modules.vault.paths import Glob, RelativeDir, folder_at, vault

_SHORT = 240  # characters of a line in the answer
Mode = Literal["plain", "regex", "loose"]


class FoundLine(TypedDict):
    path: str
    line: int
    address: Plain
    text: str
    text_truncated: NotRequired[bool]


class FoundLines(TypedDict):
    items: list[FoundLine]
    searched_files: int
    has_more: bool
    next_cursor: NotRequired[Plain]


def search(
    desk: Desk,
    query: Annotated[str, Field(min_length=1, max_length=1000)],
    mode: Annotated[
        Mode,
        Field(description="plain: case and width ignored; loose: hyphens, dots, spaces and okurigana too; regex: RE2"),
    ] = "plain",
    glob: Glob = None,
    relative_dir: RelativeDir = None,
    limit: Annotated[int, Field(ge=1, le=200)] = 50,
    cursor: Annotated[str | None, Field(description="next_cursor of the page before")] = None,
) -> FoundLines:
    """Lines of the vault's files that hold a text, in order of path and line; long lines are cut around it."""
    at, line = cursors.decode("vault_search", cursor) if cursor else ("", 0)
    matches, wanted = matcher(glob), _wanted(query, mode)
    items: list[FoundLine] = []
    searched = 0
    with vault(desk) as folder:
        known = all_files(desk, folder, folder_at(desk, folder, relative_dir))
        paths = sorted(each.path for each in known if each.lines != NO_TEXT and matches(each.path) and each.path >= at)
        for path in paths:
            desk.check()
            searched += 1
            items += _lines(folder, path, wanted, line if path == at else 0, limit + 1 - len(items))
            if len(items) > limit:
                break
    told: FoundLines = {"items": items[:limit], "searched_files": searched, "has_more": len(items) > limit}
    if len(items) > limit:
        last = items[limit - 1]
        told["next_cursor"] = cursors.encode("vault_search", last["path"], last["line"])
    return told


def _wanted(query: str, mode: Mode) -> Callable[[str], int]:
    """From a line to where the text stands in it; -1 if nowhere."""
    if mode == "regex":
        pattern = compiled(query, "query")

        def by_pattern(line: str) -> int:
            found = pattern.search(line)
            return -1 if found is None else found.start()

        return by_pattern
    change = fold if mode == "plain" else loosen
    text = change(query)
    if not text.strip():
        raise Invalid("Nothing is left of the query once it is folded; search with mode plain or regex.", field="query")
    return lambda line: change(line).find(text)


def _lines(folder: Folder, path: str, wanted: Callable[[str], int], after: int, most: int) -> list[FoundLine]:
    parts = tuple(path.split("/"))
    try:
        lines = lines_of(decoded(folder.read(parts).data, parts))
    except Refusal:  # it changed since it was listed
        return []
    found: list[FoundLine] = []
    for number, line in enumerate(lines, 1):
        place = wanted(line.rstrip("\r\n")) if number > after else -1
        if place >= 0:
            found.append(_told(path, number, line.rstrip("\r\n"), place))
            if len(found) == most:
                break
    return found


def _told(path: str, number: int, line: str, place: int) -> FoundLine:
    start = 0 if len(line) <= _SHORT else max(0, min(place - _SHORT // 4, len(line) - _SHORT))
    told: FoundLine = {
        "path": path,
        "line": number,
        "address": address(path, number),
        "text": line[start : start + _SHORT],
    }
    if len(line) > _SHORT:
        told["text_truncated"] = True
    return told
