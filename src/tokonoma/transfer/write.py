"""Where an export goes: one file, or a folder with a file for each memo. Readable by their owner alone."""

import os
import secrets
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from tokonoma.core.errors import Conflict
from tokonoma.transfer import jsonl, markdown
from tokonoma.transfer.carried import Memo, Relation
from tokonoma.transfer.names import Names, title_of

MOST_RELATIONS = 1000  # of one front matter; the rest goes into one file beside the folders


@contextmanager
def new_file(path: Path) -> Generator[BinaryIO]:
    """Appears under its name when it is complete; one that is there already is never overwritten."""
    if path.exists() or path.is_symlink():
        raise Conflict(f"{path} already exists. Choose another name.", reason="exists")
    path.parent.mkdir(parents=True, exist_ok=True)
    made = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with os.fdopen(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        made.rename(path)
    except BaseException:
        with suppress(OSError):
            made.unlink()
        raise


class NewFolder:
    """A folder that is new or empty; `.git` and other hidden things may be there."""

    def __init__(self, root: Path) -> None:
        if root.exists() and (not root.is_dir() or any(not each.name.startswith(".") for each in root.iterdir())):
            raise Conflict(f"{root} is not an empty folder. Choose another name, or empty it.", reason="exists")
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.root = root
        self._names = Names()
        self._more: BinaryIO | None = None
        self._further = 0

    def put(self, memo: Memo, relations: Sequence[tuple[Relation, str]]) -> None:
        inside = self._names.path(memo.namespace, title_of(memo.title, memo.content), memo.memo_id)
        path = self.root / inside
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._write(path, markdown.page(memo, relations[:MOST_RELATIONS]).encode())
        for relation, _ in relations[MOST_RELATIONS:]:
            self._add(jsonl.line(relation))
            self._further += 1

    def close(self) -> None:
        if self._more is not None:
            with self._more:
                self._more.write(jsonl.last(0, self._further))

    def _add(self, line: bytes) -> None:
        if self._more is None:
            self._more = os.fdopen(_opened(self.root / markdown.MORE), "wb")
            self._more.write(jsonl.first())
        self._more.write(line)

    @staticmethod
    def _write(path: Path, content: bytes) -> None:
        with os.fdopen(_opened(path), "wb") as file:
            file.write(content)


def _opened(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
