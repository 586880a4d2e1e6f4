"""`items`: the graph of items at the terminal. Every command calls tools of the items, as other callers do."""

import os
import sys
import tempfile
from typing import Any

import click

from tokonoma.app import App
from tokonoma.cli.call import call_tool
from tokonoma.cli.command import group, json_option, pass_app
from tokonoma.cli.items.files import export_items, import_items
from tokonoma.cli.items.text import GRAPH_FORMATS, find_changes, format_for_editor
from tokonoma.cli.output import print_json, print_line, print_note, print_table
from tokonoma.core.errors import Invalid, Refusal
from tokonoma.core.printable import escape_line
from tokonoma.modules.items.model import MODULE_NAME, PRIORITIES, STATUSES, parse_target

_FACTS = ("status", "priority", "category", "version", "start_date", "end_date", "created_at", "updated_at", "revision")


@group("items")
def items() -> None:
    """List, show, add, edit and draw items; export and import them as Markdown files."""


@items.command("list")
@click.argument("query", required=False)
@click.option("--type", "type_", metavar="TYPE", help="Only items of this type.")
@click.option("--all", "closed", is_flag=True, help="Also closed items.")
@click.option("--ready", is_flag=True, help="Only items that are open and not blocked.")
@click.option("--limit", type=click.IntRange(1, 100), default=20, show_default=True)
@json_option
@pass_app
def list_items(
    app: App, query: str | None, type_: str | None, closed: bool, ready: bool, limit: int, as_json: bool
) -> None:
    """List items, last changed first; with a QUERY such as `type:bug is:open printer`, best first."""
    if ready and (query is not None or closed):
        raise click.UsageError("--ready can be used only with --type and --limit.")
    if query is not None:
        types = {"types": [type_]} if type_ else {}
        page = call_tool(app, MODULE_NAME, "search_items", query=query, limit=limit, **types)
    elif ready:
        page = call_tool(app, MODULE_NAME, "get_ready_items", type=type_, limit=limit)
    else:
        page = call_tool(app, MODULE_NAME, "get_items", type=type_, limit=limit, includeClosedStatuses=closed)
    if as_json:
        print_json(page)
        return
    rows = [
        (item["address"], item["status"], item["priority"], item["title"], " ".join(item["tags"]))
        for item in page["items"]
    ]
    print_table(("ADDRESS", "STATUS", "PRIORITY", "TITLE", "TAGS"), rows)
    if page["has_more"]:
        print_note(f"There are more than {limit} items; --limit shows up to 100.")


@items.command("show")
@click.argument("address_", metavar="ADDRESS")
@json_option
@pass_app
def show_item(app: App, address_: str, as_json: bool) -> None:
    """Show the item at ADDRESS, such as docs-12, with its links and content."""
    item = call_tool(app, MODULE_NAME, "get_item_detail", **parse_address(address_))
    if as_json:
        print_json(item)
        return
    print_line(_format_item(item))


@items.command("add")
@click.argument("type_", metavar="TYPE")
@click.argument("title")
@click.option("--content", help="Markdown; `-` reads standard input.")
@click.option("--description")
@click.option("--status", type=click.Choice(STATUSES, case_sensitive=False))
@click.option("--priority", type=click.Choice(PRIORITIES, case_sensitive=False))
@click.option("--category")
@click.option("--tag", "tags", multiple=True, help="Can be repeated.")
@click.option("--related", multiple=True, metavar="ADDRESS", help="Can be repeated.")
@click.option("--json", "as_json", is_flag=True, help="The new item as JSON.")
@pass_app
def add_item(app: App, type_: str, title: str, as_json: bool, **fields: Any) -> None:
    """Create an item of this TYPE with this TITLE and print its address."""
    given = {name: list(value) if name in ("tags", "related") else value for name, value in fields.items() if value}
    if given.get("content") == "-":
        given["content"] = sys.stdin.buffer.read().decode()
    item = call_tool(app, MODULE_NAME, "create_item", type=type_, title=title, **given)
    if as_json:
        print_json(item)
    else:
        print_line(item["address"])


@items.command("edit")
@click.argument("address_", metavar="ADDRESS")
@pass_app
def edit_item(app: App, address_: str) -> None:
    """Edit an item in $VISUAL or $EDITOR: its fields above, its content below.

    If the item cannot be saved, or was changed meanwhile, your text is kept in a file.
    """
    place = parse_address(address_)
    item = call_tool(app, MODULE_NAME, "get_item_detail", **place)
    text = click.edit(format_for_editor(item), extension=".md", require_save=True)
    try:
        changes = find_changes(item, text) if text is not None else {}
        if not changes:
            print_note("Nothing was changed.")
            return
        new = call_tool(app, MODULE_NAME, "update_item", **place, **changes, expected_revision=item["revision"])
    except Refusal as error:
        handle, draft = tempfile.mkstemp(prefix="tokonoma-", suffix=".md")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text or "")
        raise Invalid(f"{error.message} Your text is kept in {draft}.") from None
    print_note(f"{new['address']} is at revision {new['revision']}: changed {', '.join(changes)}.")


@items.command("graph")
@click.argument("address_", metavar="ADDRESS")
@click.option("--depth", type=click.IntRange(1, 3), default=2, show_default=True)
@click.option("--format", "kind", type=click.Choice(list(GRAPH_FORMATS)), default="mermaid", show_default=True)
@click.option("--most", type=click.IntRange(1, 5000), default=50, show_default=True, help="The most items to draw.")
@pass_app
def graph_items(app: App, address_: str, depth: int, kind: str, most: int) -> None:
    """Draw the items around an item as Mermaid (for Markdown) or DOT (for Graphviz)."""
    options = {"depth": depth, "max_results": most, "include_edges": True}
    graph = call_tool(app, MODULE_NAME, "get_related_items", **parse_address(address_), **options)
    print_line(GRAPH_FORMATS[kind](graph))
    if graph.get("truncated"):
        print_note(f"There are more than {most} items around it; --most draws more.")


items.add_command(export_items)
items.add_command(import_items)


def parse_address(text: str) -> dict[str, Any]:
    """The parameters that name the item `docs-12`."""
    target = parse_target(text)
    if target is None or target.item is None:
        raise Invalid(f"{text!r} is not the address of an item, such as docs-12.")
    return {"type": target.type or MODULE_NAME, "id": target.item}


def _format_item(item: dict[str, Any]) -> str:
    lines = [f"{item['address']}  {item['title']}"]
    lines += [f"  {name + ':':<12} {item[name]}" for name in _FACTS if item[name] is not None]
    if item["tags"]:
        lines.append(f"  {'tags:':<12} {', '.join(item['tags'])}")
    lines += [f"  {each['kind'] + ':':<12} {each['address']}  {each['title']}" for each in item["relations"]]
    lines += [f"  {'vanished:':<12} {each}" for each in item.get("vanished", ())]
    lines = [escape_line(line) for line in lines]
    lines += ["", item["description"]] if item["description"] else []
    lines += ["", item["content"]] if item["content"] else []
    return "\n".join(lines)
