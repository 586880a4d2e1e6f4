"""`claims export` and `claims import`: claims to and from one file of JSON lines."""

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

import click

from tokonoma import __version__
from tokonoma.app import App
from tokonoma.app.places import require_database
from tokonoma.cli.call import call_owner_tool
from tokonoma.cli.command import group, pass_app
from tokonoma.cli.interrupt import report_interrupt
from tokonoma.cli.memo_files import open_source
from tokonoma.cli.output import format_remarks, print_json, print_line, print_note
from tokonoma.cli.vectors import report_vectors
from tokonoma.core import clock
from tokonoma.core.errors import Invalid
from tokonoma.core.printable import pluralize
from tokonoma.transfer.claims import format_claim, format_footer, format_header, read_claims
from tokonoma.transfer.files import create_file
from tokonoma.transfer.model import Metadata, Remark

_BATCH = 100
_OUTCOMES = ("saved", "changed", "unchanged", "kept", "skipped")

PlacedClaim = tuple[str, Metadata]  # where it stands in the file


@group("claims")
def claims() -> None:
    """Export and import claims with their sources, entities, relations, feedback and history."""


@claims.command("export")
@click.argument("target", metavar="TARGET|-")
@pass_app
def export_claims(app: App, target: str) -> None:
    """Export all claims to TARGET, a file of JSON lines; `-` writes to stdout. An existing file is not overwritten.

    Forgotten and expired claims are not exported.
    """
    require_database(app, "export")
    if target == "-":
        with report_interrupt(lambda: "The output is incomplete: its last line is missing."):
            count = write_claims(app, sys.stdout.buffer)
    else:
        with report_interrupt(lambda: f"{target} was not written."), create_file(Path(target)) as file:
            count = write_claims(app, file)
    print_note(f"Exported {pluralize(count, 'claim')}{'' if target == '-' else f' to {target}'}.")


def write_claims(app: App, file: BinaryIO) -> int:
    count, after = 0, ""
    file.write(format_header(version=__version__, exported_at=clock.format_time(clock.now())))
    while after is not None:
        page = call_owner_tool(app, "claims", "export", {"after": after})
        file.writelines(format_claim(each) for each in page["claims"])
        count += len(page["claims"])
        after = page.get("next")
    file.write(format_footer(count))
    return count


@claims.command("import")
@click.argument("source", metavar="SOURCE|-")
@click.option("--dry-run", is_flag=True, help="Report what would happen, but change nothing.")
@click.option("--seal", is_flag=True, help="Store what the policy refuses, with the class secret, which hides it.")
@click.option("--json", "as_json", is_flag=True, help="The summary as JSON.")
@pass_app
def import_claims(app: App, source: str, dry_run: bool, seal: bool, as_json: bool) -> None:
    """Import claims from SOURCE, a file that `claims export` wrote; `-` reads standard input.

    A file can be imported again: what is stored stays, and what it lacks is added. The exit code is 1 if something
    could not be imported.
    """
    remarks: list[Remark] = []
    with open_source(source) as path:
        found = list(read_claims(path))
    remarks += [each for each in found if isinstance(each, Remark)]
    placed = [each for each in found if not isinstance(each, Remark)]
    told, relations, more = store_claims(app, placed, {"dry_run": dry_run, "seal": seal})
    remarks += more
    counts = {"claims": told, "relations": relations}
    if as_json:
        about = {"source": source, "dry_run": dry_run, **counts}
        print_json({**about, "remarks": [asdict(each) for each in remarks]})
    else:
        print_line(f"{'Would import' if dry_run else 'Imported'} from {source}: {_format_counts(told)}")
        if not dry_run:
            print_line(f"Relations: {relations['saved']} saved, {relations['unchanged']} unchanged")
            report_vectors(app, wait=False)
        for line in format_remarks("Remarks", remarks, len(remarks)):
            print_note(line)
    sys.exit(1 if any(each.lost for each in remarks) else 0)


def store_claims(
    app: App, placed: Sequence[PlacedClaim], options: Mapping[str, bool]
) -> tuple[dict[str, int], dict[str, int], list[Remark]]:
    """The outcomes of claims and of their relations, and what there is to say about them."""
    remarks: list[Remark] = []
    results: list[dict[str, Any]] = []
    relations: Counter[str] = Counter()
    with report_interrupt(lambda: f"Imported until then: {_format_counts(_count(results))}. Run it again to continue."):
        for start in range(0, len(placed), _BATCH):
            results += _send_batch(app, placed[start : start + _BATCH], options)
        for (place, _), result in zip(placed, results, strict=True):
            if "why" in result:
                remarks.append(Remark(place, result["why"], lost=result["outcome"] == "skipped"))
        if not options["dry_run"]:
            remarks += _send_links(app, placed, results, relations)
    return _count(results), {name: relations[name] for name in ("saved", "unchanged")}, remarks


def _send_batch(app: App, placed: Sequence[PlacedClaim], options: Mapping[str, bool]) -> list[dict[str, Any]]:
    """What became of each. If the batch is refused, it is halved until the claim that causes this is found."""
    try:
        params = {"claims": [claim for _, claim in placed], **options}
        return call_owner_tool(app, "claims", "import", params)
    except Invalid as error:
        if len(placed) == 1:
            return [{"outcome": "skipped", "why": error.message}]
        middle = len(placed) // 2
        return _send_batch(app, placed[:middle], options) + _send_batch(app, placed[middle:], options)


def _send_links(
    app: App, placed: Sequence[PlacedClaim], results: Sequence[dict[str, Any]], relations: Counter[str]
) -> list[Remark]:
    """Import the relations, after all claims are stored; return a remark for each that leads nowhere."""
    links: list[dict[str, Any]] = []
    places: dict[str, str] = {}
    for (place, claim), result in zip(placed, results, strict=True):
        if "claim_id" in result:
            links.append({"claim_id": result["claim_id"], "relations": claim["relations"]})
            places[result["claim_id"]] = place
    remarks: list[Remark] = []
    for start in range(0, len(links), _BATCH):
        told = call_owner_tool(app, "claims", "import.links", {"claims": links[start : start + _BATCH]})
        relations.update(saved=told["saved"], unchanged=told["unchanged"])
        remarks += [Remark(places[each["claim_id"]], each["why"]) for each in told["lost"]]
    return remarks


def _count(results: Sequence[dict[str, Any]]) -> dict[str, int]:
    counts = Counter(result["outcome"] for result in results)
    return {name: counts[name] for name in _OUTCOMES}


def _format_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in counts.items())
