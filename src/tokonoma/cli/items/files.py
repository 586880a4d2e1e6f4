"""`items export` and `items import`: a folder of Markdown files, one an item, to keep in git."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from tokonoma.app import App
from tokonoma.cli import show
from tokonoma.cli.flags import command
from tokonoma.cli.import_report import pluralize
from tokonoma.cli.owner_tools import call_owner_tool
from tokonoma.cli.session import open_app
from tokonoma.core.errors import Missing
from tokonoma.modules.items.model import MODULE_NAME
from tokonoma.transfer.carried import Remark
from tokonoma.transfer.item_folder import ItemFolder, read_pages

_BATCH = 200
_OUTCOMES = ("saved", "changed", "unchanged", "kept", "conflict", "skipped")


@command("export", "database_url")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--type", "type_", metavar="TYPE", default="", help="Only items of this type.")
@click.option("--trash", is_flag=True, help="Also items that were deleted.")
@click.pass_context
def export_items(ctx: click.Context, folder: Path, type_: str, trash: bool) -> None:
    """Write every item to FOLDER as a Markdown file, or bring the files there up to date.

    Files that were edited since they were written are left alone and reported; the exit code is then 1.
    """
    target = ItemFolder(folder)
    with open_app(ctx) as app:
        for item in _read_items(app, type_):
            if item["deleted_at"] is not None and not trash:
                target.remove_item(item)
            else:
                target.write_item(item)
    done = target.outcome
    show.print_note(
        f"Exported to {folder}: {pluralize(done.written, 'file')} written, {done.unchanged} unchanged, "
        f"{done.removed} removed, {pluralize(len(done.conflicts), 'conflict')}."
    )
    _print_remarks("Conflicts", done.conflicts)
    ctx.exit(1 if done.conflicts else 0)


@command("import", "database_url")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Say what would happen and change nothing.")
@click.option("--json", "as_json", is_flag=True, help="The summary as JSON.")
@click.pass_context
def import_items(ctx: click.Context, folder: Path, dry_run: bool, as_json: bool) -> None:
    """Take items in from the Markdown files of FOLDER: new ones, and edited ones.

    What was changed here since the export is never overwritten: it is reported as a conflict, and the exit code is 1.
    """
    if not folder.exists():
        raise Missing(f"There is no folder {folder}.")
    found, remarks = _read_folder(folder)
    with open_app(ctx) as app:
        asked = {"dry_run": dry_run, "beyond": max((item.get("id", 0) for _, item in found), default=0)}
        landed = [
            each
            for batch in _split_batches(found)
            for each in call_owner_tool(app, MODULE_NAME, "import", {"items": batch, **asked})["items"]
        ]
        lost = [] if dry_run else _import_links(app, found, landed)
    said = [
        Remark(inside, each["why"], lost=each["outcome"] in ("conflict", "skipped"))
        for (inside, _), each in zip(found, landed, strict=True)
        if "why" in each
    ]
    remarks += [*said, *lost]
    counts = Counter(each["outcome"] for each in landed)
    told = {name: counts[name] for name in _OUTCOMES}
    if as_json:
        show.print_json(
            {"folder": str(folder), "dry_run": dry_run, **told, "remarks": [_remark_to_json(each) for each in remarks]}
        )
    else:
        click.echo(f"{'Would take in' if dry_run else 'Taken in'} from {folder}: "
                   + ", ".join(f"{number} {name}" for name, number in told.items()))  # fmt: skip
        _print_remarks("Remarks", remarks)
    ctx.exit(1 if any(each.lost for each in remarks) else 0)


def _read_items(app: App, type_: str) -> Iterator[dict[str, Any]]:
    after: int | None = 0
    while after is not None:
        page = call_owner_tool(app, MODULE_NAME, "export", {"after": after, "type": type_})
        yield from page["items"]
        after = page.get("next")


def _read_folder(folder: Path) -> tuple[list[tuple[str, dict[str, Any]]], list[Remark]]:
    found: list[tuple[str, dict[str, Any]]] = []
    remarks: list[Remark] = []
    seen: dict[str, str] = {}
    for each in read_pages(folder):
        if isinstance(each, Remark):
            remarks.append(each)
        elif each[1]["uid"] in seen:
            remarks.append(Remark(each[0], f"It is the same item as {seen[each[1]['uid']]}; this file was left out."))
        else:
            seen[each[1]["uid"]] = each[0]
            found.append(each)
    return found, remarks


def _split_batches(found: list[tuple[str, dict[str, Any]]]) -> Iterator[list[dict[str, Any]]]:
    for start in range(0, len(found), _BATCH):
        yield [item for _, item in found[start : start + _BATCH]]


def _import_links(app: App, found: list[tuple[str, dict[str, Any]]], landed: list[dict[str, Any]]) -> list[Remark]:
    """Links are made when all items are there; those that lead nowhere are told."""
    places = {each["uid"]: inside for (inside, _), each in zip(found, landed, strict=True) if each.get("uid")}
    taken = [
        {"uid": each["uid"], "links": item["links"]}
        for (_, item), each in zip(found, landed, strict=True)
        if each["outcome"] in ("saved", "changed")
    ]
    written = {each["uid"] for each in taken}
    remarks: list[Remark] = []
    for start in range(0, len(taken), _BATCH):
        batch = taken[start : start + _BATCH]
        ends = {link.get("uid") for each in batch for link in each["links"]} | {each["uid"] for each in batch}
        told = call_owner_tool(app, MODULE_NAME, "import.links", {"items": batch, "accepted": sorted(ends & written)})
        for lost in told["lost"]:
            remarks.append(Remark(places[lost["uid"]], f"There is nothing at {lost['to']}: the link is left out."))
    return remarks


def _print_remarks(heading: str, remarks: list[Remark]) -> None:
    if remarks:
        show.print_note(f"{heading} ({len(remarks)}):")
        for each in remarks[:50]:
            show.print_note(f"  {each.place}: {each.why}")
        if len(remarks) > 50:
            show.print_note(f"  … and {len(remarks) - 50} more; --json tells them")


def _remark_to_json(remark: Remark) -> dict[str, Any]:
    return {"place": remark.place, "why": remark.why, "lost": remark.lost}
