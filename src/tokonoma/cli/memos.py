"""`export` and `import`: memos to and from files, of this program and of others."""

import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click

from tokonoma.app import App
from tokonoma.app.places import require_database
from tokonoma.cli.command import command, pass_app
from tokonoma.cli.interrupt import Interrupted, report_interrupt
from tokonoma.cli.memo_files import export_to_file, export_to_folder, open_source, send_batch
from tokonoma.cli.output import ProgressPrinter, format_remarks, print_json, print_line, print_note
from tokonoma.cli.vectors import report_vectors
from tokonoma.cli.whole import export_all, import_all
from tokonoma.core.call import OWNER
from tokonoma.core.errors import Invalid, Refusal
from tokonoma.core.namespaces import resolve_namespace
from tokonoma.core.printable import pluralize
from tokonoma.transfer.files import create_file
from tokonoma.transfer.importer import FORMATS, Importer, ImportTally, RemarkList, detect_format, find_reader
from tokonoma.transfer.markdown import ExportFolder
from tokonoma.transfer.model import ImportSource
from tokonoma.transfer.whole import is_whole_export

_OUTCOMES = ("saved", "changed", "unchanged", "kept", "skipped")
_ALWAYS_SHOWN = ("saved", "changed", "unchanged")
_HEADINGS = {"skipped": "Skipped", "kept": "Kept as stored here", "notes": "Notes"}


@command("export", "database_url")
@click.argument("target", metavar="TARGET|-")
@click.option("--format", "kind", type=click.Choice(["jsonl", "markdown"]), default="jsonl", show_default=True)
@click.option("--namespace", default="/", show_default=True, help="Export this namespace and those below it.")
@click.option("--trash", is_flag=True, help="Also export deleted and expired memos.")
@click.option("--all", "everything", is_flag=True, help="Export memos, items and claims into a new folder.")
@click.option("--files", is_flag=True, help="With --all: also the files of the vault and the manuals.")
@pass_app
def export(app: App, target: str, kind: str, namespace: str, trash: bool, everything: bool, files: bool) -> None:
    """Export memos and their relations to TARGET: one file of JSON lines, or a folder of Markdown files.

    `-` writes JSON lines to stdout. Existing files are not overwritten. `tokonoma import` reads both formats. With
    --all, TARGET is a folder with a file of JSON lines for each module, the trash included; `tokonoma import` reads it.
    """
    if files and not everything:
        raise click.UsageError("--files belongs to --all.")
    if everything:
        _export_everything(app, target, files, plain=(kind, namespace) == ("jsonl", "/"))
        return
    params = {"namespace": resolve_namespace(namespace, OWNER), "trash": trash}
    if kind == "markdown" and target == "-":
        raise click.BadParameter("Markdown needs a folder; `-` is for JSON lines only.", param_hint="TARGET")
    require_database(app, "export")
    if kind == "markdown":
        with report_interrupt(lambda: "Empty the folder before you export into it again."):
            memos, relations = export_to_folder(app, ExportFolder(Path(target)), params)
    elif target == "-":
        with report_interrupt(lambda: "The output is incomplete: its last line is missing."):
            memos, relations = export_to_file(app, sys.stdout.buffer, params)
    else:
        with report_interrupt(lambda: f"{target} was not written."), create_file(Path(target)) as file:
            memos, relations = export_to_file(app, file, params)
    where = "" if target == "-" else f" to {target}"
    print_note(f"Exported {pluralize(memos, 'memo')} and {pluralize(relations, 'relation')}{where}.")


def _export_everything(app: App, target: str, files: bool, *, plain: bool) -> None:
    if target == "-" or not plain:
        raise click.UsageError("--all writes a folder with everything; it has no format and no namespace.")
    require_database(app, "export")
    with report_interrupt(lambda: f"{target} is incomplete: it has no tokonoma.json. Remove it."):
        export_all(app, Path(target), files=files)


