"""vault_create, vault_write, vault_replace, vault_move: written whole, and answered for without the text."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk
from tokonoma.core.errors import Invalid
from tokonoma.core.opaque import Plain
from tokonoma.files.atomic import exists
from tokonoma.files.folder import Content, missing
from tokonoma.files.rules import check_write
from tokonoma.files.text import address, decoded, encoded
from tokonoma.files.write import Changed, change, moved
from tokonoma.modules.vault.edit import by_heading, by_text
from tokonoma.modules.vault.paths import Path, Version, file_at, vault

Text = Annotated[str, Field(description="UTF-8 text")]


class Written(TypedDict):
    path: str
    address: Plain
    action: str
    version: Plain
    previous_version: NotRequired[Plain]
    bytes: int
    lines: int
    added_bytes: int


class Replaced(Written):
    replaced: int
    remaining: int


class Moved(Written):
    origin: str


def told(done: Changed, action: str) -> Written:
    """Where and how much, never what."""
    answer: Written = {
        "path": done.path,
        "address": address(done.path),
        "action": action,
        "version": done.version,
        "bytes": done.size,
        "lines": done.lines,
        "added_bytes": done.grown,
    }
    if done.before is not None:
        answer["previous_version"] = done.before
    return answer


def create(desk: Desk, path: Path, content: Text) -> Written:
    """Make a new file; folders are made as needed. artifacts/ takes .md and .json; artifacts/daily/ one file a day
    (YYYY-MM-DD.md). Refused if the file is there already."""
    data = encoded(content, "content")
    with vault(desk) as folder:
        parts = file_at(desk, folder, path)
        check_write(parts, "create")

        def made(before: Content | None) -> bytes:
            if before is not None:
                raise exists(parts, parts[-1])
            return data

        done = change(desk, folder, parts, "create", made)
    return told(done, "create")


def write(
    desk: Desk,
    path: Path,
    content: Text,
    mode: Literal["overwrite", "append"],
    expected_version: Version = None,
) -> Written:
    """Overwrite a file, or append to it, beginning on a line of its own. The version before is kept (vault_history).
    New files are made by vault_create."""
    data = encoded(content, "content")
    with vault(desk) as folder:
        parts = file_at(desk, folder, path)
        check_write(parts, mode)

        def made(before: Content | None) -> bytes:
            if before is None:
                raise missing(parts)
            if mode == "overwrite":
                return data
            decoded(before.data, parts)  # nothing is added to what is no text
            joint = b"" if not before.data or before.data.endswith(b"\n") else b"\n"
            return before.data + joint + data

        done = change(desk, folder, parts, mode, made, expected_version)
    return told(done, mode)


def replace(
    desk: Desk,
    path: Path,
    replace: Annotated[str, Field(description="what comes in its place")],
    find: Annotated[str | None, Field(min_length=1, description="text to replace, letter by letter")] = None,
    heading: Annotated[
        str | None,
        Field(min_length=1, description="heading whose section to replace; Outer/Inner if several"),
    ] = None,
    max_replacements: Annotated[int, Field(ge=1, le=1000)] = 1,
    expected_version: Version = None,
) -> Replaced:
    """Replace text, or what stands under a heading with all below it; the heading stays unless `replace` begins with
    one. Answers how many were replaced and how many remain."""
    if (find is None) == (heading is None):
        raise Invalid("Give find or heading, and not both.", fields=["find", "heading"])
    encoded(replace, "replace")
    counts = (0, 0)
    with vault(desk) as folder:
        parts = file_at(desk, folder, path)
        check_write(parts, "replace")

        def made(before: Content | None) -> bytes:
            nonlocal counts
            if before is None:
                raise missing(parts)
            text = decoded(before.data, parts)
            if find is not None:
                text, *counted = by_text(text, find, replace, max_replacements)
                counts = (counted[0], counted[1])
            else:
                text, counts = by_heading(text, heading or "", replace), (1, 0)
            return text.encode()

        done = change(desk, folder, parts, "replace", made, expected_version)
    return {**told(done, "replace"), "replaced": counts[0], "remaining": counts[1]}


def move(
    desk: Desk,
    from_path: Annotated[str, Field(description="relative to the vault")],
    to_path: Annotated[str, Field(description="where nothing is yet; folders are made as needed")],
    expected_version: Version = None,
) -> Moved:
    """Give a file another name. Its history goes with it. Nothing is moved into or out of artifacts/daily/."""
    with vault(desk) as folder:
        origin, goal = file_at(desk, folder, from_path, "from_path"), file_at(desk, folder, to_path, "to_path")
        check_write(origin, "move")
        check_write(goal, "move")
        done = moved(desk, folder, origin, goal, expected_version)
    return {**told(done, "move"), "origin": "/".join(origin)}
