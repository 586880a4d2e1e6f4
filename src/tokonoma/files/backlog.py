"""New and changed files are indexed before a call answers, for about a second; the rest is indexed as a job. Meanwhile
calls answer from what is indexed and say how far it is.

Results are stored page by page, so a process that ends meanwhile loses nothing: the next one continues from there.
"""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from typing_extensions import TypedDict

from tokonoma.core.desk import Desk
from tokonoma.core.errors import Unavailable
from tokonoma.core.ids import random_hex
from tokonoma.core.log import log
from tokonoma.files.folder import MAX_FILE_BYTES, FileEntry, RootFolder, open_root

CALL_SECONDS = 1.0
"""CPU time that a call spends on new files."""

LONGEST_SECONDS = 5.0
"""How long that may take on a busy machine, or by another call that this one waits for."""

LARGE_BYTES = 2**20
"""A file from this size on is indexed by the job, after all others."""

_POLL_SECONDS = 0.2  # how often a waiting call checks for its cancellation
_PAGE_BYTES = 128 * 1024  # one transaction: other writers get their turn in between

Check = Callable[[], None]
"""Raises if the call was cancelled or its time is over; between two files"""
IndexPage = Callable[[RootFolder, Sequence[Any], Check], Sequence[Any]]
"""Indexes a few files, and returns what the caller wants to know of them"""


class IndexingProgress(TypedDict):
    """How many files are indexed. The others are in no answer yet; ask again."""

    done: int
    total: int


def _is_large(entry: FileEntry) -> bool:
    return LARGE_BYTES <= entry.stamp.size <= MAX_FILE_BYTES  # a larger one is not even read


class _IndexingRun:
    """The indexing of a root's files, in pages: large files last."""

    def __init__(self, root: str, items: Sequence[FileEntry], page_size: int, index_page: IndexPage) -> None:
        self.root, self.page_size, self.index_page = root, page_size, index_page
        self.items = sorted(items, key=_is_large)
        self.done, self.total = 0, len(items)
        self.in_background = False
        self.ended = threading.Event()

    def process_page(self, folder: RootFolder, check: Check) -> Sequence[Any]:
        page: list[FileEntry] = []
        size = 0
        for entry in self.items[self.done : self.done + self.page_size]:
            size += entry.stamp.size
            if page and size > _PAGE_BYTES:
                break
            page.append(entry)
        results = self.index_page(folder, page, check)
        self.done += len(page)
        return results

    def run_step(self) -> float | None:
        """One page in the background, as a job; None when all is done."""
        try:
            with open_root(self.root) as folder:
                self.process_page(folder, self._check_stop)
            if self.done < self.total:
                return 0.0
        except Exception as error:  # the folder was removed: the next call starts again
            log("warning", "files.indexing", error=type(error).__name__, done=self.done, total=self.total)
        self.finish()
        return None

    def _check_stop(self) -> None:
        if self.ended.is_set():  # the server closes
            raise Unavailable("The server closes.", reason="closed")

    def finish(self) -> None:
        with _lock:
            if _runs.get(self.root) is self:
                del _runs[self.root]
        self.ended.set()


_runs: dict[str, _IndexingRun] = {}
_lock = threading.Lock()


class Patience:
    """How long one call works on new files: for a second of CPU time, or as long as its caller waits; on the command
    line, which shows the progress and ends with the command, until the end."""

    def __init__(self, desk: Desk, seconds: float | None = None) -> None:
        self._desk, self.is_endless = desk, desk.call.caller.transport == "cli"
        self._waits = seconds is not None or self.is_endless
        self._until = time.monotonic() + (LONGEST_SECONDS if seconds is None else seconds)
        if self.is_endless:
            self._until = float("inf")
        self._cpu_until = float("inf") if self._waits else time.thread_time() + CALL_SECONDS

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self._until or time.thread_time() >= self._cpu_until

    @property
    def waits_on(self) -> bool:
        """Whether the caller waits for the job, and its time is not over."""
        return self._waits and not self.is_over

    def wait_for_others(self, root: str) -> None:
        """Wait while another call indexes these files, and for the job if the caller said so."""
        run = _runs.get(root)
        while run is not None and not self.is_over and (self._waits or not run.in_background):
            self._desk.check()
            self._desk.report(run.done, run.total, "indexing")
            if run.ended.wait(_POLL_SECONDS):
                run = _runs.get(root)


def process_backlog(
    desk: Desk, root: str, items: Sequence[FileEntry], page_size: int, index_page: IndexPage, patience: Patience
) -> tuple[list[Any], Sequence[FileEntry]]:
    """Index items, page by page, until the patience is over; a job continues. Returns what the pages returned, and the
    items that are left."""
    with _lock:
        other = _runs.get(root)
        # What has changed since that run began is not part of it, and few: it need not wait for the others.
        others = frozenset[FileEntry]() if other is None else frozenset(other.items[other.done :])
        mine = [entry for entry in items if entry not in others]
        run = _IndexingRun(root, mine, page_size, index_page)
        if other is None:
            _runs[root] = run
    results: list[Any] = []
    try:
        with open_root(root) as folder:
            while run.done < run.total and (run.done == 0 or not patience.is_over):
                desk.check()
                desk.report(run.done, run.total, "indexing")
                if _is_large(run.items[run.done]) and not patience.is_endless:
                    break
                results += run.process_page(folder, desk.check)
    except BaseException:
        run.finish()
        raise
    left = [*run.items[run.done :], *(entry for entry in items if entry in others)]
    if other is not None or not left:
        run.finish()
    else:
        run.in_background = True
        # A name of its own: the job before it may have ended its last step, and still be known to the runner.
        desk.start_job(f"index {root} {random_hex(4)}", run.run_step, run.finish)
    return results, left
