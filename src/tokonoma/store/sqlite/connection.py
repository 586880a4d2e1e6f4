"""One connection to a SQLite file: opening, waiting for locks, cancellation, and the meaning of its errors."""

import os
import random
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import apsw

from tokonoma.core.concurrency import CancelToken
from tokonoma.core.errors import Unavailable, Unready
from tokonoma.store.database import ErrorReason, store_error
from tokonoma.store.fair_lock import MAX_WAIT
from tokonoma.store.sqlite.checksums import check_verified, find_vfs, first_page_error, prepare_new_file
from tokonoma.store.sqlite.frozen import FrozenReason

# An interrupt just before a statement starts has no effect. The progress handler closes that gap; it runs rarely,
# because each time it has to wait for the interpreter.
_STEPS = 1_000_000
_STATEMENTS = 256
_CHANCE = random.Random()  # noqa: S311 - not a secret, and not the process's own, whose seed is its owner's

# SQLite wakes no waiter when it releases its lock. A process that checks rarely misses the moments in which the lock
# is free, and others overtake it; only a lock that is held for long is checked less often.
_STEP = 0.0002  # seconds between two looks, at most
_PATIENT = 100  # looks after which the steps double
_READ_CACHE = 16_384  # KiB: a search looks at some hundred rows, and the next one at many of the same

_REASONS: dict[type[Exception], ErrorReason] = {
    apsw.BusyError: "busy",
    apsw.LockedError: "busy",
    apsw.InterruptError: "closed",  # only `close` interrupts without a cancel token
    apsw.FullError: "disk_full",
    apsw.CorruptError: "corrupt",
    apsw.IOError: "disk",
    apsw.ReadOnlyError: "read_only",
    UnicodeEncodeError: "text",
    UnicodeDecodeError: "corrupt",  # every text was written as UTF-8
    OverflowError: "number",
}
_CONSTRAINTS: dict[int, ErrorReason] = {
    apsw.SQLITE_CONSTRAINT_UNIQUE: "exists",
    apsw.SQLITE_CONSTRAINT_PRIMARYKEY: "exists",
    apsw.SQLITE_CONSTRAINT_ROWID: "exists",
    apsw.SQLITE_CONSTRAINT_FOREIGNKEY: "linked",
}


