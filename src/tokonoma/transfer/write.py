"""Where an export goes: one file, or a folder with a file for each memo. Readable by their owner alone."""

import os
import secrets
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from tokonoma.core.errors import Conflict
from tokonoma.transfer import jsonl, markdown
from tokonoma.transfer.carried import TransferMemo, TransferRelation
from tokonoma.transfer.names import UniquePaths, choose_title

MAX_RELATIONS = 1000  # of one front matter; the rest goes into one file beside the folders


@contextmanager
def create_file(path: Path) -> Generator[BinaryIO]:
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


class ExportFolder:
    """A folder that is new or empty; `.git` and other hidden things may be there."""

    def __init__(self, root: Path) -> None:
        if root.exists() and (not root.is_dir() or any(not each.name.startswith(".") for each in root.iterdir())):
            raise Conflict(f"{root} is not an empty folder. Choose another name, or empty it.", reason="exists")
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.root = root
        self._names = UniquePaths()
        self._overflow: BinaryIO | None = None
        self._overflow_count = 0

    def write_memo(self, memo: TransferMemo, relations: Sequence[tuple[TransferRelation, str]]) -> None:
        inside = self._names.claim_path(memo.namespace, choose_title(memo.title, memo.content), memo.memo_id)
        path = self.root / inside
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._write_file(path, markdown.format_memo_page(memo, relations[:MAX_RELATIONS]).encode())
        for relation, _ in relations[MAX_RELATIONS:]:
            self._write_overflow(jsonl.format_record(relation))
            self._overflow_count += 1

    def close(self) -> None:
        if self._overflow is not None:
            with self._overflow:
                self._overflow.write(jsonl.format_footer(0, self._overflow_count))

    def _write_overflow(self, line: bytes) -> None:
        if self._overflow is None:
            self._overflow = os.fdopen(_open_new(self.root / markdown.OVERFLOW_FILE), "wb")
            self._overflow.write(jsonl.format_header())
        self._overflow.write(line)

    @staticmethod
    def _write_file(path: Path, content: bytes) -> None:
        with os.fdopen(_open_new(path), "wb") as file:
            file.write(content)


def _open_new(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