@command("import", "database_url")
@click.argument("source", metavar="SOURCE|-")
@click.option("--from", "kind", type=click.Choice(["auto", *FORMATS]), default="auto", show_default=True)
@click.option("--namespace", default="/", show_default=True, help="Import into this namespace.")
@click.option("--source-name", "name", help="Name that identifies this source; default for a folder: its name.")
@click.option("--dry-run", is_flag=True, help="Report what would happen, but change nothing.")
@click.option("--seal", is_flag=True, help="Store what the policy refuses, with the class secret, which hides it.")
@click.option(
    "--wait", is_flag=True, help="Wait until all vectors are made, so that search by meaning finds everything."
)
@click.option("--json", "as_json", is_flag=True, help="The summary as JSON.")
@pass_app
def import_memos(
    app: App,
    source: str,
    kind: str,
    namespace: str,
    name: str | None,
    dry_run: bool,
    seal: bool,
    wait: bool,
    as_json: bool,
) -> None:
    """Import memos from SOURCE: an export of this program, or a file or folder of another program.

    A source can be imported again: only what has changed there is changed here. The exit code is 1 if something could
    not be imported: also because it contains a secret that the policy does not allow to be stored. Memos are found by
    their words at once, and by their meaning when their vectors are made.
    """
    if source != "-" and is_whole_export(Path(source)) and kind in ("auto", "tokonoma"):
        if namespace != "/" or name is not None:
            raise click.UsageError("An export of all modules keeps its namespaces and has no --source-name.")
        import_all(app, Path(source), dry_run=dry_run, seal=seal, as_json=as_json)
    namespace = resolve_namespace(namespace, OWNER)
    progress = ProgressPrinter()

    def print_tally(tally: ImportTally) -> None:
        memos, relations = tally.memos.total(), tally.relations.total()
        progress.print_progress(f"{pluralize(memos, 'memo')}, {pluralize(relations, 'relation')}")

    stopped, interrupted = "", False
    with open_source(source) as path:
        found = detect_format(path) if kind == "auto" else kind
        origin = ImportSource(path, found, namespace, default_source_name(path) if name is None else name)
        reader = find_reader(origin)
        importer = Importer(partial(send_batch, app, dry_run, seal=seal), print_tally, rehearsal=dry_run)
        try:
            importer.run(reader(origin))
        except (Refusal, KeyboardInterrupt) as error:
            interrupted = isinstance(error, KeyboardInterrupt)
            stopped = error.message if isinstance(error, Refusal) else "Interrupted."
        progress.finish()
    about = {"source": source, "format": found, "namespace": namespace, "dry_run": dry_run}
    if not as_json:
        print_line(_format_report(about, importer.tally))
    waiting = 0 if dry_run else report_vectors(app, wait and not stopped)
    if not dry_run:
        app.database.update_statistics()
    if as_json:
        print_json(_build_summary(about, importer.tally, stopped) | {"vectors_waiting": waiting})
    if interrupted:
        raise Interrupted("What is counted above was saved. Run the import again to continue.")
    if stopped:
        raise Invalid(f"{stopped} The import is incomplete; run it again to continue.")
    sys.exit(1 if importer.tally.skipped.total else 0)


def default_source_name(path: Path) -> str:
    """The name of the folder, because two vaults may both have a README.md. Names of other files often have a date."""
    return path.resolve().name if path.is_dir() else path.resolve().parent.name if path.suffix == ".md" else ""


def _build_summary(about: Mapping[str, Any], tally: ImportTally, stopped: str) -> dict[str, Any]:
    summary = {
        **about,
        "memos": {name: tally.memos[name] for name in _OUTCOMES},
        "relations": {name: tally.relations[name] for name in _OUTCOMES},
    }
    for name in _HEADINGS:
        remarks: RemarkList = getattr(tally, name)
        summary[name] = [{"place": each.place, "why": each.why} for each in remarks.items]
        summary |= {f"{name}_total": remarks.total} if remarks.total > len(remarks.items) else {}
    return summary | ({"stopped": stopped} if stopped else {})


def _format_report(about: Mapping[str, Any], tally: ImportTally) -> str:
    verb = "Would import" if about["dry_run"] else "Imported"
    lines = [f"{verb} from {about['source']} ({about['format']}) into {about['namespace']}:"]
    for name, counts in (("memos", tally.memos), ("relations", tally.relations)):
        shown = [outcome for outcome in _OUTCOMES if counts[outcome] or outcome in _ALWAYS_SHOWN]
        lines.append(f"  {name:<10} {', '.join(f'{counts[outcome]} {outcome}' for outcome in shown)}")
    for name, heading in _HEADINGS.items():
        remarks: RemarkList = getattr(tally, name)
        lines += format_remarks(heading, remarks.items, remarks.total)
    return "\n".join(lines)
