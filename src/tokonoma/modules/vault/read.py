"""vault_ls and vault_read: what there is, and a part of it."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core import cursor as cursors
from tokonoma.core.clock import format_time
from tokonoma.core.desk import Desk
from tokonoma.core.errors import Invalid
from tokonoma.core.ids import Opaque
from tokonoma.files.index_sync import NO_TEXT, IndexedFile, TextFile, read_text_file, sync_folder
from tokonoma.files.text import file_address
from tokonoma.modules.vault.glob import compile_glob
from tokonoma.modules.vault.paths import Glob, RelativeDir, VaultPath, open_vault, resolve_file, resolve_folder
from tokonoma.modules.vault.ranges import LineRange, Range
from tokonoma.modules.vault.reading_log import estimate_tokens, load_log, log_reading, save_log

MAX_CHARS = 20_000
_PAGE, _OWNER_PAGE = 200, 20_000


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
    max_chars: NotRequired[Annotated[int, Field(ge=1, le=MAX_CHARS, description="of text in the answer")]]


class ReadPart(TypedDict):
    path: str
    address: Opaque
    version: Opaque
    total_lines: int
    applied_range: LineRange | None
    text: str
    truncated: bool
    truncated_reason: NotRequired[Literal["max_chars"]]
    next_range: NotRequired[LineRange]


def list_files(
    desk: Desk,
    relative_dir: RelativeDir = None,
    glob: Glob = None,
    cursor: Annotated[str | None, Field(description="next_cursor of the page before")] = None,
) -> FileList:
    """The files of the vault in order of path, 200 a page. Hidden names and links are left out."""
    return _list_page(desk, relative_dir, glob, cursor, _PAGE)


def list_files_long(
    desk: Desk, relative_dir: str | None = None, glob: str | None = None, cursor: str | None = None
) -> FileList:
    """For the command line: the same in long pages."""
    return _list_page(desk, relative_dir, glob, cursor, _OWNER_PAGE)


def _list_page(desk: Desk, relative_dir: str | None, glob: str | None, cursor: str | None, size: int) -> FileList:
    (after,) = cursors.decode("vault_ls", cursor) if cursor else ("",)
    matches = compile_glob(glob)
    with open_vault(desk) as folder:
        known = sync_folder(desk, folder, resolve_folder(desk, folder, relative_dir))
    wanted = sorted((each for each in known if matches(each.path)), key=lambda each: each.path)
    rest = [each for each in wanted if each.path > after]
    page: FileList = {
        "items": [_to_listed_file(each) for each in rest[:size]],
        "total": len(wanted),
        "has_more": len(rest) > size,
    }
    if len(rest) > size:
        page["next_cursor"] = cursors.encode("vault_ls", rest[size - 1].path)
    return page


def read(
    desk: Desk,
    path: VaultPath,
    full: Annotated[bool, Field(description="from the first line on, instead of a range")] = False,
    range: Annotated[LineRange | None, Field(description="lines, from 1, both ends included")] = None,
    limits: ReadLimits | None = None,
) -> ReadPart:
    """Lines of a file, up to max_chars (8000 by default, at most 20000); next_range says where to go on. What was read
    is remembered for vault_scan and vault_coverage."""
    if full == (range is not None):
        raise Invalid("Give a range of lines, or full: true; not both.", field="range")
    most = (limits or {}).get("max_chars", 8_000)
    with open_vault(desk) as folder:
        found = read_text_file(desk, folder, resolve_file(desk, folder, path))
    total = len(found.lines)
    first, last = _requested_range(range, total)
    text, end = take_lines(found, first, last, most)
    told: ReadPart = {
        "path": found.path,
        "address": file_address(found.path, first, end) if total else file_address(found.path),
        "version": found.version,
        "total_lines": total,
        "applied_range": {"start_line": first, "end_line": end} if total else None,
        "text": text,
        "truncated": end < last or len(text) < sum(map(len, found.lines[first - 1 : end])),
    }
    if told["truncated"]:
        told["truncated_reason"] = "max_chars"
        if end < last:
            told["next_range"] = {"start_line": end + 1, "end_line": last}
    if total:
        _save_reading(desk, found, (first, end), len(path), len(text))
    return told


def take_lines(found: TextFile, first: int, last: int, most: int) -> tuple[str, int]:
    """Whole lines up to so many characters, and the last of them; of a first line that is longer, its start."""
    taken: list[str] = []
    size = 0
    for line in found.lines[first - 1 : last]:
        if size + len(line) > most and taken:
            break
        taken.append(line[:most])
        size += len(line)
        if size >= most:
            break
    return "".join(taken), first + max(0, len(taken) - 1)


def _requested_range(range: LineRange | None, total: int) -> Range:
    if range is None:
        return 1, total
    start, end = range["start_line"], range["end_line"]
    if start > end:
        raise Invalid(f"range: start_line {start} lies after end_line {end}.", field="range")
    if start > total:
        raise Invalid(f"range: the file has {total} lines, and {start} lies beyond.", field="range", limit=total)
    return start, min(end, total)


def _save_reading(desk: Desk, found: TextFile, lines: Range, chars_in: int, chars_out: int) -> None:
    page, _ = log_reading(load_log(desk, found), [lines], estimate_tokens(chars_in, chars_out))
    with desk.write() as tx:
        save_log(tx, desk, found, page)


def _to_listed_file(known: IndexedFile) -> ListedFile:
    told: ListedFile = {
        "path": known.path,
        "size": known.stamp.size,
        "changed_at": format_time(known.stamp.mtime // 10**6),
    }
    if known.lines == NO_TEXT:
        told["text"] = False
    else:
        told["lines"] = known.lines
    return told
