"""One sync through a folder: notes what was edited here, merges what other homes have published, and publishes."""

import fcntl
import os
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tokonoma.core.errors import Conflict
from tokonoma.transfer.model import Remark, SourceError
from tokonoma.transfer.sync.bookkeeping import Bookkeeping
from tokonoma.transfer.sync.engine import SyncEngine, SyncTally
from tokonoma.transfer.sync.exchange import HomeFile, list_files, read_records, remove_left_over, write_file

_ROUNDS = 5  # records that were changed here while they were merged are merged again

EngineFactory = Callable[[Bookkeeping], SyncEngine]


@dataclass(slots=True)
class SyncReport:
    tally: SyncTally
    homes: list[str] = field(default_factory=list[str])
    unread: list[Remark] = field(default_factory=list[Remark])
    published: bool = False


@contextmanager
def hold_sync_lock(home: Path) -> Generator[None]:
    """One sync of a home at a time; the lock ends with its process."""
    handle = os.open(home / "sync.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Conflict("Another sync of this home is running. Wait until it has ended.", reason="busy") from None
        yield
    finally:
        os.close(handle)


def sync_folder(
    folder: Path, books: Bookkeeping, build: EngineFactory, namespace: str, *, rehearsal: bool, secrets: bool
) -> SyncReport:
    files, broken = list_files(folder)
    if any(file.home == books.home and not books.knows_file(file.mark) for file in files):
        # Another home writes under our id: one is a copy of the other, or was restored from a backup.
        books.take_new_id()
    engine = build(books)
    report = SyncReport(engine.tally)
    others = [file for file in files if not (file.home == books.home and books.knows_file(file.mark))]
    for _ in range(_ROUNDS):
        engine.tally.moved.clear()
        engine.scan()
        broken += _receive_all(engine, others)
        if not engine.tally.moved:
            break
    report.homes = sorted({f"{file.home} ({file.name})" if file.name else file.home for file in others})
    report.unread = [Remark(path.name, why) for path, why in dict(broken).items()]
    if not rehearsal:
        report.published = write_file(folder, books, files, namespace, secrets=secrets)
        remove_left_over(folder)
        if not broken:
            books.drop_old_bases(engine.seen)
    return report


def _receive_all(engine: SyncEngine, files: Sequence[HomeFile]) -> list[tuple[Path, str]]:
    broken: list[tuple[Path, str]] = []
    engine.seen.clear()
    for file in files:
        try:
            engine.receive(list(read_records(file)))
        except (OSError, SourceError) as error:
            broken.append((file.path, str(error)))
    return broken
