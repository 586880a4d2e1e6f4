"""vault_create, vault_write, vault_replace, vault_move, vault_restore: changes of files.

Results say where and how much was written, never the text.
"""

import re
from collections.abc import Sequence
from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk
from tokonoma.core.errors import Invalid, Missing
from tokonoma.core.ids import Opaque
from tokonoma.core.paths import join_path
from tokonoma.files.edits import TextEdit, apply_edits, check_hidden
from tokonoma.files.folder import FileContent, file_missing_error
from tokonoma.files.move import move_file
from tokonoma.files.rules import Action, check_write
from tokonoma.files.text import encode_text, file_address, namespace_of, require_utf8, split_lines
from tokonoma.files.text_file import mask_file_text
from tokonoma.files.versions import read_version
from tokonoma.files.write import FileChange, change_file, write_content
from tokonoma.modules.vault.backlinks import RelinkFields, find_linking, to_relink_fields
from tokonoma.modules.vault.matching import find_section
from tokonoma.modules.vault.model import ExpectedVersion, VaultPath, open_vault, resolve_file
from tokonoma.modules.vault.past import find_version

FileText = Annotated[str, Field(description="UTF-8 text")]

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]|$)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*\r?\n?")


class WriteResult(TypedDict):
    path: str
    address: Opaque
    action: str
    version: Opaque
    previous_version: NotRequired[Opaque]
    bytes: int
    lines: int
    added_bytes: int


class ReplaceResult(WriteResult):
    replaced: int
    remaining: int


class MoveResult(WriteResult, RelinkFields):
    origin: str


def create(desk: Desk, path: VaultPath, content: FileText) -> WriteResult:
    """Create a file, and its folders if needed. artifacts/ accepts .md and .json; artifacts/daily/ one file per day
    (YYYY-MM-DD.md). Fails if the file exists."""
    return _write(desk, path, content, "create")


def write(
    desk: Desk,
    path: VaultPath,
    content: FileText,
    mode: Literal["overwrite", "append"],
    expected_version: ExpectedVersion = None,
) -> WriteResult:
    """Overwrite a file, or append to it on a new line. The previous version is kept (vault_history). vault_create
    creates new files."""
    return _write(desk, path, content, mode, expected_version)


def _write(
    desk: Desk, path: str, content: str, mode: Literal["create", "overwrite", "append"], expected: str | None = None
) -> WriteResult:
    data = encode_text(content, "content")
    with open_vault(desk) as folder:
        change = write_content(desk, folder, resolve_file(desk, folder, path), mode, data, expected)
    return _to_result(change, mode)


def replace(
    desk: Desk,
    path: VaultPath,
    replace: Annotated[str, Field(description="the new text")],
    find: Annotated[str | None, Field(min_length=1, description="text to replace, matched exactly")] = None,
    heading: Annotated[
        str | None,
        Field(min_length=1, description="heading of the section to replace; Outer/Inner if several match"),
    ] = None,
    max_replacements: Annotated[int, Field(ge=1, le=1000)] = 1,
    expected_version: ExpectedVersion = None,
) -> ReplaceResult:
    """Replace text, or the section under a heading with its subsections; the heading stays unless `replace` starts with
    one. Returns how many were replaced and how many remain."""
    if (find is None) == (heading is None):
        raise Invalid("Give either find or heading.", fields=["find", "heading"])
    encode_text(replace, "replace")
    replaced, remaining = 1, 0
    with open_vault(desk) as folder:
        parts = resolve_file(desk, folder, path)
        check_write(parts, "replace")

        def build(before: FileContent | None) -> bytes:
            nonlocal replaced, remaining
            if before is None:
                raise file_missing_error(parts)
            text = require_utf8(before.decoded, parts)
            if find is None:
                edits = [_edit_section(text, mask_file_text(desk, parts, text), heading or "", replace)]
            else:
                hidden = desk.policy.find_hidden(text, file_address(join_path(parts)), namespace_of(parts))
                places = _find_visible(text, hidden, find)
                if not places:
                    raise Missing("The text in `find` is not in the file. It must match exactly; read the lines again.")
                edits = [TextEdit(place, place + len(find), replace) for place in places[:max_replacements]]
                replaced, remaining = len(edits), len(places) - len(edits)
            new = apply_edits(text, edits)
            check_hidden(desk, parts, text, new, edits)
            return new.encode()

        change = change_file(desk, folder, parts, "replace", build, expected_version)
    return {**_to_result(change, "replace"), "replaced": replaced, "remaining": remaining}


