"""`items export` and `items import`: a folder of Markdown files, one for each item, to keep in git; and the import from
other trackers."""

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from tokonoma.app import App
from tokonoma.cli.call import call_owner_tool
from tokonoma.cli.command import command, pass_app
from tokonoma.cli.interrupt import report_interrupt
from tokonoma.cli.output import format_remarks, print_json, print_line, print_note
from tokonoma.core.errors import Missing
from tokonoma.core.printable import pluralize
from tokonoma.modules.items.model import MODULE_NAME
from tokonoma.transfer.items import ItemFields, ItemFolder
from tokonoma.transfer.model import Remark
from tokonoma.transfer.trackers import TrackerReader, find_reader

_BATCH = 200
_OUTCOMES = ("saved", "changed", "unchanged", "kept", "conflict", "skipped")

Page = tuple[str, ItemFields]  # the path of a file, its item


@command("export", "database_url")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--type", "type_", metavar="TYPE", default="", help="Only items of this type.")
@click.option("--trash", is_flag=True, help="Also export deleted items.")
@pass_app
def export_items(app: App, folder: Path, type_: str, trash: bool) -> None:
    """Write every item to FOLDER as a Markdown file, or update the files there.

    Files that were edited since their export are not overwritten but reported; the exit code is then 1.
    """
    target = ItemFolder(folder)
    done = target.outcome
    with report_interrupt(lambda: f"{pluralize(done.written, 'file')} written until then. Run it again to continue."):
        export_to_items_folder(app, target, type_, trash=trash)
    print_note(
        f"Exported to {folder}: {pluralize(done.written, 'file')} written, {done.unchanged} unchanged, "
        f"{done.removed} removed, {pluralize(len(done.conflicts), 'conflict')}."
    )
    _print_remarks("Conflicts", done.conflicts)
    sys.exit(1 if done.conflicts else 0)


def export_to_items_folder(app: App, target: ItemFolder, type_: str, *, trash: bool) -> None:
    after: int | None = 0
    while after is not None:
        page = call_owner_tool(app, MODULE_NAME, "export", {"after": after, "type": type_})
        for item in page["items"]:
            if item["deleted_at"] is not None and not trash:
                target.remove_item(item)
            else:
                target.write_item(item)
        after = page.get("next")


@command("import", "database_url")
@click.argument("source", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "kind",
    type=click.Choice(("auto", "markdown", "github", "linear", "beads")),
    default="auto",
    show_default=True,
    help="The program that wrote SOURCE.",
)
@click.option("--dry-run", is_flag=True, help="Report what would happen, but change nothing.")
@click.option("--seal", is_flag=True, help="Store what the policy refuses, with the class secret, which hides it.")
@click.option("--json", "as_json", is_flag=True, help="The summary as JSON.")
@pass_app
def import_items(app: App, source: Path, kind: str, dry_run: bool, seal: bool, as_json: bool) -> None:
    """Import items from SOURCE: a folder of Markdown files, or an export of another tracker.

    Of GitHub: the JSON of `gh issue list --json …` or of the REST interface. Of Linear: its CSV. Of beads (`bd`): its
    folder .beads, the JSON lines or the SQLite file. A source can be imported again: only what has changed there is
    changed here. An item that was changed here is not overwritten but reported; after a conflict the exit code is 1.
    So it is for an item that contains a secret that the policy does not allow to be stored.
    """
    if not source.exists():
        raise Missing(f"There is no file or folder {source}.")
    found, reader = find_reader(source, kind)
    pages, remarks = _read_source(reader, source)
    counts, more = store_items(app, pages, {"dry_run": dry_run, "seal": seal})
    remarks += more
    if not dry_run:
        app.database.update_statistics()
    if as_json:
        details = {"source": str(source), "format": found, "dry_run": dry_run, **counts}
        print_json({**details, "remarks": [asdict(each) for each in remarks]})
    else:
        verb = "Would import" if dry_run else "Imported"
        print_line(f"{verb} from {source}: {_format_outcomes(counts)}")
        _print_remarks("Remarks", remarks)
    sys.exit(1 if any(each.lost for each in remarks) else 0)


def store_items(app: App, pages: list[Page], options: Mapping[str, bool]) -> tuple[dict[str, int], list[Remark]]:
    """The outcomes of items and, when all of them are stored, of their links; and what there is to say about them."""
    params = {**options, "beyond": max((item.get("id", 0) for _, item in pages), default=0)}
    results: list[dict[str, Any]] = []
    remarks: list[Remark] = []

    def tell() -> str:
        return _format_outcomes(_count_outcomes(results))

    with report_interrupt(lambda: f"Imported until then: {tell()}. Run it again to continue."):
        for start in range(0, len(pages), _BATCH):
            batch = [item for _, item in pages[start : start + _BATCH]]
            results += call_owner_tool(app, MODULE_NAME, "import", {"items": batch, **params})["items"]
    for (inside, _), result in zip(pages, results, strict=True):
        if "why" in result:
            remarks.append(Remark(inside, result["why"], lost=result["outcome"] in ("conflict", "skipped")))
        if "note" in result:
            remarks.append(Remark(inside, result["note"], lost=False))
    if not options["dry_run"]:
        with report_interrupt(lambda: f"Imported without all links: {tell()}. Run it again."):
            remarks += _import_links(app, pages, results)
    return _count_outcomes(results), remarks


def _count_outcomes(results: Sequence[dict[str, Any]]) -> dict[str, int]:
    counts = Counter(result["outcome"] for result in results)
    return {name: counts[name] for name in _OUTCOMES}


def _format_outcomes(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in counts.items())


def _read_source(reader: TrackerReader, source: Path) -> tuple[list[Page], list[Remark]]:
    pages: list[Page] = []
    remarks: list[Remark] = []
    paths: dict[str, str] = {}
    for each in reader(source):
        if isinstance(each, Remark):
            remarks.append(each)
            continue
        inside, item = each
        if item["uid"] in paths:
            remarks.append(Remark(inside, f"It is the same item as {paths[item['uid']]}; this file was skipped."))
        else:
            paths[item["uid"]] = inside
            pages.append(each)
    return pages, remarks


def _import_links(app: App, pages: list[Page], results: list[dict[str, Any]]) -> list[Remark]:
    """Import the links, after all items are stored; return a remark for each link without a target."""
    paths = {each["uid"]: inside for (inside, _), each in zip(pages, results, strict=True) if each.get("uid")}
    linked = [
        {"uid": each["uid"], "links": item["links"]}
        for (_, item), each in zip(pages, results, strict=True)
        if each["outcome"] in (("saved", "changed", "unchanged") if item.get("foreign") else ("saved", "changed"))
    ]
    written = {each["uid"] for each in results if each["outcome"] in ("saved", "changed")}
    only_add = any(item.get("foreign") for _, item in pages)
    remarks: list[Remark] = []
    for start in range(0, len(linked), _BATCH):
        batch = linked[start : start + _BATCH]
        ends = {link.get("uid") for each in batch for link in each["links"]} | {each["uid"] for each in batch}
        params = {"items": batch, "accepted": sorted(ends & written), "only_add": only_add}
        for lost in call_owner_tool(app, MODULE_NAME, "import.links", params)["lost"]:
            why = lost.get("why", f"There is no item at {lost['to']}; the link was skipped.")
            remarks.append(Remark(paths[lost["uid"]], why.removesuffix(" Nothing was changed.")))
    return remarks


def _print_remarks(heading: str, remarks: Sequence[Remark]) -> None:
    for line in format_remarks(heading, remarks, len(remarks)):
        print_note(line)
