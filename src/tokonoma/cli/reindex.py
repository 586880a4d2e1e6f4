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
from tokonoma.cli.backups import exists
from tokonoma.cli.flags import command
from tokonoma.cli.session import entered
from tokonoma.cli.where import shown
from tokonoma.core.call import OWNER
from tokonoma.core.cancellation import Stop
from tokonoma.core.errors import Missing, Unavailable
from tokonoma.core.module import Module
from tokonoma.core.suggestions import nearest
from tokonoma.search.reindex import Step, forget, reindex


@command("reindex", "database_url")
@click.option("--module", "only", metavar="NAME", help="The records of one module alone.")
@click.option("--from-start", is_flag=True, help="Begin anew, also if the last time was interrupted.")
@click.pass_context
def reindex_command(ctx: click.Context, only: str | None, from_start: bool) -> None:
    """Make the search index anew from the stored records. Servers may run on, and searches find what they found before.

    Ctrl-C interrupts it; the next time it goes on where it was.
    """
    with entered(ctx) as app:
        if not exists(app):
            raise Missing(f"There is nothing to index: {shown(app.database_url())} does not exist yet.")
        modules = _modules(app, only)
        if from_start:
            forget(app.database, modules)
        with _interruptible() as stop:
            told = _told(reindex(app.database, app.searching.index, modules, app.policy.mark, stop), stop)
    for module, count in told.items():
        click.echo(f"{module}: {count} records")
    if not told:
        show.note("No module keeps records here.")


def _modules(app: App, only: str | None) -> list[Module]:
    names = [shelf.name for shelf in app.registry.shelves(OWNER)]
    if only is not None and only not in names:
        meant = nearest(only, names, 1)
        hint = f"Did you mean {meant[0]!r}?" if meant else f"There are: {', '.join(names)}."
        raise Missing(f"There is no module called {only!r}. {hint}", reason="module", nearest=meant)
    return [app.registry.module(name) for name in names if only in (None, name)]


def _told(steps: Iterable[Step], stop: Stop) -> dict[str, int]:
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
def _interruptible() -> Generator[Stop]:
    """The page that is being written is taken back, and nothing else is lost."""
    stop = Stop()

    def asked(_number: int, _frame: FrameType | None) -> None:
        # Not here and now: this thread may hold the lock that asking takes.
        Thread(target=stop.set, args=("cancelled",), daemon=True).start()

    before = signal.signal(signal.SIGINT, asked)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)
