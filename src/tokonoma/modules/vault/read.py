"""vault_ls, vault_read and vault_search: list files, read lines, and search lines."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, islice
from operator import attrgetter
from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.clock import format_time
from tokonoma.core.desk import Desk
from tokonoma.core.errors import Conflict, Invalid, Refusal
from tokonoma.core.ids import Opaque
from tokonoma.files.backlog import IndexingProgress
from tokonoma.files.encoding import ENCODING_NAMES
from tokonoma.files.folder import RootFolder
from tokonoma.files.index_sync import sync_folder
from tokonoma.files.indexed_file import IndexedFile
from tokonoma.files.ledger import ReadingLog, Recorded, estimate_tokens, load_log, save_logs, split_shown
from tokonoma.files.line_search import LineMatcher, SearchMode, build_line_matcher, compile_glob, shorten_line
from tokonoma.files.listing import NO_LINES, count_left_out
from tokonoma.files.ranges import LineRange, Range
from tokonoma.files.text import MODULE, file_address, split_lines, take_lines
from tokonoma.files.text_file import TextFile, cite_file, read_shown_text
from tokonoma.modules.vault import model
from tokonoma.modules.vault.account import list_left_out
from tokonoma.modules.vault.past import read_past_file

_PAGE, _OWNER_PAGE = 200, 20_000  # files


class ListedFile(TypedDict):
    path: str
    size: int
    lines: NotRequired[int]
    changed_at: Opaque
    text: NotRequired[Literal[False]]
    reason: NotRequired[str]


class ListedFolder(TypedDict):
    path: str
    files: Annotated[int, Field(description="below it, at any depth")]


class FileList(TypedDict):
    items: list[ListedFile]
    total: int
    folders: NotRequired[list[ListedFolder]]
    has_more: bool
    next_cursor: NotRequired[Opaque]
    indexing: NotRequired[IndexingProgress]
    left_out_files: NotRequired[Annotated[dict[str, int], Field(description="files that are not listed, by reason")]]


class ReadLimits(TypedDict):
    max_chars: NotRequired[Annotated[int, Field(ge=1, le=model.MAX_CHARS, description="of text in the result")]]


class ReadPart(TypedDict):
    path: str
    address: Opaque
    version: Opaque
    total_lines: int
    encoding: NotRequired[Annotated[str, Field(description="if it is not UTF-8")]]
    applied_range: LineRange | None
    text: str
    truncated: bool
    truncated_reason: NotRequired[Literal["max_chars"]]
    next_range: NotRequired[LineRange]
    recorded: NotRequired[Recorded]


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
    indexing: NotRequired[IndexingProgress]


def list_files(
    desk: Desk,
    relative_dir: model.RelativeDir = None,
    glob: model.Glob = None,
    cursor: model.PageCursor = None,
    shallow: Annotated[bool, Field(description="only the files and folders directly in this folder")] = False,
) -> FileList:
    """List the files of the vault in order of path, 200 per page. Hidden files and links are only counted."""
    return _list_page(desk, relative_dir, glob, cursor, _PAGE, shallow)


def list_files_long(
    desk: Desk, relative_dir: str | None = None, glob: str | None = None, cursor: str | None = None
) -> FileList:
    """For the command line: the same in long pages."""
    return _list_page(desk, relative_dir, glob, cursor, _OWNER_PAGE)


def _list_page(
    desk: Desk, relative_dir: str | None, glob: str | None, cursor: str | None, size: int, shallow: bool = False
) -> FileList:
    (after,) = desk.open_cursor("vault_ls", cursor) if cursor else ("",)
    matches = compile_glob(glob)
    with model.open_vault(desk) as folder:
        below = model.resolve_folder(folder, relative_dir)
        synced = sync_folder(desk, folder, below)
        left_out = () if cursor else list_left_out(desk, folder, below, (), matches)
    wanted = sorted((file for file in synced.files if matches(file.path)), key=lambda file: file.path)
    depth, folders = len(below), Counter[str]()
    if shallow:
        names = [(file, file.path.split("/")) for file in wanted]
        folders.update("/".join(parts[: depth + 1]) for _, parts in names if len(parts) > depth + 1)
        wanted = [file for file, parts in names if len(parts) == depth + 1]
    rest = [file for file in wanted if file.path > after]
    items = [_to_listed_file(file) for file in rest[:size]]
    page: FileList = {"items": items, "total": len(wanted), "has_more": len(rest) > size}
    if page["has_more"]:
        page["next_cursor"] = desk.seal_cursor("vault_ls", rest[size - 1].path)
    if shallow:
        page["folders"] = [{"path": path, "files": files} for path, files in sorted(folders.items())]
    if synced.indexing is not None:
        page["indexing"] = synced.indexing
    if left_out:
        page["left_out_files"] = count_left_out(left_out)
    return page


def _to_listed_file(file: IndexedFile) -> ListedFile:
    changed_at = format_time(file.stamp.mtime // 10**6)
    listed: ListedFile = {"path": file.path, "size": file.stamp.size, "changed_at": changed_at}
    if file.lines in NO_LINES:
        listed["text"], listed["reason"] = False, NO_LINES[file.lines]
    else:
        listed["lines"] = file.lines
    return listed


def read(
    desk: Desk,
    path: model.VaultPath,
    full: Annotated[bool, Field(description="from the first line, instead of a range")] = False,
    range: Annotated[LineRange | None, Field(description="lines, counted from 1, both ends inclusive")] = None,
    limits: ReadLimits | None = None,
    expected_version: Annotated[
        str | None, Field(min_length=model.SHORT_VERSION, description="fail if the file has changed (from vault_hits)")
    ] = None,
    version: Annotated[
        str | None, Field(min_length=6, max_length=64, description="an earlier content, from vault_history")
    ] = None,
) -> ReadPart:
    """Read lines of a file, up to max_chars (default 8000, at most 20000); next_range says where to continue. What was
    read is recorded for vault_scan and vault_coverage, unless you may only read, or it is an earlier content."""
    if full == (range is not None):
        raise Invalid("Give either range or full: true.", field="range")
    file = model.read_vault_file(desk, path) if version is None else read_past_file(desk, path, version)
    if expected_version is not None and not file.version.startswith(expected_version):
        problem = f"{file.path} has changed: its lines may be others now. Search it again, or read its current version."
        raise Conflict(problem, path=file.path, current_version=file.version)
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
    if file.encoding != "utf-8":
        part["encoding"] = ENCODING_NAMES[file.encoding]
    if part["truncated"]:
        part["truncated_reason"] = "max_chars"
        if end < last:
            part["next_range"] = {"start_line": end + 1, "end_line": last}
    if not desk.may_write:
        part["recorded"] = False
    elif total and version is None:
        shown = split_shown(file, first, end, text)
        log = load_log(desk, MODULE, file).add_reading(*shown, file, estimate_tokens(len(path), len(text)))
        save_logs(desk, [(MODULE, file, log)])
    return part


def _requested_range(range: LineRange | None, total: int) -> Range:
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
    """Find lines that contain a text, in order of path and line; long lines are shortened around it. Lines that are
    shown whole count as read."""
    at, line = desk.open_cursor("vault_search", cursor) if cursor else ("", 0)
    matches, find_in_line = compile_glob(glob), build_line_matcher(query, mode)
    items: list[FoundLine] = []
    searched, texts = 0, dict[str, TextFile]()
    with model.open_vault(desk) as folder:
        synced = sync_folder(desk, folder, model.resolve_folder(folder, relative_dir))
        texts_only = (file for file in synced.files if file.lines not in NO_LINES)
        wanted = sorted((file for file in texts_only if matches(file.path) and file.path >= at), key=attrgetter("path"))
        while searched < len(wanted) and len(items) <= limit:
            desk.check()
            after = line if wanted[searched].path == at else 0
            text = _read_listed(desk, folder, wanted[searched])
            found = list(islice(_search_lines(text, find_in_line, after), limit + 1 - len(items))) if text else []
            if text and found:
                texts[text.path] = text
            items += found
            searched += 1
    versions = {file.path: file.version for file in synced.files}
    for path in {item["path"] for item in items[:limit]}:
        cite_file(desk, path, versions[path])
    _record_shown(desk, texts, items[:limit])
    page: FoundLines = {"items": items[:limit], "searched_files": searched, "has_more": len(items) > limit}
    if page["has_more"]:
        last = items[limit - 1]
        page["next_cursor"] = desk.seal_cursor("vault_search", last["path"], last["line"])
    if synced.indexing is not None:
        page["indexing"] = synced.indexing
    return page


def _read_listed(desk: Desk, folder: RootFolder, file: IndexedFile) -> TextFile | None:
    try:
        text, _ = read_shown_text(desk, folder, file)
    except Refusal:  # it changed since it was listed
        return None
    return TextFile(file.path, text, file.version, split_lines(text))


def _search_lines(file: TextFile, find_in_line: LineMatcher, after: int) -> Iterator[FoundLine]:
    for number, line in enumerate(file.lines[after:], after + 1):
        text = line.rstrip("\r\n")
        position = find_in_line(text)
        if position < 0:
            continue
        shown, is_part = shorten_line(text, position)
        address = file_address(file.path, number)
        found: FoundLine = {"path": file.path, "line": number, "address": address, "text": shown}
        if is_part:
            found["text_truncated"] = True
        yield found


def _record_shown(desk: Desk, files: Mapping[str, TextFile], items: Sequence[FoundLine]) -> None:
    """Lines that were shown whole were read. What is shown of a longer line around a text need not be noted."""
    if not desk.may_write:
        return
    logs: list[tuple[str, TextFile, ReadingLog]] = []
    for path, found in groupby(items, key=lambda item: item["path"]):
        whole = [(item["line"], item["line"]) for item in found if not item.get("text_truncated")]
        before = load_log(desk, MODULE, files[path])
        log = before.add_reading(whole, (), files[path], 0)
        if log.read != before.read:
            logs.append((MODULE, files[path], log))
    save_logs(desk, logs)
