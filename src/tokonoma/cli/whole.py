"""`export --all` and its import: the records of all modules, and on request the files of vault and manuals."""

import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from tokonoma import __version__
from tokonoma.app import App
from tokonoma.app.places import find_file_roots
from tokonoma.cli.call import call_owner_tool
from tokonoma.cli.claims import store_claims, write_claims
from tokonoma.cli.items.files import store_items
from tokonoma.cli.memo_files import export_to_file, send_batch
from tokonoma.cli.output import format_remarks, print_json, print_line, print_note
from tokonoma.core import clock
from tokonoma.core.errors import Conflict
from tokonoma.core.printable import pluralize
from tokonoma.files.folder import open_root
from tokonoma.files.tree import UnreadableFile, copy_file, hash_file, list_tree, place_staged, remove_staged, stage_file
from tokonoma.transfer import whole
from tokonoma.transfer.claims import read_claims
from tokonoma.transfer.files import create_file
from tokonoma.transfer.importer import Importer, find_reader
from tokonoma.transfer.model import ImportSource, Remark
from tokonoma.transfer.whole import CLAIMS, ITEMS, MEMORY, ExportedFile, describe_file, read_manifest, write_manifest

_SYSTEM = ".system"  # kept versions: they belong to this home's database


def export_all(app: App, folder: Path, *, files: bool) -> None:
    """Write all modules into a new folder."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Conflict(f"{folder} already exists and is not empty. Choose another name.", reason="exists")
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    counts: dict[str, int] = {}
    with create_file(folder / MEMORY) as file:
        counts["memos"], counts["relations"] = export_to_file(app, file, {"namespace": "/", "trash": True})
    counts["items"], counts["states"] = _write_items(app, folder / ITEMS)
    with create_file(folder / CLAIMS) as file:
        counts["claims"] = write_claims(app, file)
    written = [describe_file(folder, name) for name in (MEMORY, ITEMS, CLAIMS)]
    left_out: list[Remark] = []
    if files:
        copied, left_out = _copy_files(app, folder)
        counts["files"] = len(copied)
        written += copied
    about = {"version": __version__, "exported_at": clock.format_time(clock.now())}
    write_manifest(folder, written, **about, counts=counts)
    shown = ", ".join(pluralize(number, name.removesuffix("s")) for name, number in counts.items())
    print_note(f"Exported to {folder}: {shown}.")
    for line in format_remarks("Left out", left_out, len(left_out)):
        print_note(line)


def _write_items(app: App, path: Path) -> tuple[int, int]:
    count, after = 0, 0
    states = call_owner_tool(app, "items", "export.states", {})
    with create_file(path) as file:
        file.write(whole.format_items_header(version=__version__))
        while after is not None:
            page = call_owner_tool(app, "items", "export", {"after": after, "classes": True})
            file.writelines(map(whole.format_item, page["items"]))
            count += len(page["items"])
            after = page.get("next")
        file.writelines(map(whole.format_state, states))
        file.write(whole.format_items_footer(count, len(states)))
    return count, len(states)


def _copy_files(app: App, target: Path) -> tuple[list[ExportedFile], list[Remark]]:
    copied: list[ExportedFile] = []
    left_out: list[Remark] = []
    for root, place in find_file_roots(app).items():
        if not Path(place).is_dir():
            continue
        with open_root(place) as folder:
            listing = list_tree(folder)
            left_out += [Remark(f"{root}/{inside}", why) for inside, why in listing.left_out]
            for parts in listing.files:
                if parts[0] == _SYSTEM:
                    continue
                inside = "/".join((root, *parts))
                path = target.joinpath(root, *parts)
                path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                try:
                    with create_file(path) as out:
                        found = copy_file(folder, parts, out)
                    copied.append(ExportedFile(inside, found.size, found.sha256))
                except UnreadableFile as error:
                    left_out.append(Remark(inside, str(error) or "It is gone."))
    return copied, left_out


def import_all(app: App, folder: Path, *, dry_run: bool, seal: bool, as_json: bool) -> None:
    """Import what `export --all` wrote. Nothing is imported from a folder that differs from what was exported."""
    files = read_manifest(folder)
    options = {"dry_run": dry_run, "seal": seal}
    remarks: list[Remark] = []
    counts: dict[str, dict[str, int]] = {}
    listed = {each.path for each in files}
    if MEMORY in listed:
        counts |= _import_memory(app, folder / MEMORY, options, remarks)
    if ITEMS in listed:
        counts |= _import_items(app, folder / ITEMS, options, remarks)
    if CLAIMS in listed:
        found = list(read_claims(folder / CLAIMS))
        remarks += [each for each in found if isinstance(each, Remark)]
        placed = [each for each in found if not isinstance(each, Remark)]
        told, links, more = store_claims(app, placed, options)
        counts |= {"claims": told, "claim relations": links} if not dry_run else {"claims": told}
        remarks += more
    counts |= _import_files(app, folder, files, remarks, dry_run=dry_run)
    if not dry_run:
        app.database.update_statistics()
    if as_json:
        remarked = [{"place": each.place, "why": each.why, "lost": each.lost} for each in remarks]
        print_json({"source": str(folder), "dry_run": dry_run, **counts, "remarks": remarked})
    else:
        print_line(f"{'Would import' if dry_run else 'Imported'} from {folder}:")
        for name, outcomes in counts.items():
            shown = ", ".join(f"{number} {outcome}" for outcome, number in outcomes.items() if number)
            print_line(f"  {name:<16} {shown or 'none'}")
        for line in format_remarks("Remarks", remarks, len(remarks)):
            print_line(line)
    sys.exit(1 if any(each.lost for each in remarks) else 0)


def _import_memory(
    app: App, path: Path, options: Mapping[str, bool], remarks: list[Remark]
) -> dict[str, dict[str, int]]:
    source = ImportSource(path, "tokonoma")
    send = partial(send_batch, app, options["dry_run"], seal=options["seal"])
    importer = Importer(send, lambda _: None, rehearsal=options["dry_run"])
    importer.run(find_reader(source)(source))
    tally = importer.tally
    remarks += tally.skipped.items
    remarks += [Remark(each.place, each.why, lost=False) for each in (*tally.kept.items, *tally.notes.items)]
    return {"memos": dict(tally.memos), "relations": dict(tally.relations)}


def _import_items(
    app: App, path: Path, options: Mapping[str, bool], remarks: list[Remark]
) -> dict[str, dict[str, int]]:
    found = list(whole.read_items(path))
    remarks += [each for each in found if isinstance(each, Remark)]
    rows = [each for each in found if not isinstance(each, Remark)]
    pages = [(place, {**fields, "edited": False}) for record, place, fields in rows if record == "item"]
    outcomes, more = store_items(app, pages, options)
    states = [(place, fields) for record, place, fields in rows if record == "state"]
    told = call_owner_tool(app, "items", "import.states", {"states": [fields for _, fields in states], **options})
    counts: dict[str, int] = {}
    for (place, _), each in zip(states, told, strict=True):
        counts[each["outcome"]] = counts.get(each["outcome"], 0) + 1
        if "why" in each or "note" in each:
            remarks.append(Remark(place, each.get("why") or each["note"], lost="why" in each))
    remarks += more
    return {"items": outcomes, "states": counts}


def _import_files(
    app: App, source: Path, files: list[ExportedFile], remarks: list[Remark], *, dry_run: bool
) -> dict[str, dict[str, int]]:
    """Put the files into the vault and the manuals. A file that is there with another text stays as it is."""
    counts = {"saved": 0, "unchanged": 0, "kept": 0}
    for root, place in find_file_roots(app).items():
        wanted = [each for each in files if each.path.startswith(f"{root}/")]
        if not wanted:
            continue
        with open_root(place) as folder:
            for number, each in enumerate(wanted):
                parts = tuple(each.path.split("/")[1:])
                here = hash_file(folder, parts)
                outcome = "saved" if here is None else "unchanged" if here[1] == each.sha256 else "kept"
                counts[outcome] += 1
                if outcome == "kept":
                    remarks.append(Remark(each.path, "Another file of this name is here; it stays."))
                elif outcome == "saved" and not dry_run:
                    path = source / each.path
                    with path.open("rb") as data:
                        stage_file(folder, str(number), data, 0o600, path.stat().st_mtime_ns)
                    place_staged(folder, str(number), parts)
            remove_staged(folder)
    return {"files": counts} if any(counts.values()) else {}
