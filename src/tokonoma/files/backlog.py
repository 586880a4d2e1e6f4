"""Indexing many new files can take longer than a caller waits: then it continues as a job, and callers get an error
that says how far it is.

Results are stored page by page, so a process that ends meanwhile loses nothing: the next one continues from there.
"""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from tokonoma.core.desk import Desk
from tokonoma.core.errors import Unavailable
from tokonoma.core.log import log
from tokonoma.files.folder import FileEntry, RootFolder, open_root

WAIT_SECONDS = 25.0
"""How long a call works on it, or waits for another call. Clients give up after about 60."""

_POLL_SECONDS = 0.2  # how often a waiting call checks for its cancellation

_PAGE_BYTES = 4 * 2**20  # other writers get their turn in between

Check = Callable[[], None]
"""Raises if the call was cancelled or its time is over; between two files"""
IndexPage = Callable[[RootFolder, Sequence[Any], Check], None]


class _IndexingRun:
    """The indexing of a root's files, in pages."""

    def __init__(self, root: str, items: Sequence[FileEntry], page_size: int, index_page: IndexPage) -> None:
        self.root, self.items, self.page_size, self.index_page = root, items, page_size, index_page
        self.done, self.total = 0, len(items)
        self.ended = threading.Event()

    def process_page(self, folder: RootFolder, check: Check) -> None:
        page: list[FileEntry] = []
        size = 0
        for entry in self.items[self.done : self.done + self.page_size]:
            size += entry.stamp.size
            if page and size > _PAGE_BYTES:
                break
            page.append(entry)
        self.index_page(folder, page, check)
        self.done += len(page)

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

    def check_deadline(self, desk: Desk, deadline: float) -> None:
        """Report progress. Unavailable after the deadline, except on the command line, which shows the progress and
        ends with the command."""
        desk.check()
        desk.report(self.done, self.total, "indexing")
        if time.monotonic() > deadline and desk.call.caller.transport != "cli":
            raise Unavailable(
                f"New files are being indexed: {self.done} of {self.total} done. Indexing continues in the background;"
                " ask again in a moment for a complete result.",
                reason="indexing",
                done=self.done,
                total=self.total,
            )


_runs: dict[str, _IndexingRun] = {}
_lock = threading.Lock()


def wait_for_others(desk: Desk, root: str) -> None:
    """Wait while another call, or its background thread, indexes these files."""
    run = _runs.get(root)
    deadline = time.monotonic() + WAIT_SECONDS
    while run is not None and not run.ended.wait(_POLL_SECONDS):
        run.check_deadline(desk, deadline)


def process_backlog(desk: Desk, root: str, items: Sequence[FileEntry], page_size: int, index_page: IndexPage) -> None:
    """Index all items, page by page. Unavailable if that takes too long; it then continues in the background."""
    run, deadline = _IndexingRun(root, items, page_size, index_page), time.monotonic() + WAIT_SECONDS
    with _lock:
        _runs[root] = run
    continued = False
    try:
        with open_root(root) as folder:
            while run.done < run.total:
                try:
                    run.check_deadline(desk, deadline)
                except Unavailable:
                    continued = True
                    desk.start_job(f"index {root}", run.run_step, run.finish)
                    raise
                run.process_page(folder, desk.check)
    finally:
        if not continued:
            run.finish()
