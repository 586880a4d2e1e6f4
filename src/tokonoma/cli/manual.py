"""`manual`: manuals at the terminal. Every command calls tools of the manuals, as other callers do."""

from collections.abc import Mapping
from typing import Any

import click

from tokonoma.app import App
from tokonoma.app.places import find_places
from tokonoma.cli.call import call_tool
from tokonoma.cli.command import group, pass_app
from tokonoma.cli.output import print_json, print_line, print_note, print_table, print_text
from tokonoma.core.errors import Missing
from tokonoma.core.printable import escape_line, pluralize

_MAX_PROBLEMS = 5  # contradictions, and gaps, that are shown
_NO_MANUAL = "There is no manual yet. Put a folder with .md or .json files into {}."


@group("manual")
def manual() -> None:
    """Search, list and read the manuals."""


@manual.command("find")
@click.argument("query")
@click.option("--manual", "manual_id", metavar="ID", help="Only this manual.")
@click.option("--limit", type=click.IntRange(1, 200), default=20, show_default=True, help="Number of lines.")
@click.option("--json", "as_json", is_flag=True, help="The whole result as JSON.")
@pass_app
def find(app: App, query: str, manual_id: str | None, limit: int, as_json: bool) -> None:
    """List the sections about QUERY, best first, and how much was searched."""
    if not call_tool(app, "manual", "list")["total"]:
        raise Missing(_NO_MANUAL.format(find_places(app)["manuals"]))
    found = call_tool(app, "manual", "find", query=query, manual_id=manual_id)
    page = call_tool(app, "manual", "hits", trace_id=found["trace_id"], limit=limit)
    problems = _list_problems(app, found, "conflicts", "contradiction") + _list_problems(app, found, "gaps", "gap")
    if as_json:
        print_json({**found, "items": page["items"]})
        return
    if page["items"]:
        rows = [
            (_format_place(item), f"{item['score']:.2f}", item["title"], ", ".join(item["signals"]))
            for item in page["items"]
        ]
        print_table(("WHERE", "SCORE", "TITLE", "FOUND BY"), rows)
    for line in (_format_summary(found["summary"], page["total"]), *problems, *found["summary"]["warnings"]):
        print_note(line)


def _format_summary(summary: Mapping[str, Any], total: int) -> str:
    """The number of hits, and how much was searched."""
    left = summary["unscanned_sections_count"]
    return (
        f"{total or 'None'} of {pluralize(summary['scanned_nodes'], 'section')}"
        f" in {pluralize(summary['scanned_files'], 'file')}"
        + (f"; {left} not searched ({summary.get('cutoff_reason')})" if left else "")
        + f"; {pluralize(summary['conflict_count'], 'contradiction')}"
        + f", {pluralize(summary['gap_count'], 'gap')}."
    )


def _list_problems(app: App, found: Mapping[str, Any], kind: str, word: str) -> list[str]:
    """The first problems of a kind, one per line."""
    items = call_tool(app, "manual", "hits", trace_id=found["trace_id"], kind=kind, limit=_MAX_PROBLEMS)["items"]
    return [
        f"{word}: " + (f"{_format_place(item)}  " if "ref" in item else f"{item['title']}: ") + item["reason"]
        for item in items
    ]


@manual.command("list")
@pass_app
def list_(app: App) -> None:
    """List the manuals."""
    _print_manuals(app)


def _print_manuals(app: App) -> None:
    listed = call_tool(app, "manual", "list")["items"]
    rows = [(each["manual_id"], str(each["files"]), str(each["sections"]), each.get("title", "")) for each in listed]
    if rows:
        print_table(("MANUAL", "FILES", "SECTIONS", "TITLE"), rows)
    else:
        print_note(_NO_MANUAL.format(find_places(app)["manuals"]))


@manual.command("toc")
@click.argument("manual_id", metavar="ID", required=False)
@click.option("--path", help="Only this file.")
@pass_app
def toc(app: App, manual_id: str | None, path: str | None) -> None:
    """List the headings of a manual; without an ID, the manuals."""
    if manual_id is None:
        _print_manuals(app)
        return
    cursor: str | None = None
    while True:
        page = call_tool(app, "manual", "toc", manual_id=manual_id, path=path, cursor=cursor)
        for node in page["items"]:
            line = f"{'  ' * max(0, node['level'] - 1)}{node['title']}  {node['path']}:{node['line_start']}"
            print_line(escape_line(line))
        cursor = page.get("next_cursor")
        if cursor is None:
            return


@manual.command("read")
@click.argument("place", metavar="ID/PATH[:LINE]")
@click.option("--scope", type=click.Choice(["snippet", "section", "sections", "file"]), help="How much.")
@pass_app
def read(app: App, place: str, scope: str | None) -> None:
    """Print a part of a manual, such as rules/terms.md:9; by default its section."""
    manual_id, _, rest = place.partition("/")
    path, colon, line = rest.rpartition(":")
    if not colon or not line.isdigit():
        path, line = rest, ""
    if not path:
        raise click.UsageError(f"{place!r} does not name a file. Use a place such as rules/terms.md:9.")
    ref = {"manual_id": manual_id, "path": path} | ({"start_line": int(line)} if line else {})
    chosen = scope or (None if path.lower().endswith(".json") else "section")
    limits = {"max_chars": 20_000, "allow_file": scope == "file"}
    part = call_tool(app, "manual", "read", ref=ref, scope=chosen, limits=limits)
    print_text(part["text"])
    if part["truncated"]:
        following = f"{manual_id}/{path}:{part.get('next_start_line', '')}"
        print_note(f"… cut at line {part['end_line']}; continue with {following}")


def _format_place(item: Mapping[str, Any]) -> str:
    ref = item["ref"]
    return f"{ref['manual_id']}/{ref['path']}:{ref['start_line']}"
