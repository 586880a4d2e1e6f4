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
from tokonoma.files.folder import Folder, opened_root

SECONDS = 25.0
"""For which a call works on it itself, or waits for whoever does. Clients give up after 60 or so."""

_LOOK = 0.2  # seconds between two looks at whether the call is still wanted

Each = TypeVar("Each")


class _Run:
    """Somebody is reading the files of a root."""

    def __init__(self, total: int) -> None:
        self.done, self.total = 0, total
        self.ended = threading.Event()


_runs: dict[str, _Run] = {}
_lock = threading.Lock()


def others_are_done(desk: Desk, root: str) -> bool:
    """Wait while another call, or what it left, reads these files. False: there is none, and nothing has changed."""
    run = _runs.get(root)
    if run is None:
        return False
    until = time.monotonic() + SECONDS
    while not run.ended.wait(_LOOK):
        desk.check()
        desk.report(run.done, run.total, "indexing")
        if time.monotonic() > until and not _is_patient(desk):
            raise _told(run)
    return True


def work_off(
    desk: Desk, root: str, todo: Sequence[Each], portion: int, take: Callable[[Folder, Sequence[Each]], None]
) -> None:
    """Take in all of these, portion by portion. Unavailable if that lasts too long; then it goes on without us."""
    run, until = _Run(len(todo)), time.monotonic() + SECONDS
    with _lock:
        _runs[root] = run
    handed_on = False
    try:
        with opened_root(root) as folder:
            while run.done < run.total:
                desk.check()
                desk.report(run.done, run.total, "indexing")
                if time.monotonic() > until and not _is_patient(desk):
                    threading.Thread(
                        target=_go_on, args=(root, run, todo, portion, take), name="tokonoma-index", daemon=True
                    ).start()
                    handed_on = True
                    raise _told(run)
                _take(folder, run, todo, portion, take)
    finally:
        if not handed_on:
            _end(root, run)


def _is_patient(desk: Desk) -> bool:
    """Who sits at the terminal sees the progress, and nothing goes on after the command."""
    return desk.call.caller.transport == "cli"


def _take(
    folder: Folder, run: _Run, todo: Sequence[Each], portion: int, take: Callable[[Folder, Sequence[Each]], None]
) -> None:
    page = todo[run.done : run.done + portion]
    take(folder, page)
    run.done += len(page)


def _go_on(
    root: str, run: _Run, todo: Sequence[Each], portion: int, take: Callable[[Folder, Sequence[Each]], None]
) -> None:
    try:
        with opened_root(root) as folder:
            while run.done < run.total:
                _take(folder, run, todo, portion, take)
    except Exception as error:  # the house closes, or the folder has gone: whoever asks next begins again
        log("warning", "files.indexing", error=type(error).__name__, done=run.done, total=run.total)
    finally:
        _end(root, run)


def _end(root: str, run: _Run) -> None:
    with _lock:
        if _runs.get(root) is run:
            del _runs[root]
    run.ended.set()


def _told(run: _Run) -> Unavailable:
    return Unavailable(
        f"New files are being indexed: {run.done} of {run.total} so far. This goes on in the background; ask again in a"
        " moment, and the answer will be complete.",
        reason="indexing",
        done=run.done,
        total=run.total,
    )
