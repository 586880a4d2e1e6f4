"""`memory history`, `restore`, `move` and `merge`: what changed a memo, and how to undo it."""

from collections.abc import Mapping
from typing import Any

import click

from tokonoma.app import App
from tokonoma.cli.call import call_tool, read_text
from tokonoma.cli.command import command, json_option, pass_app
from tokonoma.cli.memory.lookup import ID_METAVAR, MODULE_NAME, JsonObject, find_memo_id
from tokonoma.cli.memory.text import colour_diff, format_name, format_time
from tokonoma.cli.output import print_json, print_line, print_note, print_parts, print_table, print_text
from tokonoma.core.errors import Missing
from tokonoma.core.printable import pluralize

_PAGE = 100
version_option = click.option("--version", type=click.IntRange(1), metavar="N", help="An earlier version.")


@command("history", "database_url")
@click.argument("name", metavar=ID_METAVAR)
@click.option("--diff", is_flag=True, help="What each version changed.")
@version_option
@click.option("--limit", type=click.IntRange(1, _PAGE), default=20, show_default=True, help="Number of versions.")
@json_option
@pass_app
def show_history(app: App, name: str, diff: bool, version: int | None, limit: int, as_json: bool) -> None:
    """List the versions of a memo, newest first; with --version, print the text of one."""
    memo_id = _find_any_memo(app, name)
    told = call_tool(app, MODULE_NAME, "history", memo_id=memo_id, version=version, diff=diff, limit=limit)
    if as_json:
        print_json(told)
    elif diff:
        for item in told["items"]:
            _print_diff(item)
    elif version is not None:
        print_text(_read_version(app, memo_id, told["items"][0]))
    else:
        rows = [
            (str(each["version"]), format_time(each["at"]), each.get("author", ""), each.get("change", ""),
             each.get("namespace", ""), format_name(each))
            for each in told["items"]
        ]  # fmt: skip
        print_table(("VERSION", "AT (UTC)", "BY", "CHANGE", "NAMESPACE", "MEMO"), rows)
    if told["has_more"] and not as_json:
        print_note(f"There are more than {limit} versions; --limit shows up to {_PAGE}.")


def _find_any_memo(app: App, name: str) -> str:
    """Also one in the trash: its history leads back."""
    try:
        return find_memo_id(app, name)
    except Missing:
        return find_memo_id(app, name, gone=True)


def _print_diff(item: Mapping[str, Any]) -> None:
    who = "  ".join(item[key] for key in ("author", "change") if key in item)
    print_parts([(f"version {item['version']}", "yellow"), (f"  {format_time(item['at'])}  {who}", "")])
    for line in item.get("diff", "").split("\n") if item.get("diff") else ():
        print_parts([("  ", ""), *colour_diff(line)])


def _read_version(app: App, memo_id: str, item: JsonObject) -> str:
    pieces = [item["content"]]
    while item.get("content_truncated"):
        params = {"memo_id": memo_id, "version": item["version"], "offset": sum(map(len, pieces))}
        item = call_tool(app, MODULE_NAME, "history", **params)["items"][0]
        pieces.append(item["content"])
    return "".join(pieces)


@command("restore", "database_url")
@click.argument("name", metavar=ID_METAVAR)
@version_option
@pass_app
def restore_memo(app: App, name: str, version: int | None) -> None:
    """Bring a memo back from the trash; with --version, make an earlier version the present one."""
    memo_id = find_memo_id(app, name, gone=True) if version is None else _find_any_memo(app, name)
    restored = call_tool(app, MODULE_NAME, "restore", memo_id=memo_id, version=version)
    source = "" if version is None else f", with the text of version {version}"
    print_note(f"{memo_id} is at version {restored['version']}{source}.")


@command("move", "database_url")
@click.argument("names", metavar=f"{ID_METAVAR}…", nargs=-1, required=True)
@click.argument("namespace")
@json_option
@pass_app
def move_memos(app: App, names: tuple[str, ...], namespace: str, as_json: bool) -> None:
    """Move memos into NAMESPACE, with their history and relations: all or none."""
    memo_ids = [find_memo_id(app, name) for name in names]
    moved = call_tool(app, MODULE_NAME, "move", memo_ids=memo_ids, to=namespace)
    if as_json:
        print_json(moved)
        return
    for each in moved["items"]:
        print_line(f"{each['memo_id']} is in {each['namespace']}, at version {each['version']}.")
    relations = moved["relations"]["moved"]
    for each in relations:
        print_note(f"  {each['sourceMemoId']} {each['tag']} {each['targetMemoId']} is now in {each['namespace']}.")
    if relations:
        print_note(f"{pluralize(len(relations), 'relation')} went to a namespace that contains both memos.")


@command("merge", "database_url")
@click.argument("keep", metavar="KEEP")
@click.argument("names", metavar=f"{ID_METAVAR}…", nargs=-1, required=True)
@click.option("--content", metavar="TEXT|-", help="The text of the merged memo; by default that of KEEP.")
@click.option("--join", is_flag=True, help="Append the other texts to that of KEEP.")
@json_option
@pass_app
def merge_memos(app: App, keep: str, names: tuple[str, ...], content: str | None, join: bool, as_json: bool) -> None:
    """Merge memos into KEEP: metadata and relations come together, the others go to the trash."""
    kept, others = find_memo_id(app, keep), [find_memo_id(app, name) for name in names]
    text = read_text("-").removesuffix("\n") if content == "-" else content
    params = {"keep": kept, "merge": others, "content": text, "join": join or None}
    merged = call_tool(app, MODULE_NAME, "merge", **params)
    if as_json:
        print_json(merged)
        return
    print_line(f"{kept} is at version {merged['version']}; {pluralize(len(merged['merged']), 'memo')} merged into it.")
    for each in merged.get("conflicts", ()):
        print_note(f"  {each['key']} of {each['memo_id']} differs; the value of the kept memo stays.")
    print_note("`tokonoma memory restore` brings a merged memo back.")
