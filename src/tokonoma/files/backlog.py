"""Many new files take longer than a caller waits: what is left goes on in a thread, and callers are told how far it is.

What was done is kept file by file, so a process that ends meanwhile loses nothing: the next one goes on from there.
"""

import threading
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from tokonoma.core.desk import Desk
from tokonoma.core.errors import Unavailable
from tokonoma.core.log import log
from tokonoma.files.folder import RootFolder, open_root

WAIT_SECONDS = 25.0
"""For which a call works on it itself, or waits for whoever does. Clients give up after 60 or so."""

_POLL_SECONDS = 0.2  # seconds between two looks at whether the call is still wanted

Each = TypeVar("Each")


class _IndexingRun:
    """Somebody is reading the files of a root."""

    def __init__(self, total: int) -> None:
        self.done, self.total = 0, total
        self.ended = threading.Event()


_runs: dict[str, _IndexingRun] = {}
_lock = threading.Lock()


def wait_for_others(desk: Desk, root: str) -> bool:
    """Wait while another call, or what it left, reads these files. False: there is none, and nothing has changed."""
    run = _runs.get(root)
    if run is None:
        return False
    until = time.monotonic() + WAIT_SECONDS
    while not run.ended.wait(_POLL_SECONDS):
        desk.check()
        desk.report(run.done, run.total, "indexing")
        if time.monotonic() > until and not _waits_to_the_end(desk):
            raise _indexing_error(run)
    return True


def process_backlog(
    desk: Desk, root: str, todo: Sequence[Each], portion: int, take: Callable[[RootFolder, Sequence[Each]], None]
) -> None:
    """Take in all of these, portion by portion. Unavailable if that lasts too long; then it goes on without us."""
    run, until = _IndexingRun(len(todo)), time.monotonic() + WAIT_SECONDS
    with _lock:
        _runs[root] = run
    handed_on = False
    try:
        with open_root(root) as folder:
            while run.done < run.total:
                desk.check()
                desk.report(run.done, run.total, "indexing")
                if time.monotonic() > until and not _waits_to_the_end(desk):
                    threading.Thread(
                        target=_continue_in_background,
                        args=(root, run, todo, portion, take),
                        name="tokonoma-index",
                        daemon=True,
                    ).start()
                    handed_on = True
                    raise _indexing_error(run)
                _process_page(folder, run, todo, portion, take)
    finally:
        if not handed_on:
            _finish_run(root, run)


def _waits_to_the_end(desk: Desk) -> bool:
    """Who sits at the terminal sees the progress, and nothing goes on after the command."""
    return desk.call.caller.transport == "cli"


def _process_page(
    folder: RootFolder,
    run: _IndexingRun,
    todo: Sequence[Each],
    portion: int,
    take: Callable[[RootFolder, Sequence[Each]], None],
) -> None:
    page = todo[run.done : run.done + portion]
    take(folder, page)
    run.done += len(page)


def _continue_in_background(
    root: str, run: _IndexingRun, todo: Sequence[Each], portion: int, take: Callable[[RootFolder, Sequence[Each]], None]
) -> None:
    try:
        with open_root(root) as folder:
            while run.done < run.total:
                _process_page(folder, run, todo, portion, take)
    except Exception as error:  # the house closes, or the folder has gone: whoever asks next begins again
        log("warning", "files.indexing", error=type(error).__name__, done=run.done, total=run.total)
    finally:
        _finish_run(root, run)


def _finish_run(root: str, run: _IndexingRun) -> None:
    with _lock:
        if _runs.get(root) is run:
            del _runs[root]
    run.ended.set()


def _indexing_error(run: _IndexingRun) -> Unavailable:
    return Unavailable(
        f"New files are being indexed: {run.done} of {run.total} so far. This goes on in the background; ask again in a"
        " moment, and the answer will be complete.",
        reason="indexing",
        done=run.done,
        total=run.total,
    )