def move(
    desk: Desk,
    from_path: Annotated[str, Field(description="relative to the vault")],
    to_path: Annotated[str, Field(description="a free path; folders are created if needed")],
    expected_version: ExpectedVersion = None,
    update_links: Annotated[bool, Field(description="false: links to the file, and its own, stay as they are")] = True,
) -> MoveResult:
    """Move or rename a file. Its history is kept. Links to it, and its own relative links, are changed, each file as a
    version of its own. Files cannot be moved into or out of artifacts/daily/."""
    with open_vault(desk) as folder:
        origin = resolve_file(desk, folder, from_path, "from_path")
        goal = resolve_file(desk, folder, to_path, "to_path")
        check_write(origin, "move")
        check_write(goal, "move")
        plan, linking = find_linking(desk, folder, origin, goal) if update_links else (None, ())
        moved = move_file(desk, folder, origin, goal, expected_version, plan, linking)
    return {**_to_result(moved.change, "move"), "origin": join_path(origin), **to_relink_fields(moved)}


def restore(
    desk: Desk,
    path: VaultPath,
    version: Annotated[str, Field(min_length=6, max_length=64, description="from vault_history; a prefix is enough")],
    expected_version: ExpectedVersion = None,
) -> WriteResult:
    """Restore an earlier version, also of a deleted file. The current content is kept as a version."""
    with open_vault(desk) as folder:
        parts = resolve_file(desk, folder, path)
        check_write(parts, "restore")
        data = read_version(desk, folder, find_version(desk, join_path(parts), version))
        change = change_file(desk, folder, parts, "restore", lambda before: data, expected_version)
    return _to_result(change, "restore")


def _to_result(change: FileChange, action: Action) -> WriteResult:
    result: WriteResult = {
        "path": change.path,
        "address": file_address(change.path),
        "action": action,
        "version": change.version,
        "bytes": change.size,
        "lines": change.lines,
        "added_bytes": change.added_bytes,
    }
    if change.previous_version is not None:
        result["previous_version"] = change.previous_version
    return result


def _find_visible(text: str, hidden: Sequence[tuple[int, int]], find: str) -> list[int]:
    """Where it stands. What is hidden from the caller is not compared with `find`: it could be guessed at, letter by
    letter."""
    places: list[int] = []
    at = 0
    for start, end in [*hidden, (len(text), len(text))]:
        while (at := text.find(find, at, start)) >= 0:
            places.append(at)
            at += len(find)
        at = end
    return places


def _edit_section(text: str, shown: str, heading: str, new: str) -> TextEdit:
    """Replace the lines below a heading, its descendants included; the heading too if the new text starts with one.
    `shown` is the text as the caller sees it, by which the heading is found: it has the same lines."""
    lines, section = split_lines(text), find_section(shown, heading)
    start = section.line - 1 if _HEADING.match(new) else section.line
    if start == section.line and not _HEADING.match(lines[section.line - 1]):  # an underlined heading
        while start < len(lines) and not _UNDERLINE.fullmatch(lines[start]):
            start += 1
        start += 1
    before, after = "".join(lines[:start]), "".join(lines[section.end :])
    first = "\n" if before and not before.endswith("\n") else ""
    last = "" if not new or new.endswith("\n") else "\n"
    return TextEdit(len(before), len(text) - len(after), f"{first}{new}{last}")
