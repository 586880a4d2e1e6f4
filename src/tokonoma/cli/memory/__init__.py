"""`memory`: memos at the terminal. Every command calls tools of the memory, as other callers do."""

import json
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import click

from tokonoma.app import App
from tokonoma.cli.call import call_tool, read_text
from tokonoma.cli.command import group, json_option, pass_app
from tokonoma.cli.memory.edit import edit_memo
from tokonoma.cli.memory.lookup import ID_METAVAR, MODULE_NAME, JsonObject, find_memo_id, read_memo
from tokonoma.cli.memory.search import search_memos
from tokonoma.cli.memory.text import SHORT_ID, draw_tree, format_memo, format_name, format_relation, format_time
from tokonoma.cli.memory.versions import merge_memos, move_memos, restore_memo, show_history
from tokonoma.cli.output import print_json, print_line, print_note, print_table, print_text
from tokonoma.core.errors import Missing
from tokonoma.core.printable import escape_line

_PAGE = 200
_RELATIONS = 20  # of each direction


@group("memory")
def memory() -> None:
    """List, show, edit, search, move and merge memos.

    A memo is named by its ID, by its address (tokonoma://memory/…), or by the start of its id.
    """


@memory.command("list")
@click.argument("namespace", required=False)
@click.option("--thread", help="Only memos of this thread.")
@click.option("--trash", is_flag=True, help="Deleted memos instead.")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="Number of memos.")
@click.option("--all", "everything", is_flag=True, help="All memos.")
@json_option
@pass_app
def list_memos(
    app: App, namespace: str | None, thread: str | None, trash: bool, limit: int, everything: bool, as_json: bool
) -> None:
    """List the memos of a NAMESPACE and those below it, last changed first."""
    found: list[JsonObject] = []
    has_more = False
    wanted = {"namespace": namespace, "thread": thread, "state": "trash" if trash else "kept"}
    for page in _list_pages(app, "list", _PAGE if everything else min(limit, _PAGE), **wanted):
        found += page["items"]
        has_more = page["has_more"] or len(found) > limit
        if len(found) >= limit and not everything:
            found = found[:limit]
            break
    if as_json:
        print_json({"items": found, "has_more": has_more and not everything})
        return
    _print_memos(found, "DELETED (UTC)" if trash else "CHANGED (UTC)", "deleted_at" if trash else "updated_at")
    if not found:
        print_note("There are no deleted memos here." if trash else "There are no memos here.")
    elif has_more and not everything:
        print_note(f"There are more than {limit} memos; --limit or --all shows more.")


def _list_pages(app: App, tool: str, size: int, **params: Any) -> Iterator[JsonObject]:
    cursor: str | None = None
    while True:
        page = call_tool(app, MODULE_NAME, tool, limit=size, cursor=cursor, **params)
        yield page
        cursor = page.get("next_cursor")
        if cursor is None:
            return


def _print_memos(memos: Sequence[JsonObject], heading: str, time: str) -> None:
    if not memos:
        return
    # A person types the start of an id; a program gets the whole one.
    length = SHORT_ID if sys.stdout.isatty() else None
    rows = [(each["memo_id"][:length], format_time(each[time]), each["namespace"], format_name(each)) for each in memos]
    print_table(("ID", heading, "NAMESPACE", "MEMO"), rows)


@memory.command("show")
@click.argument("name", metavar=ID_METAVAR)
@click.option("--text", "only_text", is_flag=True, help="Only the text.")
@json_option
@pass_app
def show_memo(app: App, name: str, only_text: bool, as_json: bool) -> None:
    """Show a memo: its facts, metadata and relations, and its text."""
    memo = read_memo(app, find_memo_id(app, name))
    if only_text:
        print_text(memo["content"])
        return
    edges, nodes, has_more = _list_relations(app, memo["memo_id"])
    if as_json:
        print_json({**memo, "relations": edges})
        return
    print_line(format_memo(memo, [format_relation(edge, memo["memo_id"], nodes) for edge in edges]))
    if has_more:
        print_note(f"There are more than {_RELATIONS} relations of one direction; `tokonoma call` lists all of them.")


