"""`journal`: who called what and how it ended, and whether the chain of entries holds."""

import threading
from collections.abc import Iterable
from typing import Any

import click
import orjson

from tokonoma.cli import show
from tokonoma.cli.backups import database_exists
from tokonoma.cli.flags import group
from tokonoma.cli.purge import confirm_removal
from tokonoma.cli.session import open_app
from tokonoma.core import clock
from tokonoma.core.errors import Conflict
from tokonoma.journal import prune as pruning
from tokonoma.journal import verify as chain
from tokonoma.store.database import Database

_POLL_SECONDS = 0.5  # seconds between two looks of --follow
_LATE_MS = 5_000  # milliseconds: reads are written in groups, and processes on one database do not wait for each other
_PAGE = 200
_DAY_MS = 86_400_000  # milliseconds

EntryJson = dict[str, Any]


@group("journal")
def journal() -> None:
    """Look at the journal of calls, verify its chain, or forget its oldest entries. It holds no bodies, only who called
    what and how it ended."""


@journal.command("tail", settings=("database_url",))
@click.option("-n", "--lines", "most", type=click.IntRange(1, 100_000), default=20, show_default=True, help="How many.")
@click.option("-f", "--follow", is_flag=True, help="Go on with new entries until Ctrl-C.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@click.pass_context
def tail(ctx: click.Context, most: int, follow: bool, as_json: bool) -> None:
    """Show the newest calls, the newest last."""
    with open_app(ctx) as app:
        found = _read_newest(app.database, most)
        _print_entries(found, as_json)
        if follow:
            try:
                _follow(app.database, found, as_json)
            except KeyboardInterrupt:
                return


@journal.command("verify", settings=("database_url",))
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def verify(ctx: click.Context, as_json: bool) -> None:
    """Walk every chain from its first entry. The exit code is 1 if an entry is missing or was changed."""
    with open_app(ctx) as app, app.database.reading() as rows:
        verdict = chain.verify(rows)
    if as_json:
        show.print_json({"strands": verdict.chains, "entries": verdict.entries, "problems": list(verdict.problems)})
    else:
        for problem in verdict.problems:
            click.echo(problem)
        word = "The journal holds" if not verdict.problems else "The journal was damaged or changed"
        click.echo(f"{word}: {verdict.entries} entries in {verdict.chains} strands.")
    ctx.exit(1 if verdict.problems else 0)


@journal.command("prune", settings=("database_url",))
@click.option("--before", help="Forget what is older than this: a date like 2026-01-31, or a time in RFC 3339.")
@click.option("--keep-days", type=click.IntRange(0), help="Forget what is older than this many days.")
@click.option("--dry-run", is_flag=True, help="Only say how many entries there are.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_context
def prune(ctx: click.Context, before: str | None, keep_days: int | None, dry_run: bool, yes: bool) -> None:
    """Forget the oldest entries for good. What remains can still be verified: checkpoints say where chains were cut.

    The journal is verified first; one that was damaged or changed is left as it is. Servers may run on.
    """
    line = _parse_cutoff(before, keep_days)
    with open_app(ctx) as app:
        if not database_exists(app):
            show.print_note("There is nothing to prune: nothing is stored yet.")
            return
        with app.database.reading() as rows:
            there = pruning.count_before(rows, line)
            damaged = not dry_run and there > 0 and bool(chain.verify(rows).problems)
        told = f"{there} journal entries from before {clock.format_time(line)}"
        if dry_run or not there:
            click.echo(told)
            return
        if damaged:
            raise Conflict("The journal was damaged or changed: see `tokonoma journal verify`. Nothing was removed.")
        if not yes:
            confirm_removal(told)
        removed = sum(done.entries for done in app.prune_journal(line))
    click.echo(f"forgotten: {removed} journal entries from before {clock.format_time(line)}")


def _parse_cutoff(before: str | None, keep_days: int | None) -> int:
    """Where the journal is to begin, in milliseconds."""
    if (before is None) == (keep_days is None):
        raise click.UsageError("Say either --before or --keep-days.")
    now = clock.now()
    if keep_days is not None:
        return max(0, now - keep_days * _DAY_MS)
    try:
        line = clock.parse_time(before or "")
    except ValueError:
        raise click.BadParameter("Use a date like 2026-01-31.", param_hint="--before") from None
    if line > now:
        raise click.BadParameter("That is still to come.", param_hint="--before")
    return line


def _read_newest(database: Database, most: int) -> list[EntryJson]:
    """The last `most` entries, oldest first."""
    found: list[EntryJson] = []
    page: str | None = None
    while len(found) < most:
        with database.reading() as rows:
            items, page = chain.list_recent(rows, None, min(_PAGE, most - len(found)), page)
        found += items
        if page is None:
            break
    return found[::-1]


def _follow(database: Database, shown: list[EntryJson], as_json: bool) -> None:
    seen = {_entry_key(entry) for entry in shown}
    since = _entry_time(shown[-1]) if shown else clock.now()
    while True:
        threading.Event().wait(_POLL_SECONDS)
        fresh = [entry for entry in _read_since(database, since - _LATE_MS) if _entry_key(entry) not in seen]
        _print_entries(fresh, as_json)
        seen |= {_entry_key(entry) for entry in fresh}
        since = max([since, *map(_entry_time, fresh)])


def _read_since(database: Database, at: int) -> list[EntryJson]:
    """Every entry from this time on, oldest first."""
    found: list[EntryJson] = []
    page: str | None = None
    while True:
        with database.reading() as rows:
            items, page = chain.list_recent(rows, None, _PAGE, page)
        found += [entry for entry in items if _entry_time(entry) >= at]
        if page is None or _entry_time(items[-1]) < at:
            return found[::-1]


def _entry_key(entry: EntryJson) -> tuple[str, str]:
    # A write that fails after its commit leaves two entries under one request.
    return entry["request_id"], entry["outcome"]


def _entry_time(entry: EntryJson) -> int:
    return clock.parse_time(entry["at"])


def _print_entries(entries: Iterable[EntryJson], as_json: bool) -> None:
    for entry in entries:
        click.echo(orjson.dumps(entry).decode() if as_json else _format_entry(entry))


def _format_entry(entry: EntryJson) -> str:
    took = f"{entry['duration_us'] / 1000:.1f} ms" if "duration_us" in entry else "-"
    who = f"{entry['principal']} ({entry['transport']})"
    end = entry["outcome"] + (f" {entry['code']}" if "code" in entry else "")
    return f"{entry['at']}  {who:<18} {entry.get('module', '')}.{entry['tool']:<20} {end:<12} {took:>10}"
