"""`sync`: brings the records of two or more homes together, through a folder or with another server."""

import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

import click

from tokonoma.app import App
from tokonoma.cli.call import call_owner_tool
from tokonoma.cli.command import command, json_option, pass_app
from tokonoma.cli.interrupt import report_interrupt
from tokonoma.cli.output import ProgressPrinter, format_remarks, print_json, print_line
from tokonoma.cli.sync_server import SyncServer
from tokonoma.core.call import OWNER
from tokonoma.core.clock import format_time
from tokonoma.core.errors import Invalid, Missing
from tokonoma.core.namespaces import resolve_namespace
from tokonoma.core.printable import pluralize
from tokonoma.transfer.model import Remark
from tokonoma.transfer.sync.bookkeeping import Bookkeeping, SyncConflict
from tokonoma.transfer.sync.engine import SyncEngine, is_open
from tokonoma.transfer.sync.every_kind import list_kinds
from tokonoma.transfer.sync.merge import DELETED
from tokonoma.transfer.sync.remote import sync_server
from tokonoma.transfer.sync.run import SyncReport, hold_sync_lock, sync_folder

_OUTCOMES = ("edited here", "taken", "merged", "removed")


@command("sync", "database_url")
@click.argument("target", metavar="FOLDER|URL", required=False)
@click.option("--namespace", default="/", show_default=True, help="Only records of this namespace and those below it.")
@click.option("--dry-run", is_flag=True, help="Report what would happen, but change nothing.")
@click.option("--seal", is_flag=True, help="Also exchange what has the class secret, and store it with that class.")
@click.option("--conflicts", "list_open", is_flag=True, help="List what could not be merged, and change nothing.")
@json_option
@pass_app
def sync(
    app: App, target: str | None, namespace: str, dry_run: bool, seal: bool, list_open: bool, as_json: bool
) -> None:
    """Bring this home together with others, through a FOLDER that all of them reach or with the server at URL."""
    if list_open:
        _print_conflicts(list_conflicts(app), as_json)
        return
    if target is None:
        raise click.UsageError("Name a folder or the URL of a server, or use --conflicts.")
    report = run_sync(app, target, resolve_namespace(namespace, OWNER), dry_run=dry_run, seal=seal)
    _print_report(report, target, dry_run, as_json)
    sys.exit(1 if report.tally.skipped or report.unread else 0)


def run_sync(
    app: App, target: str | Path, namespace: str = "/", *, dry_run: bool = False, seal: bool = False
) -> SyncReport:
    server = _connect(app, target) if isinstance(target, str) and "://" in target else None
    folder = Path(target)
    if server is None and not folder.is_dir():
        raise Missing(f"There is no folder {folder}. Create it, or check whether it is mounted.")
    progress = ProgressPrinter()
    options = {"dry_run": dry_run, "seal": seal}

    def build(books: Bookkeeping) -> SyncEngine:
        kinds = list_kinds(app.settings.get_names("modules_off"))
        return SyncEngine(kinds, partial(call_owner_tool, app), books, namespace, options, progress.print_progress)

    database = app.database  # opening it creates the home
    with hold_sync_lock(app.home), report_interrupt(lambda: "Run it again to continue; nothing is lost."):
        books = Bookkeeping(database.reading, database.writing, rehearsal=dry_run)
        if server is not None:
            report = sync_server(server.call, books, build, namespace, rehearsal=dry_run, secrets=seal)
        else:
            report = sync_folder(folder, books, build, namespace, rehearsal=dry_run, secrets=seal)
    progress.finish()
    return report


def _connect(app: App, url: str) -> SyncServer:
    key = app.settings.get_text("sync_key")
    if not key and not sys.stdin.isatty():
        raise Invalid("Set TOKONOMA_SYNC_KEY to a key of that server, made with `tokonoma keys create NAME --sync`.")
    return SyncServer(url, key or click.prompt("Key of that server", hide_input=True, err=True))


def list_conflicts(app: App) -> list[SyncConflict]:
    books = Bookkeeping(app.database.reading, app.database.writing, rehearsal=True)
    return [each for each in books.list_conflicts() if is_open(each, books)]


def _print_conflicts(conflicts: list[SyncConflict], as_json: bool) -> None:
    if as_json:
        print_json({"conflicts": [_to_json(each) for each in conflicts]})
        return
    if not conflicts:
        print_line("There are no conflicts.")
    for each in conflicts:
        print_line(f"{format_time(each.at)}  {_describe(each)}")


def _describe(conflict: SyncConflict) -> str:
    what = f"{conflict.kind} {conflict.name}"
    if conflict.clashes == (DELETED,):
        return f"{what} was deleted in one home and edited in another. The edit was kept; delete it again if you want."
    changed = f" Both sides have changed {', '.join(conflict.clashes)}." if conflict.clashes else ""
    if conflict.copy:
        return f"{what}: the other text is {conflict.kind} {conflict.copy}. Delete that one when you are done.{changed}"
    return f"{what}:{changed} The other one: {json.dumps(conflict.body, ensure_ascii=False)}"


def _to_json(conflict: SyncConflict) -> dict[str, Any]:
    told = {"kind": conflict.kind, "record": conflict.name, "at": format_time(conflict.at)}
    told |= {"copy": conflict.copy} if conflict.copy else {}
    return {**told, "clashes": list(conflict.clashes), "other": conflict.body}


def _print_report(report: SyncReport, target: str, dry_run: bool, as_json: bool) -> None:
    tally = report.tally
    names = sorted({kind for kind, _ in tally.counts})
    records = {name: {what: tally.counts[name, what] for what in _OUTCOMES} for name in names}
    skipped = [Remark(f"{kind} {name}", why) for (kind, name), why in sorted(tally.skipped.items())]
    if as_json:
        about = {"target": target, "dry_run": dry_run, "homes": report.homes, "records": records}
        remarks = {"skipped": skipped, "unread": report.unread}
        listed = {name: [{"place": each.place, "why": each.why} for each in found] for name, found in remarks.items()}
        print_json({**about, "conflicts": [_to_json(each) for each in tally.conflicts], **listed})
        return
    others = ", ".join(report.homes) if report.homes else "no other home yet"
    print_line(f"{'Would sync' if dry_run else 'Synced'} with {target}: {others}")
    for name, counts in records.items():
        shown = ", ".join(f"{number} {what}" for what, number in counts.items() if number)
        print_line(f"  {name:<10} {shown}")
    if not names:
        print_line("  nothing has changed")
    for heading, remarks in (("Skipped", skipped), ("Not read", report.unread)):
        for line in format_remarks(heading, remarks, len(remarks)):
            print_line(line)
    if tally.conflicts:
        print_line(f"{pluralize(len(tally.conflicts), 'conflict')}: `tokonoma sync --conflicts` lists them.")