class SqliteConnection:
    """Used by one thread at a time. `cancel_token` is that of the call that uses it now."""

    __slots__ = (
        "_frozen",
        "_wait",
        "_waiting_since",
        "cancel_token",
        "execute",
        "executemany",
        "interrupt",
        "path",
        "raw",
    )

    def __init__(
        self,
        path: Path,
        *,
        durable: bool,
        reads: bool = False,
        wait: float = MAX_WAIT,
        frozen: FrozenReason | None = None,
    ) -> None:
        self.path = path
        self._frozen: FrozenReason | None = frozen  # nobody can write: see frozen.py
        self.cancel_token: CancelToken | None = None
        self._wait = wait
        self._waiting_since = 0.0
        with translate_errors(path):
            # Never SQLITE_OPEN_CREATE: a deleted file is an error, and must not be created again.
            name, flags = str(path), apsw.SQLITE_OPEN_READWRITE
            if frozen is not None:
                name, flags = f"{path.as_uri()}?immutable=1", apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
            self.raw = apsw.Connection(name, flags, vfs=find_vfs(), statementcachesize=_STATEMENTS)
            cursor: Any = self.raw.cursor()
            self.execute: Callable[..., Any] = cursor.execute
            self.executemany: Callable[..., Any] = cursor.executemany
            self.interrupt = self.raw.interrupt
            self.raw.set_busy_handler(self._busy)
            self.raw.set_progress_handler(self._is_cancelled, _STEPS)
            try:
                self._configure(durable, reads)
            except BaseException as error:
                self.close()
                if is_damage(error):
                    raise first_page_error(path) from error
                raise

    def _configure(self, durable: bool, reads: bool) -> None:
        if self._frozen is None and self.pragma("journal_mode") != "wal":
            self._switch_to_wal()
        check_verified(self.raw, self.path)
        self.pragma("synchronous", "full" if durable else "off")
        self.pragma("wal_autocheckpoint", 0)  # a thread of its own does that: see checkpoint.py
        self.pragma("journal_size_limit", 64 * 1024 * 1024)
        self.pragma("foreign_keys", "on")
        self.pragma("trusted_schema", "off")
        self.pragma("temp_store", "memory")
        if reads:
            self.pragma("query_only", "on")
            self.pragma("cache_size", -_READ_CACHE)

    def _switch_to_wal(self) -> None:
        # SQLite does not call the busy handler here, and two processes may make the same new file.
        tries = 0
        while True:
            try:
                prepare_new_file(self.raw)
                mode = self.pragma("journal_mode", "wal")
                break
            except apsw.BusyError:
                if not self._busy(tries):
                    raise
                tries += 1
        if mode != "wal":
            raise Unready(
                f"The file system under {self.path} cannot hold a SQLite database for several processes."
                " Put the data folder on a local disk.",
                reason="file_system",
            )

    def pragma(self, name: str, value: str | int | None = None) -> Any:
        rows = self.execute(f"pragma {name}" if value is None else f"pragma {name} = {value}").fetchall()
        return rows[0][0] if rows else None

    def _busy(self, tries: int) -> bool:
        """Another connection holds the lock: wait a short random time, so that no process always loses."""
        now = time.monotonic()
        if tries == 0:
            self._waiting_since = now
        if self._is_cancelled() or now - self._waiting_since > self._wait:
            return False
        time.sleep(_CHANCE.uniform(0.5, 1.0) * _STEP * 2 ** min(tries // _PATIENT, 4))
        return True

    def _is_cancelled(self) -> bool:
        cancel_token = self.cancel_token
        return cancel_token is not None and cancel_token.reason != ""

    def to_refusal(self, error: Exception) -> Exception:
        """What a driver's error means for the caller."""
        token = self.cancel_token
        if isinstance(error, apsw.InterruptError | apsw.BusyError) and token is not None and token.reason:
            return token.to_error()
        if isinstance(error, apsw.ReadOnlyError) and self._frozen is not None:
            return store_error(self._frozen, str(self.path))
        return _to_refusal(error, self.path)

    def end_transaction(self, word: Literal["commit", "rollback"]) -> None:
        # An interrupted write, or a full disk, has already rolled everything back.
        if self.raw.in_transaction:
            self.execute(word)

    def close(self) -> None:
        self.raw.close()


def _to_refusal(error: Exception, path: Path) -> Exception:
    if isinstance(error, apsw.NotADBError):
        return first_page_error(path)
    if isinstance(error, apsw.CantOpenError | apsw.PermissionsError | apsw.AuthError):
        return _cannot_open_error(path)
    reason: ErrorReason | None = None
    if isinstance(error, apsw.ConstraintError):
        reason = _CONSTRAINTS.get(extended_code(error))
    for kind, found in _REASONS.items():
        if isinstance(error, kind):
            reason = found
    if is_damage(error):
        reason = "corrupt"
    if isinstance(error, apsw.IOError) and extended_code(error) == apsw.SQLITE_IOERR_SHMSIZE:
        reason = "disk_full"  # there is no room for the index of the log
    return error if reason is None else store_error(reason, str(path))


def is_damage(error: BaseException) -> bool:
    """Whether SQLite finds a page broken, or not matching its checksum."""
    if isinstance(error, apsw.IOError):
        return extended_code(error) == apsw.SQLITE_IOERR_DATA
    return isinstance(error, apsw.CorruptError)


def extended_code(error: apsw.Error) -> int:
    """SQLite's extended result code, which the driver's types do not declare."""
    return getattr(error, "extendedresult", 0)


@contextmanager
def translate_errors(path: Path) -> Generator[None]:
    """Driver errors in the block become refusals that name the file."""
    try:
        yield
    except (apsw.Error, UnicodeEncodeError, OverflowError) as error:
        raise _to_refusal(error, path) from error


def _cannot_open_error(path: Path) -> Unavailable:
    return Unavailable(
        f"The database file {path} cannot be opened. Check that its folder exists and that this user may write there.",
        reason="database",
    )


def create_file(path: Path) -> None:
    """Create the folder and an empty file, readable by their owner only, unless they exist."""
    if path.exists():
        return
    try:
        for folder in reversed([path.parent, *path.parent.parents]):
            if not folder.exists():
                folder.mkdir(mode=0o700, exist_ok=True)
        # Only ever with O_EXCL: closing a second handle on a file in use would drop SQLite's locks on it.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return
    except OSError as error:
        raise _cannot_open_error(path) from error
