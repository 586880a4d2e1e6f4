"""vault_create, vault_write, vault_replace, vault_move: written whole, and answered for without the text."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk
from tokonoma.core.errors import Invalid
from tokonoma.core.ids import Opaque
from tokonoma.files.atomic import file_exists_error
from tokonoma.files.folder import FileContent, file_missing_error
from tokonoma.files.rules import check_write
from tokonoma.files.text import decode_text, encode_text, file_address
from tokonoma.files.write import FileChange, change_file, move_file
from tokonoma.modules.vault.edit import replace_section, replace_text
from tokonoma.modules.vault.paths import ExpectedVersion, VaultPath, open_vault, resolve_file

FileText = Annotated[str, Field(description="UTF-8 text")]


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


class MoveResult(WriteResult):
    origin: str


def to_write_result(done: FileChange, action: str) -> WriteResult:
    """Where and how much, never what."""
    answer: WriteResult = {
        "path": done.path,
        "address": file_address(done.path),
        "action": action,
        "version": done.version,
        "bytes": done.size,
        "lines": done.lines,
        "added_bytes": done.added_bytes,
    }
    if done.previous_version is not None:
        answer["previous_version"] = done.previous_version
    return answer


def create(desk: Desk, path: VaultPath, content: FileText) -> WriteResult:
    """Make a new file; folders are made as needed. artifacts/ takes .md and .json; artifacts/daily/ one file a day
    (YYYY-MM-DD.md). Refused if the file is there already."""
    data = encode_text(content, "content")
    with open_vault(desk) as folder:
        parts = resolve_file(desk, folder, path)
        check_write(parts, "create")

        def made(before: FileContent | None) -> bytes:
            if before is not None:
                raise file_exists_error(parts, parts[-1])
            return data

        done = change_file(desk, folder, parts, "create", made)
    return to_write_result(done, "create")


def write(
    desk: Desk,
    path: VaultPath,
    content: FileText,
    mode: Literal["overwrite", "append"],
    expected_version: ExpectedVersion = None,
) -> WriteResult:
    """Overwrite a file, or append to it, beginning on a line of its own. The version before is kept (vault_history).
    New files are made by vault_create."""
    data = encode_text(content, "content")
    with open_vault(desk) as folder:
        parts = resolve_file(desk, folder, path)
        check_write(parts, mode)

        def made(before: FileContent | None) -> bytes:
            if before is None:
                raise file_missing_error(parts)
            if mode == "overwrite":
                return data
            decode_text(before.data, parts)  # nothing is added to what is no text
            joint = b"" if not before.data or before.data.endswith(b"\n") else b"\n"
            return before.data + joint + data

        done = change_file(desk, folder, parts, mode, made, expected_version)
    return to_write_result(done, mode)


def replace(
    desk: Desk,
    path: VaultPath,
    replace: Annotated[str, Field(description="what comes in its place")],
    find: Annotated[str | None, Field(min_length=1, description="text to replace, letter by letter")] = None,
    heading: Annotated[
        str | None,
        Field(min_length=1, description="heading whose section to replace; Outer/Inner if several"),
    ] = None,
    max_replacements: Annotated[int, Field(ge=1, le=1000)] = 1,
    expected_version: ExpectedVersion = None,
) -> ReplaceResult:
    """Replace text, or what stands under a heading with all below it; the heading stays unless `replace` begins with
    one. Answers how many were replaced and how many remain."""
    if (find is None) == (heading is None):
        raise Invalid("Give find or heading, and not both.", fields=["find", "heading"])
    encode_text(replace, "replace")
    counts = (0, 0)
    with open_vault(desk) as folder:
        parts = resolve_file(desk, folder, path)
        check_write(parts, "replace")

        def made(before: FileContent | None) -> bytes:
            nonlocal counts
            if before is None:
                raise file_missing_error(parts)
            text = decode_text(before.data, parts)
            if find is not None:
                text, *counted = replace_text(text, find, replace, max_replacements)
                counts = (counted[0], counted[1])
            else:
                text, counts = replace_section(text, heading or "", replace), (1, 0)
            return text.encode()

        done = change_file(desk, folder, parts, "replace", made, expected_version)
    return {**to_write_result(done, "replace"), "replaced": counts[0], "remaining": counts[1]}


def move(
    desk: Desk,
    from_path: Annotated[str, Field(description="relative to the vault")],
    to_path: Annotated[str, Field(description="where nothing is yet; folders are made as needed")],
    expected_version: ExpectedVersion = None,
) -> MoveResult:
    """Give a file another name. Its history goes with it. Nothing is moved into or out of artifacts/daily/."""
    with open_vault(desk) as folder:
        origin, goal = (
            resolve_file(desk, folder, from_path, "from_path"),
            resolve_file(desk, folder, to_path, "to_path"),
        )
        check_write(origin, "move")
        check_write(goal, "move")
        done = move_file(desk, folder, origin, goal, expected_version)
    return {**to_write_result(done, "move"), "origin": "/".join(origin)}
