"""A folder of items, one Markdown file each, that is written again and again: in git, each export shows what changed.

Nothing is overwritten that somebody has written: a file that was edited since its export is a conflict, unless it says
what the item says; other people's files are left alone.
"""

import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tokonoma.core.errors import Conflict
from tokonoma.transfer.carried import Remark
from tokonoma.transfer.item_page import (
    ItemFields,
    ItemPageError,
    build_file_name,
    compute_digest,
    format_page,
    is_page,
    parse_page,
)
from tokonoma.transfer.walk import UnreadableFile, read_note, scan_folder


@dataclass(slots=True)
class ExportOutcome:
    """How an export went."""

    written: int = 0
    unchanged: int = 0
    removed: int = 0
    conflicts: list[Remark] = field(default_factory=list[Remark])


def read_pages(root: Path) -> Iterator[tuple[str, ItemFields] | Remark]:
    """The items of a folder, each with the file that it stands in, in the order of names."""
    found = scan_folder(root)
    yield from found.remarks
    for inside in found.notes:
        try:
            text, _, _ = read_note(found.root, inside)
            if is_page(text):
                yield inside, parse_page(text, inside)
            else:
                yield Remark(inside, "It is no item (no `tokonoma_item:` in its front matter).", lost=False)
        except (UnreadableFile, ItemPageError) as error:
            yield Remark(inside, str(error))


class ItemFolder:
    def __init__(self, root: Path) -> None:
        if root.exists() and not root.is_dir():
            raise Conflict(f"{root} is not a folder.", reason="exists")
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._root = root
        self._existing: dict[str, tuple[str, ItemFields]] = {}
        for each in read_pages(root):
            if not isinstance(each, Remark):
                self._existing[each[1]["uid"]] = each
        self.outcome = ExportOutcome()

    def write_item(self, item: ItemFields) -> None:
        inside, text = build_file_name(item), format_page(item).encode()
        old = self._existing.pop(item["uid"], None)
        path = self._root / inside
        if old is not None and self._has_conflict(old, item):
            return
        if old is None and path.exists():
            self.outcome.conflicts.append(Remark(inside, "Another file has this name; it was left as it is."))
            return
        if old is not None and old[0] == inside and path.read_bytes() == text:
            self.outcome.unchanged += 1
            return
        _replace_file(path, text)
        self.outcome.written += 1
        if old is not None and old[0] != inside:
            self._remove_file(old[0])

    def remove_item(self, item: ItemFields) -> None:
        """An item that is in the trash: its file goes, unless somebody has edited it."""
        old = self._existing.pop(item["uid"], None)
        if old is None or self._has_conflict(old, item):
            return
        self._remove_file(old[0])
        self.outcome.removed += 1

    def _has_conflict(self, old: tuple[str, ItemFields], item: ItemFields) -> bool:
        inside, said = old
        if not said["edited"] or compute_digest(said) == compute_digest({**item, "deleted_at": said.get("deleted_at")}):
            return False
        self.outcome.conflicts.append(Remark(inside, "It was edited since it was exported; import it first."))
        return True

    def _remove_file(self, inside: str) -> None:
        path = self._root / inside
        path.unlink(missing_ok=True)
        with suppress(OSError):  # others may still be in it
            path.parent.rmdir()


def _replace_file(path: Path, content: bytes) -> None:
    """Whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    made = path.with_name(f".{secrets.token_hex(6)}.tmp")
    try:
        with os.fdopen(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
        made.replace(path)
    except BaseException:
        with suppress(OSError):
            made.unlink()
        raise
