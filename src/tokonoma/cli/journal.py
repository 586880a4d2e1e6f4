"""`journal`: show the calls, verify the chains, and remove the oldest entries."""

import itertools
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import click

from tokonoma.app import App, build_owner_call
from tokonoma.app.places import database_exists
from tokonoma.cli.command import group, json_option, pass_app
from tokonoma.cli.interrupt import report_interrupt
from tokonoma.cli.output import confirm_removal, print_json, print_line, print_note
from tokonoma.core import clock
from tokonoma.core.errors import Conflict
from tokonoma.core.printable import escape_line, pluralize
from tokonoma.journal.prune import count_before
from tokonoma.journal.verify import list_recent, verify
from tokonoma.store.database import Database

_POLL_SECONDS = 0.5  # of --follow
_LATE_MS = 5_000  # reads are written in groups, and processes do not wait for each other: entries may come this late
_PAGE = 200
_DAY_MS = 86_400_000

EntryJson = dict[str, Any]


@group("journal")
def journal() -> None:
    """Show, verify and prune the journal of calls. It contains callers, tools and outcomes, but no parameters or
    results."""


@journal.command("tail", settings=("database_url",))
@click.option("-n", "--lines", "most", type=click.IntRange(1, 100_000), default=20, show_default=True, help="How many.")
@click.option("-f", "--follow", is_flag=True, help="Keep printing new entries until Ctrl-C.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
@pass_app
def tail(app: App, most: int, follow: bool, as_json: bool) -> None:
    """Print the latest calls, newest last."""
    entries = list(itertools.islice(_read_backwards(app.database, min(_PAGE, most)), most))[::-1]
    _print_entries(entries, as_json)
    if follow:
        try:
            _follow(app.database, entries, as_json)
        except KeyboardInterrupt:
            return


@journal.command("verify", settings=("database_url",))
@json_option
@pass_app
def verify_journal(app: App, as_json: bool) -> None:
    """Verify every chain from its first entry. The exit code is 1 if an entry is missing or was changed."""
    with app.database.reading() as rows:
        result = verify(rows)
    if as_json:
        print_json({"chains": result.chains, "entries": result.entries, "problems": list(result.problems)})
    else:
        for problem in result.problems:
            print_line(problem)
        state = "The journal holds" if not result.problems else "The journal was damaged or changed"
        print_line(f"{state}: {result.entries} entries in {pluralize(result.chains, 'chain')}.")
    sys.exit(1 if result.problems else 0)


@journal.command("prune", settings=("database_url",))
@click.option("--before", help="Remove entries before this date (2026-01-31) or time (RFC 3339).")
@click.option("--keep-days", type=click.IntRange(0), help="Remove entries older than this many days.")
@click.option("--dry-run", is_flag=True, help="Only count the entries.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@pass_app
def prune(app: App, before: str | None, keep_days: int | None, dry_run: bool, yes: bool) -> None:
    """Remove the oldest entries permanently. The rest can still be verified: checkpoints record where chains were cut.

    The journal is verified first; if it was damaged or changed, nothing is removed. Servers can keep running.
    """
    cutoff = _parse_cutoff(before, keep_days)
    if not database_exists(app):
        print_note("There is nothing to prune: nothing is stored yet.")
        return
    with app.database.reading() as rows:
        count = count_before(rows, cutoff)
        damaged = not dry_run and count > 0 and bool(verify(rows).problems)
    entries = f"journal entries from before {clock.format_time(cutoff)}"
    if dry_run or not count:
        print_line(f"{count} {entries}")
        return
    if damaged:
        raise Conflict("The journal was damaged or changed: see `tokonoma journal verify`. Nothing was removed.")
    if not yes:
        confirm_removal(f"{count} {entries}")
    removed = 0
    with report_interrupt(lambda: f"Removed until then: {removed} {entries}. Run it again to continue."):
        for step in app.journal.prune(build_owner_call("journal.prune"), cutoff):
            removed += step.entries
    print_line(f"forgotten: {removed} {entries}")


def _parse_cutoff(before: str | None, keep_days: int | None) -> int:
    """The time (ms) before which entries are removed."""
    if (before is None) == (keep_days is None):
        raise click.UsageError("Use either --before or --keep-days.")
    now = clock.now()
    if keep_days is not None:
        return max(0, now - keep_days * _DAY_MS)
    try:
        cutoff = clock.parse_time(before or "")
    except ValueError:
        raise click.BadParameter("Use a date like 2026-01-31.", param_hint="--before") from None
    if cutoff > now:
        raise click.BadParameter("This time is in the future.", param_hint="--before")
    return cutoff


def _read_backwards(database: Database, page_size: int = _PAGE) -> Iterator[EntryJson]:
    """Yield entries page by page, the newest first."""
    after: Sequence[Any] | None = None
    while True:
        with database.reading() as rows:
            entries, after = list_recent(rows, None, page_size, after)
        yield from entries
        if after is None:
            return


def _follow(database: Database, shown: list[EntryJson], as_json: bool) -> None:
    seen = {_entry_key(entry) for entry in shown}
    since = _entry_time(shown[-1]) if shown else clock.now()
    while True:
        threading.Event().wait(_POLL_SECONDS)
        new: list[EntryJson] = []
        for entry in _read_backwards(database):
            if _entry_time(entry) < since - _LATE_MS:
                break
            if _entry_key(entry) not in seen:
                new.append(entry)
        _print_entries(reversed(new), as_json)
        seen |= {_entry_key(entry) for entry in new}
        since = max([since, *map(_entry_time, new)])


def _entry_key(entry: EntryJson) -> tuple[str, str]:
    # A write that fails after its commit has two entries with the same request id.
    return entry["request_id"], entry["outcome"]


def _entry_time(entry: EntryJson) -> int:
    return clock.parse_time(entry["at"])


def _print_entries(entries: Iterable[EntryJson], as_json: bool) -> None:
    for entry in entries:
        if as_json:
            print_json(entry, indented=False)
        else:
            print_line(escape_line(_format_entry(entry)))


def _format_entry(entry: EntryJson) -> str:
    took = f"{entry['duration_us'] / 1000:.1f} ms" if "duration_us" in entry else "-"
    caller = f"{entry['principal']} ({entry['transport']})"
    end = entry["outcome"] + (f" {entry['code']}" if "code" in entry else "")
    return f"{entry['at']}  {caller:<18} {entry['module']}.{entry['tool']:<20} {end:<12} {took:>10}"
