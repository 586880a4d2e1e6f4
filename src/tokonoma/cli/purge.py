"""`purge`: what was deleted, forgotten or has expired long ago goes for good, in every module that keeps such."""

import sys
from collections import Counter

import click

from tokonoma.app import App
from tokonoma.cli import show
from tokonoma.cli.backups import database_exists
from tokonoma.cli.flags import command
from tokonoma.cli.owner_tools import call_owner_tool
from tokonoma.cli.session import open_app
from tokonoma.core.call import OWNER
from tokonoma.core.errors import Denied

Counts = dict[str, Counter[str]]
"""By module: how many were deleted, have expired, …"""


@command("purge", "database_url", "trash_days")
@click.option("--dry-run", is_flag=True, help="Only say how many there are.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_context
def purge(ctx: click.Context, dry_run: bool, yes: bool) -> None:
    """Forget for good what was deleted, forgotten, replaced or has expired more than `trash_days` ago: memos with their
    relations, items with their links and history, claims with their sources, earlier contents of files.

    Until then `memory.restore`, `restore_item` and `vault_restore` bring things back. Servers may run on.
    """
    with open_app(ctx) as app:
        if not database_exists(app):
            show.print_note("There is nothing to purge: nothing is stored yet.")
            return
        days = app.settings.get_int("trash_days")
        there = {
            name: Counter[str](call_owner_tool(app, name, "purge", {"days": days, "dry_run": True}))
            for name in _list_purgeable_modules(app)
        }
        told = f"{_format_counts(there)} of more than {days} days ago"
        if dry_run or not any(counts.total() for counts in there.values()):
            click.echo(told)
            return
        if not yes:
            confirm_removal(told)
        done = {name: _purge_module(app, name, days) for name in there}
    click.echo(f"forgotten: {_format_counts(done)}")


def _list_purgeable_modules(app: App) -> list[str]:
    """The modules that can forget for good, plugins included."""
    names = [shelf.name for shelf in app.registry.visible_modules(OWNER)]
    return [name for name in names if any(tool.name == "purge" for tool in app.registry.get_module(name).owner_tools)]


def _purge_module(app: App, module: str, days: int) -> Counter[str]:
    """Page by page, until nothing is left."""
    done = Counter[str]()
    while True:
        page = call_owner_tool(app, module, "purge", {"days": days})
        for word, count in page.items():
            done[word] += count
        if not any(page.values()):
            return done


def _format_counts(counts: Counts) -> str:
    return ", ".join(
        f"{' and '.join(f'{count} {word}' for word, count in found.items())} in {module}"
        for module, found in counts.items()
    )


def confirm_removal(told: str) -> None:
    """Ask at a terminal; elsewhere --yes has to be said."""
    if not sys.stdin.isatty():
        raise Denied(f"This forgets {told} for good. Say --yes to do it without being asked.", reason="confirm")
    click.confirm(f"Forget {told} for good?", abort=True, err=True)
