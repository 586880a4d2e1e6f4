"""`export` and `import`: memos into files and out of them, ours and other programs'."""

import shutil
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

import click

from tokonoma import __version__
from tokonoma.app import App
from tokonoma.cli import show
from tokonoma.cli.backups import database_exists
from tokonoma.cli.flags import command
from tokonoma.cli.import_report import ProgressPrinter, build_summary, format_report, pluralize
from tokonoma.cli.owner_tools import call_owner_tool
from tokonoma.cli.session import open_app
from tokonoma.cli.where import redact_database_url
from tokonoma.core import clock
from tokonoma.core import namespaces as spaces
from tokonoma.core.call import OWNER
from tokonoma.core.errors import Invalid, Missing, Refusal
from tokonoma.transfer import jsonl
from tokonoma.transfer.carried import ImportSource, TransferMemo, TransferRelation
from tokonoma.transfer.detect import FORMATS, detect_format, find_reader
from tokonoma.transfer.ship import Importer, to_params
from tokonoma.transfer.write import ExportFolder, create_file


@command("export", "database_url")
@click.argument("target", metavar="TARGET|-")
@click.option("--format", "kind", type=click.Choice(["jsonl", "markdown"]), default="jsonl", show_default=True)
@click.option("--namespace", default="/", show_default=True, help="This namespace and those below it.")
@click.option("--trash", is_flag=True, help="Also memos that were deleted or have expired.")
@click.pass_context
def export(ctx: click.Context, target: str, kind: str, namespace: str, trash: bool) -> None:
    """Write memos and their relations to TARGET: one file of JSON lines, or a folder of Markdown files.

    `-` writes JSON lines to stdout. Nothing that is already there is overwritten. `tokonoma import` reads both.
    """
    space = spaces.resolve_namespace(namespace, OWNER)
    if kind == "markdown" and target == "-":
        raise click.BadParameter("Markdown goes into a folder; - takes JSON lines only.", param_hint="TARGET")
    with open_app(ctx) as app:
        if not database_exists(app):
            raise Missing(f"There is nothing to export: {redact_database_url(app.database_url())} does not exist yet.")
        asked = {"namespace": space, "trash": trash}
        if kind == "markdown":
            memos, relations = _export_to_folder(app, ExportFolder(Path(target)), asked)
        elif target == "-":
            memos, relations = _export_to_file(app, sys.stdout.buffer, asked)
        else:
            with create_file(Path(target)) as file:
                memos, relations = _export_to_file(app, file, asked)
    where = "" if target == "-" else f" to {target}"
    show.print_note(f"Exported {pluralize(memos, 'memo')} and {pluralize(relations, 'relation')}{where}.")


@command("import", "database_url")
@click.argument("source", metavar="SOURCE|-")
@click.option("--from", "kind", type=click.Choice(["auto", *FORMATS]), default="auto", show_default=True)
@click.option("--namespace", default="/", show_default=True, help="Everything goes here and below.")
@click.option("--source-name", "name", help="What to know this source by; default for a folder: its name.")
@click.option("--dry-run", is_flag=True, help="Say what would happen and change nothing.")
@click.option("--json", "as_json", is_flag=True, help="The summary as JSON.")
@click.pass_context
def import_memos(
    ctx: click.Context, source: str, kind: str, namespace: str, name: str | None, dry_run: bool, as_json: bool
) -> None:
    """Take memos in from SOURCE: an export of this program, or another program's file or folder.

    The same source can be imported again: what has not changed there stays as it is here. The exit code is 1 if
    something could not be taken in.
    """
    space = spaces.resolve_namespace(namespace, OWNER)
    with _open_source(source) as path, open_app(ctx) as app:
        found = detect_format(path) if kind == "auto" else kind
        origin = ImportSource(path, found, space, _default_source_name(path) if name is None else name)
        reader = find_reader(origin)
        ticker = ProgressPrinter()
        shipment = Importer(partial(_send_batch, app, dry_run), ticker.update, rehearsal=dry_run)
        stopped = ""
        try:
            shipment.run(reader(origin))
        except (Refusal, KeyboardInterrupt) as error:
            stopped = error.message if isinstance(error, Refusal) else "It was stopped."
        ticker.finish()
    about = {"source": source, "format": found, "namespace": space, "dry_run": dry_run}
    if as_json:
        show.print_json(build_summary(about, shipment.tally, stopped))
    else:
        click.echo(format_report(about, shipment.tally))
    if stopped:
        raise Invalid(f"{stopped} What stands above was done; importing again goes on from there.")
    ctx.exit(1 if shipment.tally.skipped.total else 0)


