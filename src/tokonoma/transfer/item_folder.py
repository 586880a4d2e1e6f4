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
from tokonoma.transfer.item_page import BadPage, Carried, digest, file_name, is_page, page, read
from tokonoma.transfer.walk import Unreadable, folder, text_of


@dataclass(slots=True)
class Outcome:
    """How an export went."""

    written: int = 0
    unchanged: int = 0
    removed: int = 0
    conflicts: list[Remark] = field(default_factory=list[Remark])


def pages(root: Path) -> Iterator[tuple[str, Carried] | Remark]:
    """The items of a folder, each with the file that it stands in, in the order of names."""
    found = folder(root)
    yield from found.remarks
    for inside in found.notes:
        try:
            text, _, _ = text_of(found.root, inside)
            if is_page(text):
                yield inside, read(text, inside)
            else:
                yield Remark(inside, "It is no item (no `tokonoma_item:` in its front matter).", lost=False)
        except (Unreadable, BadPage) as error:
            yield Remark(inside, str(error))


class ItemFolder:
    def __init__(self, root: Path) -> None:
        if root.exists() and not root.is_dir():
            raise Conflict(f"{root} is not a folder.", reason="exists")
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._root = root
        self._there: dict[str, tuple[str, Carried]] = {}
        for each in pages(root):
            if not isinstance(each, Remark):
                self._there[each[1]["uid"]] = each
        self.outcome = Outcome()

    def put(self, item: Carried) -> None:
        inside, text = file_name(item), page(item).encode()
        old = self._there.pop(item["uid"], None)
        path = self._root / inside
        if old is not None and self._edited(old, item):
            return
        if old is None and path.exists():
            self.outcome.conflicts.append(Remark(inside, "Another file has this name; it was left as it is."))
            return
        if old is not None and old[0] == inside and path.read_bytes() == text:
            self.outcome.unchanged += 1
            return
        _replace(path, text)
        self.outcome.written += 1
        if old is not None and old[0] != inside:
            self._remove(old[0])

    def drop(self, item: Carried) -> None:
        """An item that is in the trash: its file goes, unless somebody has edited it."""
        old = self._there.pop(item["uid"], None)
        if old is None or self._edited(old, item):
            return
        self._remove(old[0])
        self.outcome.removed += 1

    def _edited(self, old: tuple[str, Carried], item: Carried) -> bool:
        inside, said = old
        if not said["edited"] or digest(said) == digest({**item, "deleted_at": said.get("deleted_at")}):
            return False
        self.outcome.conflicts.append(Remark(inside, "It was edited since it was exported; import it first."))
        return True

    def _remove(self, inside: str) -> None:
        path = self._root / inside
        path.unlink(missing_ok=True)
        with suppress(OSError):  # others may still be in it
            path.parent.rmdir()


def _replace(path: Path, content: bytes) -> None:
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
