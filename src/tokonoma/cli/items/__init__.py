"""`items`: the graph of items at the terminal; every command is a call like any other."""

import sys
from typing import Any

import click

from tokonoma.cli import show
from tokonoma.cli.flags import group
from tokonoma.cli.items.asking import call_items_tool, parse_address
from tokonoma.cli.items.drawing import GRAPH_FORMATS
from tokonoma.cli.items.editing import edit_in_editor
from tokonoma.cli.items.files import export_items, import_items
from tokonoma.cli.session import open_app
from tokonoma.modules.items.model import PRIORITIES, STATUSES

_HEADINGS = ("ADDRESS", "STATUS", "PRIORITY", "TITLE", "TAGS")
_FACTS = ("status", "priority", "category", "version", "start_date", "end_date", "created_at", "updated_at", "revision")


@group("items")
def items() -> None:
    """List, show, add, edit and draw items; keep them as Markdown files."""


@items.command("list")
@click.argument("query", required=False)
@click.option("--type", "type_", metavar="TYPE", help="Only items of this type.")
@click.option("--all", "closed", is_flag=True, help="Closed ones too.")
@click.option("--ready", is_flag=True, help="Only what can be worked on: open, and not blocked.")
@click.option("--limit", type=click.IntRange(1, 100), default=20, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def list_items(
    ctx: click.Context, query: str | None, type_: str | None, closed: bool, ready: bool, limit: int, as_json: bool
) -> None:
    """List items, last changed first; with a QUERY the best first, as in `type:bug is:open printer`."""
    if ready and (query is not None or closed):
        raise click.UsageError("--ready goes with --type and --limit alone.")
    with open_app(ctx) as app:
        if query is not None:
            types = {"types": [type_]} if type_ else {}
            page = call_items_tool(app, "search_items", query=query, limit=limit, **types)
        elif ready:
            page = call_items_tool(app, "get_ready_items", type=type_, limit=limit)
        else:
            page = call_items_tool(app, "get_items", type=type_, limit=limit, includeClosedStatuses=closed)
    if as_json:
        show.print_json(page)
        return
    show.print_table(_HEADINGS, [_item_row(item) for item in page["items"]])
    if page["has_more"]:
        show.print_note(f"There are more than {limit}: --limit shows up to 100 of them.")


@items.command("show")
@click.argument("address_", metavar="ADDRESS")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def show_item(ctx: click.Context, address_: str, as_json: bool) -> None:
    """Show an item, as docs-12, with its links and its content."""
    with open_app(ctx) as app:
        item = call_items_tool(app, "get_item_detail", **parse_address(address_))
    if as_json:
        show.print_json(item)
        return
    click.echo(_format_item(item))


@items.command("add")
@click.argument("type_", metavar="TYPE")
@click.argument("title")
@click.option("--content", help="Markdown; - reads it from standard input.")
@click.option("--description")
@click.option("--status", type=click.Choice(STATUSES, case_sensitive=False))
@click.option("--priority", type=click.Choice(PRIORITIES, case_sensitive=False))
@click.option("--category")
@click.option("--tag", "tags", multiple=True, help="May be given several times.")
@click.option("--related", multiple=True, metavar="ADDRESS", help="May be given several times.")
@click.option("--json", "as_json", is_flag=True, help="The new item as JSON.")
@click.pass_context
def add_item(ctx: click.Context, type_: str, title: str, as_json: bool, **fields: Any) -> None:
    """Make an item of a TYPE with a TITLE, and print its address."""
    given = {name: list(value) if name in ("tags", "related") else value for name, value in fields.items() if value}
    if given.get("content") == "-":
        given["content"] = sys.stdin.buffer.read().decode()
    with open_app(ctx) as app:
        item = call_items_tool(app, "create_item", type=type_, title=title, **given)
    if as_json:
        show.print_json(item)
    else:
        click.echo(item["address"])


@items.command("edit")
@click.argument("address_", metavar="ADDRESS")
@click.pass_context
def edit_item(ctx: click.Context, address_: str) -> None:
    """Edit an item in $VISUAL or $EDITOR: its fields above, its content below.

    Nothing is lost if it cannot be saved, or if somebody else was quicker: your text is kept in a file.
    """
    with open_app(ctx) as app:
        edit_in_editor(app, parse_address(address_))


@items.command("graph")
@click.argument("address_", metavar="ADDRESS")
@click.option("--depth", type=click.IntRange(1, 3), default=2, show_default=True)
@click.option("--format", "kind", type=click.Choice(list(GRAPH_FORMATS)), default="mermaid", show_default=True)
@click.option("--most", type=click.IntRange(1, 5000), default=50, show_default=True, help="Items to draw at most.")
@click.pass_context
def graph_items(ctx: click.Context, address_: str, depth: int, kind: str, most: int) -> None:
    """Draw what is around an item, as Mermaid (for Markdown) or DOT (for Graphviz)."""
    with open_app(ctx) as app:
        told = call_items_tool(
            app, "get_related_items", **parse_address(address_), depth=depth, max_results=most, include_edges=True
        )
    click.echo(GRAPH_FORMATS[kind](told))
    if told.get("truncated"):
        show.print_note(f"There are more than {most} items around it: --most draws more of them.")


items.add_command(export_items)
items.add_command(import_items)


def _item_row(item: dict[str, Any]) -> tuple[str, ...]:
    return item["address"], item["status"], item["priority"], item["title"], " ".join(item["tags"])


def _format_item(item: dict[str, Any]) -> str:
    lines = [f"{item['address']}  {item['title']}"]
    lines += [f"  {name + ':':<12} {item[name]}" for name in _FACTS if item[name] is not None]
    if item["tags"]:
        lines.append(f"  {'tags:':<12} {', '.join(item['tags'])}")
    lines += [f"  {each['kind'] + ':':<12} {each['address']}  {each['title']}" for each in item["relations"]]
    lines += [f"  {'vanished:':<12} {each}" for each in item.get("vanished", ())]
    lines += ["", item["description"]] if item["description"] else []
    lines += ["", item["content"]] if item["content"] else []
    return "\n".join(lines)
