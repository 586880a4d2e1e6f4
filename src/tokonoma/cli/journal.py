"""`journal`: who called what and how it ended, and whether the chain of entries holds."""

import threading
from collections.abc import Iterable
from typing import Any

import click
import orjson

from tokonoma.cli import show
from tokonoma.cli.backups import exists
from tokonoma.cli.flags import group
from tokonoma.cli.purge import confirm
from tokonoma.cli.session import entered
from tokonoma.core import clock
from tokonoma.core.errors import Conflict
from tokonoma.journal import prune as pruning
from tokonoma.journal import verify as chain
from tokonoma.store.database import Database

_EVERY = 0.5  # seconds between two looks of --follow
_LATE = 5_000  # milliseconds: reads are written in groups, and processes on one database do not wait for each other
_PAGE = 200
_DAY = 86_400_000  # milliseconds

Entry = dict[str, Any]


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
    with entered(ctx) as app:
        found = _newest(app.database, most)
        _print(found, as_json)
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
    with entered(ctx) as app, app.database.reading() as rows:
        verdict = chain.verify(rows)
    if as_json:
        show.value({"strands": verdict.strands, "entries": verdict.entries, "problems": list(verdict.problems)})
    else:
        for problem in verdict.problems:
            click.echo(problem)
        word = "The journal holds" if not verdict.problems else "The journal was damaged or changed"
        click.echo(f"{word}: {verdict.entries} entries in {verdict.strands} strands.")
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
    line = _line_of(before, keep_days)
    with entered(ctx) as app:
        if not exists(app):
            show.note("There is nothing to prune: nothing is stored yet.")
            return
        with app.database.reading() as rows:
            there = pruning.count(rows, line)
            damaged = not dry_run and there > 0 and bool(chain.verify(rows).problems)
        told = f"{there} journal entries from before {clock.shown(line)}"
        if dry_run or not there:
            click.echo(told)
            return
        if damaged:
            raise Conflict("The journal was damaged or changed: see `tokonoma journal verify`. Nothing was removed.")
        if not yes:
            confirm(told)
        removed = sum(done.entries for done in app.prune_journal(line))
    click.echo(f"forgotten: {removed} journal entries from before {clock.shown(line)}")


def _line_of(before: str | None, keep_days: int | None) -> int:
    """Where the journal is to begin, in milliseconds."""
    if (before is None) == (keep_days is None):
        raise click.UsageError("Say either --before or --keep-days.")
    now = clock.now()
    if keep_days is not None:
        return max(0, now - keep_days * _DAY)
    try:
        line = clock.parsed(before or "")
    except ValueError:
        raise click.BadParameter("Use a date like 2026-01-31.", param_hint="--before") from None
    if line > now:
        raise click.BadParameter("That is still to come.", param_hint="--before")
    return line


def _newest(database: Database, most: int) -> list[Entry]:
    """The last `most` entries, oldest first."""
    found: list[Entry] = []
    page: str | None = None
    while len(found) < most:
        with database.reading() as rows:
            items, page = chain.recent(rows, None, min(_PAGE, most - len(found)), page)
        found += items
        if page is None:
            break
    return found[::-1]


def _follow(database: Database, shown: list[Entry], as_json: bool) -> None:
    seen = {_mark(entry) for entry in shown}
    since = _at(shown[-1]) if shown else clock.now()
    while True:
        threading.Event().wait(_EVERY)
        fresh = [entry for entry in _since(database, since - _LATE) if _mark(entry) not in seen]
        _print(fresh, as_json)
        seen |= {_mark(entry) for entry in fresh}
        since = max([since, *map(_at, fresh)])


def _since(database: Database, at: int) -> list[Entry]:
    """Every entry from this time on, oldest first."""
    found: list[Entry] = []
    page: str | None = None
    while True:
        with database.reading() as rows:
            items, page = chain.recent(rows, None, _PAGE, page)
        found += [entry for entry in items if _at(entry) >= at]
        if page is None or _at(items[-1]) < at:
            return found[::-1]


def _mark(entry: Entry) -> tuple[str, str]:
    # A write that fails after its commit leaves two entries under one request.
    return entry["request_id"], entry["outcome"]


def _at(entry: Entry) -> int:
    return clock.parsed(entry["at"])


def _print(entries: Iterable[Entry], as_json: bool) -> None:
    for entry in entries:
        click.echo(orjson.dumps(entry).decode() if as_json else _line(entry))


def _line(entry: Entry) -> str:
    took = f"{entry['duration_us'] / 1000:.1f} ms" if "duration_us" in entry else "-"
    who = f"{entry['principal']} ({entry['transport']})"
    end = entry["outcome"] + (f" {entry['code']}" if "code" in entry else "")
    return f"{entry['at']}  {who:<18} {entry.get('module', '')}.{entry['tool']:<20} {end:<12} {took:>10}"