def _list_relations(app: App, memo_id: str) -> tuple[list[JsonObject], dict[str, JsonObject], bool]:
    edges: list[JsonObject] = []
    nodes: dict[str, JsonObject] = {}
    has_more = False
    for end in ("sourceMemoId", "targetMemoId"):
        params = {end: memo_id, "namespace": "/", "limit": _RELATIONS}
        page = call_tool(app, MODULE_NAME, "relation.list", **params)
        edges += page["edges"]
        nodes |= {each["memo_id"]: each for each in page["nodes"]}
        has_more = has_more or page["has_more"]
    return edges, nodes, has_more


@memory.command("tree")
@click.argument("namespace", default="/")
@click.option("--depth", type=click.IntRange(1), help="Levels to show.")
@json_option
@pass_app
def draw_namespaces(app: App, namespace: str, depth: int | None, as_json: bool) -> None:
    """Draw the namespaces as a tree, with the number of memos in each."""
    items = [item for page in _list_pages(app, "namespaces", _PAGE) for item in page["items"]]
    root = "/" + namespace.strip("/")
    inside = [each for each in items if root == "/" or f"{each['namespace']}/".startswith(f"{root}/")]
    if not inside and root != "/":
        raise Missing(f"There is no memo in {root}. `tokonoma memory tree` shows the namespaces that have memos.")
    if as_json:
        print_json({"items": inside})
        return
    for line in draw_tree({each["namespace"]: each["memos"] for each in inside}, root, depth):
        print_line(escape_line(line))


@memory.command("save")
@click.argument("text", required=False, metavar="[TEXT|-]")
@click.option("--title")
@click.option("--namespace", help="Where, such as /notes/tea.")
@click.option("--thread", help="The conversation or document that it belongs to.")
@click.option("--metadata", multiple=True, metavar="KEY=VALUE", help="Can be repeated.")
@click.option("--expires-at", metavar="TIME", help="When it expires, such as 2027-01-31.")
@click.option("--json", "as_json", is_flag=True, help="The new memo as JSON.")
@pass_app
def save_memo(app: App, text: str | None, metadata: tuple[str, ...], as_json: bool, **fields: Any) -> None:
    """Save TEXT as a new memo and print its id; without TEXT, or with `-`, standard input."""
    if text is None and sys.stdin.isatty():
        raise click.UsageError("Write the text as an argument, or send it to standard input.")
    content = read_text("-").removesuffix("\n") if text in (None, "-") else text
    saved = call_tool(
        app, MODULE_NAME, "save", content=content, metadata=parse_metadata(metadata) if metadata else None, **fields
    )
    if as_json:
        print_json(saved)
    else:
        print_line(saved["memo_id"])


def parse_metadata(pairs: Sequence[str]) -> JsonObject:
    """`KEY=VALUE`: numbers, true, false and JSON as such, everything else as text."""
    parsed: JsonObject = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise click.BadParameter(f"{pair!r} is not KEY=VALUE, such as source=mail.", param_hint="--metadata")
        try:
            parsed[key] = json.loads(value)
        except ValueError:
            parsed[key] = value
    return parsed


@memory.command("delete")
@click.argument("names", metavar=f"{ID_METAVAR}…", nargs=-1, required=True)
@pass_app
def delete_memos(app: App, names: tuple[str, ...]) -> None:
    """Move memos to the trash. `memory restore` brings them back."""
    for memo_id in [find_memo_id(app, name) for name in names]:  # all of them exist, or none is deleted
        call_tool(app, MODULE_NAME, "delete", memo_id=memo_id)
        print_note(f"{memo_id} is in the trash; `tokonoma memory restore {memo_id}` brings it back.")


for each in (search_memos, edit_memo, show_history, restore_memo, move_memos, merge_memos):
    memory.add_command(each)
