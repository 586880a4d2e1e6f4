"""`manual`: manuals at the terminal; every command is a call like any other."""

from collections.abc import Mapping
from typing import Any

import click

from tokonoma.app import App
from tokonoma.cli import show
from tokonoma.cli.call import call_tool
from tokonoma.cli.flags import group
from tokonoma.cli.session import open_app
from tokonoma.core.errors import Missing

_MAX_PROBLEMS = 5  # contradictions, and gaps, that are shown


@group("manual")
def manual() -> None:
    """Find everything on a topic in the manuals, list headings, read."""


@manual.command("find")
@click.argument("query")
@click.option("--manual", "manual_id", metavar="ID", help="Only this manual.")
@click.option("--limit", type=click.IntRange(1, 200), default=20, show_default=True, help="Lines shown.")
@click.option("--json", "as_json", is_flag=True, help="The whole answer, as JSON.")
@click.pass_context
def find(ctx: click.Context, query: str, manual_id: str | None, limit: int, as_json: bool) -> None:
    """List the sections about QUERY, best first, and what was looked through."""
    with open_app(ctx) as app:
        if not call_tool(app, "manual", "list")["total"]:
            raise Missing(f"There is no manual yet. Put a folder of .md or .json files into {_manuals_folder(app)}.")
        found = call_tool(app, "manual", "find", query=query, manual_id=manual_id)
        page = call_tool(app, "manual", "hits", trace_id=found["trace_id"], limit=limit)
        trouble = [
            *_list_problems(app, found, "conflicts", "contradiction"),
            *_list_problems(app, found, "gaps", "gap"),
        ]
    if as_json:
        show.print_json({**found, "items": page["items"]})
        return
    if page["items"]:
        show.print_table(("WHERE", "SCORE", "TITLE", "FOUND BY"), [_hit_row(item) for item in page["items"]])
    for line in (_format_summary(found["summary"], page["total"]), *trouble, *found["summary"]["warnings"]):
        show.print_note(line)


def _format_summary(summary: Mapping[str, Any], total: int) -> str:
    """What was found, and what was looked through for it."""
    left = summary["unscanned_sections_count"]
    return (
        f"{total or 'None'} of {show.pluralize(summary['scanned_nodes'], 'section')}"
        f" in {show.pluralize(summary['scanned_files'], 'file')}"
        + (f"; {left} not looked at ({summary.get('cutoff_reason')})" if left else "")
        + f"; {show.pluralize(summary['conflict_count'], 'contradiction')}"
        + f", {show.pluralize(summary['gap_count'], 'gap')}."
    )


def _list_problems(app: App, found: Mapping[str, Any], kind: str, word: str) -> list[str]:
    """The first few, each in a line."""
    items = call_tool(app, "manual", "hits", trace_id=found["trace_id"], kind=kind, limit=_MAX_PROBLEMS)["items"]
    return [
        f"{word}: " + (f"{_format_place(item)}  " if "ref" in item else f"{item['title']}: ") + item["reason"]
        for item in items
    ]


def _manuals_folder(app: App) -> str:
    return app.server_info.locations()["manuals"]


@manual.command("list")
@click.pass_context
def list_(ctx: click.Context) -> None:
    """List the manuals."""
    with open_app(ctx) as app:
        _print_manuals(app)


def _print_manuals(app: App) -> None:
    listed = call_tool(app, "manual", "list")["items"]
    rows = [(each["manual_id"], str(each["files"]), str(each["sections"]), each.get("title", "")) for each in listed]
    if rows:
        show.print_table(("MANUAL", "FILES", "SECTIONS", "TITLE"), rows)
    else:
        show.print_note(f"There is no manual yet. Put a folder of .md or .json files into {_manuals_folder(app)}.")


@manual.command("toc")
@click.argument("manual_id", metavar="ID", required=False)
@click.option("--path", help="Only this file.")
@click.pass_context
def toc(ctx: click.Context, manual_id: str | None, path: str | None) -> None:
    """List the headings of a manual; without an ID, the manuals."""
    with open_app(ctx) as app:
        if manual_id is None:
            _print_manuals(app)
            return
        cursor: str | None = None
        while True:
            page = call_tool(app, "manual", "toc", manual_id=manual_id, path=path, cursor=cursor)
            for node in page["items"]:
                click.echo(f"{'  ' * max(0, node['level'] - 1)}{node['title']}  {node['path']}:{node['line_start']}")
            cursor = page.get("next_cursor")
            if cursor is None:
                return


@manual.command("read")
@click.argument("place", metavar="ID/PATH[:LINE]")
@click.option("--scope", type=click.Choice(["snippet", "section", "sections", "file"]), help="How much.")
@click.pass_context
def read(ctx: click.Context, place: str, scope: str | None) -> None:
    """Print a place of a manual, as rules/terms.md:9; a section unless --scope says otherwise."""
    manual_id, _, rest = place.partition("/")
    path, colon, line = rest.rpartition(":")
    if not colon or not line.isdigit():
        path, line = rest, ""
    if not path:
        raise click.UsageError(f"{place!r} names no file. A place looks like rules/terms.md:9.")
    ref: dict[str, Any] = {"manual_id": manual_id, "path": path}
    if line:
        ref["start_line"] = int(line)
    chosen = scope or (None if path.lower().endswith(".json") else "section")
    limits = {"max_chars": 20_000, "allow_file": scope == "file"}
    with open_app(ctx) as app:
        told = call_tool(app, "manual", "read", ref=ref, scope=chosen, limits=limits)
    click.echo(told["text"], nl=not told["text"].endswith("\n"))
    if told["truncated"]:
        show.print_note(
            f"… cut at line {told['end_line']}; go on with {manual_id}/{path}:{told.get('next_start_line', '')}"
        )


def _hit_row(item: Mapping[str, Any]) -> tuple[str, str, str, str]:
    return _format_place(item), f"{item['score']:.2f}", item["title"], ", ".join(item["signals"])


def _format_place(item: Mapping[str, Any]) -> str:
    ref = item["ref"]
    return f"{ref['manual_id']}/{ref['path']}:{ref['start_line']}"
