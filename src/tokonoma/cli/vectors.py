"""Vectors that are still to be made: say how many, and wait for them."""

import sys
import threading

from tokonoma.app import App
from tokonoma.cli.output import ProgressPrinter, print_note
from tokonoma.core.errors import Unready
from tokonoma.core.printable import pluralize
from tokonoma.embed import queue

_LOOK, _SELDOM, _LONG = 0.1, 2.0, 10_000  # seconds between two looks at the queue, and at one of that length


def count_waiting(app: App) -> tuple[int, int]:
    """Vectors still to be made, and those that the model has refused to make; none where no model is set."""
    if app.search.worker is None:
        return 0, 0
    with app.database.reading() as rows:
        current = app.search.count_vectors(rows)[-1]
    return current.waiting, current.failed


def count_queued(app: App) -> int:
    """Asked for often: without counting what is there."""
    with app.database.reading() as rows:
        if app.search.is_filling(rows):
            return app.search.count_vectors(rows)[-1].waiting
        return queue.count_waiting(rows) - queue.count_failed(rows)


def report_vectors(app: App, wait: bool) -> int:
    """Say how many vectors are still to be made, after waiting for them if that is wanted. Returns their number."""
    if wait:
        _wait_for_vectors(app)
    waiting, failed = count_waiting(app)
    if waiting:
        print_note(f"Vectors still to be made: {waiting}. A running server makes them, or the next search.")
    if failed:
        print_note(f"Texts that the embedding model has refused: {failed}. `tokonoma doctor` says why.")
    return waiting


def _wait_for_vectors(app: App) -> None:
    """Make them in this process, beside others that do. Ctrl-C loses nothing: what was made is stored."""
    worker = app.search.worker
    if worker is None:
        raise Unready("There is no embedding model to wait for. Set embed_provider.", reason="embedder")
    progress, problem, pause = ProgressPrinter(), "", threading.Event()
    worker.wake()
    try:
        while (waiting := count_queued(app)) > 0:
            progress.print_progress(f"{pluralize(waiting, 'vector')} to be made")
            if worker.problem and worker.problem != problem:
                problem = worker.problem
                print_note(f"Waiting for the embedding model: {problem}")
            pause.wait(_LOOK if waiting < _LONG else _SELDOM)
        progress.finish()
        app.search.vectors.finish_index()
    except KeyboardInterrupt:
        progress.finish()
        print_note(f"Interrupted; everything is saved. Vectors still to be made: {count_waiting(app)[0]}.")
        sys.exit(130)