def _send_batch(
    app: App, dry_run: bool, memos: Sequence[TransferMemo], relations: Sequence[TransferRelation], coming: Sequence[str]
) -> dict[str, Any]:
    params = {
        "memos": [to_params(each) for each in memos],
        "relations": [to_params(each) for each in relations],
        "dry_run": dry_run,
        "coming": list(coming),
    }
    return call_owner_tool(app, "memory", "import", params)


@contextmanager
def _open_source(source: str) -> Generator[Path]:
    """The source; what comes through a pipe is kept in a file for as long as it is read."""
    if source == "-":
        with TemporaryDirectory(prefix="tokonoma-") as folder:
            path = Path(folder) / "stdin"
            with path.open("wb") as file:
                shutil.copyfileobj(sys.stdin.buffer, file)
            yield path
        return
    path = Path(source)
    if not path.exists():
        raise Missing(f"There is no file or folder {source}.")
    if not path.is_dir() and not path.is_file():
        raise Invalid(f"{source} is neither a file nor a folder.")
    yield path


def _default_source_name(path: Path) -> str:
    """Two vaults may both have a README.md. Of files only --source-name tells: their names often hold a date."""
    return path.resolve().name if path.is_dir() else path.resolve().parent.name if path.suffix == ".md" else ""


def _export_to_file(app: App, file: BinaryIO, asked: dict[str, Any]) -> tuple[int, int]:
    memos = relations = 0
    ticker = ProgressPrinter()
    file.write(jsonl.format_header(version=__version__, exported_at=clock.format_time(clock.now()), **asked))
    for page in _read_memo_pages(app, asked):
        file.writelines(jsonl.format_record(each) for each in page)
        memos += len(page)
        ticker.print_progress(pluralize(memos, "memo"))
    for related in _read_relation_pages(app, asked):
        file.writelines(jsonl.format_record(each) for each, _ in related)
        relations += len(related)
        ticker.print_progress(pluralize(relations, "relation"))
    file.write(jsonl.format_footer(memos, relations))
    ticker.finish()
    return memos, relations


def _export_to_folder(app: App, folder: ExportFolder, asked: dict[str, Any]) -> tuple[int, int]:
    memos = relations = 0
    ticker = ProgressPrinter()
    try:
        for page in _read_memo_pages(app, asked):
            of: dict[str, list[tuple[TransferRelation, str]]] = {}
            for related in _read_relation_pages(app, {**asked, "sources": [memo.memo_id for memo in page]}):
                for relation, title in related:
                    of.setdefault(relation.source, []).append((relation, title))
                    relations += 1
            for memo in page:
                folder.write_memo(memo, of.get(memo.memo_id, ()))
            memos += len(page)
            ticker.print_progress(pluralize(memos, "memo"))
        folder.close()
    except BaseException:
        show.print_note(f"{folder.root} holds only a part of the export.")
        raise
    ticker.finish()
    return memos, relations


def _read_memo_pages(app: App, asked: dict[str, Any]) -> Iterator[list[TransferMemo]]:
    after: str | None = ""
    while after is not None:
        page = call_owner_tool(app, "memory", "export", {**asked, "after": after})
        if page["memos"]:
            yield [TransferMemo(**each) for each in page["memos"]]
        after = page.get("next")


def _read_relation_pages(app: App, asked: dict[str, Any]) -> Iterator[list[tuple[TransferRelation, str]]]:
    after: list[str] | None = ["", "", "", ""]
    while after is not None:
        page = call_owner_tool(app, "memory", "export.relations", {**asked, "after": after})
        yield [_split_title(**each) for each in page["relations"]]
        after = page.get("next")


def _split_title(target_title: str, **relation: Any) -> tuple[TransferRelation, str]:
    return TransferRelation(**relation), target_title
