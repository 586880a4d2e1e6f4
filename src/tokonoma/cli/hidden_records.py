"""`policy records` and `forget`: what the policy hides can still be listed and removed by the owner, unread."""

from dataclasses import asdict
from typing import cast

import click

from tokonoma.app import App
from tokonoma.cli.call import call_owner_tool
from tokonoma.cli.command import command, json_option, pass_app
from tokonoma.cli.output import confirm, print_json, print_line, print_note, print_table
from tokonoma.core.clock import format_time
from tokonoma.core.desk import CLASSIFICATIONS, Classification, parse_address
from tokonoma.core.errors import Invalid
from tokonoma.core.printable import pluralize
from tokonoma.policy.hidden import list_by_class


@command("records", "database_url")
@click.option("--class", "classification", type=click.Choice(CLASSIFICATIONS), default="secret", show_default=True)
@json_option
@pass_app
def records(app: App, classification: str, as_json: bool) -> None:
    """List the records of a class: address, time and what was detected, without title and text."""
    modules, policy = app.registry.load_all(), app.policies.get_active()
    with app.policies.reading() as rows:
        found = list(list_by_class(rows, cast("Classification", classification), modules, policy))
    if as_json:
        print_json({"items": [{**asdict(each), "at": format_time(each.at) if each.at else None} for each in found]})
        return
    cells = [
        (
            each.address,
            format_time(each.at) if each.at else "-",
            each.kinds or "-",
            "" if each.indexed else "not indexed",
        )
        for each in found
    ]
    if cells:
        print_table(("ADDRESS", "TIME", "FOUND", ""), cells)
    print_note(f"{pluralize(len(found), 'record')} of the class {classification}.")


@command("forget", "database_url")
@click.argument("addresses", nargs=-1, required=True, metavar="ADDRESS…")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@pass_app
def forget(app: App, addresses: tuple[str, ...], yes: bool) -> None:
    """Delete records by their addresses, whatever their class. They are not shown. `tokonoma purge` then removes them
    permanently."""
    wanted = [(address, parse_address(address)[0]) for address in addresses]
    for address, name in wanted:
        _check_forgettable(app, address, name)
    if not yes:
        what = pluralize(len(wanted), "record")
        confirm(f"Delete {what}?", f"This deletes {what}.")
    for address, name in wanted:
        call_owner_tool(app, name, "forget", {"address": address})
        print_line(f"Deleted: {address}")


def _check_forgettable(app: App, address: str, name: str) -> None:
    module = app.registry.find_module(name)
    if module is not None and any(tool.name == "forget" for tool in module.owner_tools):
        return
    folder = app.server_info.locations().get({"manual": "manuals"}.get(name, name))
    advice = f"It is a part of a file: delete that in {folder}. " if folder else ""
    raise Invalid(f"{address}: records of {name!r} cannot be forgotten here. {advice}Nothing was deleted.")
