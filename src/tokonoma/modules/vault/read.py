"""vault_ls, vault_read and vault_search: list files, read lines, and search lines."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.clock import format_time
from tokonoma.core.desk import Desk, note_down
from tokonoma.core.errors import Invalid, Refusal
from tokonoma.core.ids import Opaque
from tokonoma.core.normalize import normalize, normalize_loose
from tokonoma.files.folder import RootFolder
from tokonoma.files.index_sync import NO_TEXT, IndexedFile, sync_folder
from tokonoma.files.text import decode_text, file_address, split_lines, take_lines
from tokonoma.files.text_file import cite_file, mask_file_text
from tokonoma.modules.vault import model
from tokonoma.modules.vault.matching import compile_glob, compile_pattern

_PAGE, _OWNER_PAGE = 200, 20_000  # files
_MAX_LINE_CHARS = 240  # of a found line
SearchMode = Literal["plain", "regex", "loose"]


class ListedFile(TypedDict):
    path: str
    size: int
    lines: NotRequired[int]
    changed_at: Opaque
    text: NotRequired[Literal[False]]


class FileList(TypedDict):
    items: list[ListedFile]
    total: int
    has_more: bool
    next_cursor: NotRequired[Opaque]


class ReadLimits(TypedDict):
    max_chars: NotRequired[Annotated[int, Field(ge=1, le=model.MAX_CHARS, description="of text in the result")]]


class ReadPart(TypedDict):
    path: str
    address: Opaque
    version: Opaque
    total_lines: int
    applied_range: model.LineRange | None
    text: str
    truncated: bool
    truncated_reason: NotRequired[Literal["max_chars"]]
    next_range: NotRequired[model.LineRange]
    recorded: NotRequired[model.Recorded]


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


def list_files(
    desk: Desk, relative_dir: model.RelativeDir = None, glob: model.Glob = None, cursor: model.PageCursor = None
) -> FileList:
    """List the files of the vault in order of path, 200 per page, without hidden files and links."""
    return _list_page(desk, relative_dir, glob, cursor, _PAGE)


def list_files_long(
    desk: Desk, relative_dir: str | None = None, glob: str | None = None, cursor: str | None = None
) -> FileList:
    """For the command line: the same in long pages."""
    return _list_page(desk, relative_dir, glob, cursor, _OWNER_PAGE)


def _list_page(desk: Desk, relative_dir: str | None, glob: str | None, cursor: str | None, size: int) -> FileList:
    (after,) = desk.open_cursor("vault_ls", cursor) if cursor else ("",)
    matches = compile_glob(glob)
    with model.open_vault(desk) as folder:
        files = sync_folder(desk, folder, model.resolve_folder(folder, relative_dir))
    wanted = sorted((file for file in files if matches(file.path)), key=lambda file: file.path)
    rest = [file for file in wanted if file.path > after]
    items = [_to_listed_file(file) for file in rest[:size]]
    page: FileList = {"items": items, "total": len(wanted), "has_more": len(rest) > size}
    if page["has_more"]:
        page["next_cursor"] = desk.seal_cursor("vault_ls", rest[size - 1].path)
    return page


def _to_listed_file(file: IndexedFile) -> ListedFile:
    changed_at = format_time(file.stamp.mtime // 10**6)
    listed: ListedFile = {"path": file.path, "size": file.stamp.size, "changed_at": changed_at}
    if file.lines == NO_TEXT:
        listed["text"] = False
    else:
        listed["lines"] = file.lines
    return listed


def read(
    desk: Desk,
    path: model.VaultPath,
    full: Annotated[bool, Field(description="from the first line, instead of a range")] = False,
    range: Annotated[model.LineRange | None, Field(description="lines, counted from 1, both ends inclusive")] = None,
    limits: ReadLimits | None = None,
) -> ReadPart:
    """Read lines of a file, up to max_chars (default 8000, at most 20000); next_range says where to continue. What was
    read is recorded for vault_scan and vault_coverage, unless you may only read."""
    if full == (range is not None):
        raise Invalid("Give either range or full: true.", field="range")
    file = model.read_vault_file(desk, path)
    total = len(file.lines)
    first, last = _requested_range(range, total)
    text, end = take_lines(file.lines, first, last, (limits or {}).get("max_chars", 8_000))
    part: ReadPart = {
        "path": file.path,
        "address": file_address(file.path, first, end) if total else file_address(file.path),
        "version": file.version,
        "total_lines": total,
        "applied_range": {"start_line": first, "end_line": end} if total else None,
        "text": text,
        "truncated": end < last or len(text) < sum(map(len, file.lines[first - 1 : end])),
    }
    if part["truncated"]:
        part["truncated_reason"] = "max_chars"
        if end < last:
            part["next_range"] = {"start_line": end + 1, "end_line": last}
    if not desk.may_write:
        part["recorded"] = False
    elif total:
        tokens = model.estimate_tokens(len(path), len(text))
        log, _ = model.ReadingLog.load(desk, file).add_reading([(first, end)], tokens)
        note_down(partial(model.save_log, desk, file, log))
    return part


def _requested_range(range: model.LineRange | None, total: int) -> model.Range:
    if range is None:
        return 1, total
    start, end = range["start_line"], range["end_line"]
    if start > end:
        raise Invalid(f"range: start_line {start} is after end_line {end}.", field="range")
    if start > total:
        raise Invalid(f"range: line {start} does not exist; the file has {total} lines.", field="range", limit=total)
    return start, min(end, total)


def search(
    desk: Desk,
    query: Annotated[str, Field(min_length=1, max_length=1000)],
    mode: Annotated[
        SearchMode,
        Field(description="plain: ignores case and width; loose: also hyphens, dots, spaces, okurigana; regex: RE2"),
    ] = "plain",
    glob: model.Glob = None,
    relative_dir: model.RelativeDir = None,
    limit: Annotated[int, Field(ge=1, le=200)] = 50,
    cursor: model.PageCursor = None,
) -> FoundLines:
    """Find lines that contain a text, in order of path and line; long lines are shortened around it."""
    at, line = desk.open_cursor("vault_search", cursor) if cursor else ("", 0)
    matches, find_in_line = compile_glob(glob), _build_line_matcher(query, mode)
    items: list[FoundLine] = []
    searched = 0
    with model.open_vault(desk) as folder:
        files = sync_folder(desk, folder, model.resolve_folder(folder, relative_dir))
        paths = sorted(file.path for file in files if file.lines != NO_TEXT and matches(file.path) and file.path >= at)
        while searched < len(paths) and len(items) <= limit:
            desk.check()
            after = line if paths[searched] == at else 0
            found = _search_file(desk, folder, paths[searched], find_in_line, after)
            items += islice(found, limit + 1 - len(items))
            searched += 1
    versions = {file.path: file.version for file in files}
    for path in {item["path"] for item in items[:limit]}:
        cite_file(desk, path, versions[path])
    page: FoundLines = {"items": items[:limit], "searched_files": searched, "has_more": len(items) > limit}
    if page["has_more"]:
        last = items[limit - 1]
        page["next_cursor"] = desk.seal_cursor("vault_search", last["path"], last["line"])
    return page


def _build_line_matcher(query: str, mode: SearchMode) -> Callable[[str], int]:
    """A function from a line to the position of the text in it; -1 if it is not there."""
    if mode == "regex":
        pattern = compile_pattern(query, "query")
        return lambda line: match.start() if (match := pattern.search(line)) else -1
    change = normalize if mode == "plain" else normalize_loose
    text = change(query)
    if not text.strip():
        raise Invalid("The query is empty after normalization. Use mode plain or regex.", field="query")
    return lambda line: change(line).find(text)


def _search_file(
    desk: Desk, folder: RootFolder, path: str, find_in_line: Callable[[str], int], after: int
) -> Iterator[FoundLine]:
    parts = tuple(path.split("/"))
    try:
        lines = split_lines(mask_file_text(desk, parts, decode_text(folder.read(parts).data, parts)))
    except Refusal:  # it changed since it was listed
        return
    for number, line in enumerate(lines[after:], after + 1):
        text = line.rstrip("\r\n")
        position = find_in_line(text)
        if position < 0:
            continue
        start = max(0, min(position - _MAX_LINE_CHARS // 4, len(text) - _MAX_LINE_CHARS))
        shown, address = text[start : start + _MAX_LINE_CHARS], file_address(path, number)
        found: FoundLine = {"path": path, "line": number, "address": address, "text": shown}
        if len(text) > _MAX_LINE_CHARS:
            found["text_truncated"] = True
        yield found
