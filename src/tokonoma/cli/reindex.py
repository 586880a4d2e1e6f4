"""`reindex`: everything derived is made anew from what the modules hold, while servers go on."""

import signal
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from threading import Thread
from types import FrameType

import click

from tokonoma.app import App
from tokonoma.cli import show
from tokonoma.cli.backups import database_exists
from tokonoma.cli.flags import command
from tokonoma.cli.session import open_app
from tokonoma.cli.where import redact_database_url
from tokonoma.core.call import OWNER
from tokonoma.core.concurrency import CancelToken
from tokonoma.core.errors import Missing, Unavailable, find_nearest
from tokonoma.core.module import Module
from tokonoma.search.index import ReindexProgress, reindex, restart_reindex


@command("reindex", "database_url")
@click.option("--module", "only", metavar="NAME", help="The records of one module alone.")
@click.option("--from-start", is_flag=True, help="Begin anew, also if the last time was interrupted.")
@click.pass_context
def reindex_command(ctx: click.Context, only: str | None, from_start: bool) -> None:
    """Make the search index anew from the stored records. Servers may run on, and searches find what they found before.

    Ctrl-C interrupts it; the next time it goes on where it was.
    """
    with open_app(ctx) as app:
        if not database_exists(app):
            raise Missing(f"There is nothing to index: {redact_database_url(app.database_url())} does not exist yet.")
        modules = _select_modules(app, only)
        if from_start:
            restart_reindex(app.database, modules)
        with _cancel_on_interrupt() as stop:
            told = _run_steps(reindex(app.database, app.search.index, modules, app.policy.scan_document, stop), stop)
    for module, count in told.items():
        click.echo(f"{module}: {count} records")
    if not told:
        show.print_note("No module keeps records here.")


def _select_modules(app: App, only: str | None) -> list[Module]:
    names = [shelf.name for shelf in app.registry.visible_modules(OWNER)]
    if only is not None and only not in names:
        meant = find_nearest(only, names, 1)
        hint = f"Did you mean {meant[0]!r}?" if meant else f"There are: {', '.join(names)}."
        raise Missing(f"There is no module called {only!r}. {hint}", reason="module", nearest=meant)
    return [app.registry.get_module(name) for name in names if only in (None, name)]


def _run_steps(steps: Iterable[ReindexProgress], stop: CancelToken) -> dict[str, int]:
    """Progress on a terminal; the records of each module."""
    done: dict[str, int] = {}
    try:
        for step in steps:
            done[step.module] = step.done
            if sys.stderr.isatty():
                end = "\n" if step.finished else ""
                click.echo(f"\r{step.module}: {step.done} of {step.total}", nl=False, err=True)
                click.echo(end, nl=False, err=True)
    except Unavailable as error:
        if not stop.reason:
            raise
        at = ", ".join(f"{module} at {count}" for module, count in done.items()) or "the beginning"
        raise Unavailable(
            f"Interrupted: {at}. Run `tokonoma reindex` again to go on from there.", reason="cancelled"
        ) from error
    return done


@contextmanager
def _cancel_on_interrupt() -> Generator[CancelToken]:
    """The page that is being written is taken back, and nothing else is lost."""
    stop = CancelToken()

    def asked(_number: int, _frame: FrameType | None) -> None:
        # Not here and now: this thread may hold the lock that asking takes.
        Thread(target=stop.cancel, args=("cancelled",), daemon=True).start()

    before = signal.signal(signal.SIGINT, asked)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)
