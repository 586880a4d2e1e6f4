"""`purge`: memos that were deleted or have expired long ago are forgotten for good."""

import sys

import click

from tokonoma.cli import show
from tokonoma.cli.backups import exists
from tokonoma.cli.door import entered
from tokonoma.cli.flags import command
from tokonoma.cli.inside import owned
from tokonoma.core.errors import Denied


@command("purge", "database_url", "trash_days")
@click.option("--dry-run", is_flag=True, help="Only say how many there are.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_context
def purge(ctx: click.Context, dry_run: bool, yes: bool) -> None:
    """Forget for good the memos that were deleted, or have expired, more than `trash_days` ago, with their relations.

    Until then `memory.restore` brings a deleted memo back. Servers may run on.
    """
    with entered(ctx) as app:
        if not exists(app):
            show.note("There is nothing to purge: nothing is stored yet.")
            return
        days = app.settings.number("trash_days")
        asked = {"days": days}
        there = owned(app, "memory", "purge", {**asked, "dry_run": True})
        told = f"{there['deleted']} deleted and {there['expired']} expired memos of more than {days} days ago"
        if dry_run or not any(there.values()):
            click.echo(told)
            return
        if not yes:
            confirm(told)
        done = {"deleted": 0, "expired": 0}
        while any((page := owned(app, "memory", "purge", asked)).values()):
            done = {name: done[name] + page[name] for name in done}
    click.echo(f"forgotten: {done['deleted']} deleted and {done['expired']} expired memos")


def confirm(told: str) -> None:
    """Ask at a terminal; elsewhere --yes has to be said."""
    if not sys.stdin.isatty():
        raise Denied(f"This forgets {told} for good. Say --yes to do it without being asked.", reason="confirm")
    click.confirm(f"Forget {told} for good?", abort=True, err=True)
