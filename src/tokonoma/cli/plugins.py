"""`plugins`: modules of other packages, which pip brings and their owner enables."""

from typing import Any

import click

from tokonoma.catalogue.plugins import read_plugins
from tokonoma.catalogue.plugins.enable import PluginOffer, find_problem, list_offers
from tokonoma.catalogue.plugins.enable import disable_plugin as forget
from tokonoma.catalogue.plugins.enable import enable_plugin as keep
from tokonoma.cli import show
from tokonoma.cli.flags import group
from tokonoma.cli.session import open_app
from tokonoma.core.module import ModuleInfo


@group("plugins")
def plugins() -> None:
    """List, enable and disable modules that other installed packages bring.

    A package becomes visible by `pip install` into the same environment; nothing of it runs before it is enabled.
    """


@plugins.command("list")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def list_plugins(ctx: click.Context, as_json: bool) -> None:
    """List the modules of installed packages, and the state of each: available, enabled, or what is wrong."""
    with open_app(ctx) as app:
        found = _describe_plugins(read_plugins(app.home), list_offers())
    if as_json:
        show.print_json(found)
        return
    if not found:
        show.print_note("No installed package offers a module, and none is enabled.")
        return
    show.print_table(
        ("MODULE", "PACKAGE", "VERSION", "STATE"),
        [(each["name"], each["package"], each["version"], each["state"]) for each in found],
    )


@plugins.command("enable")
@click.argument("name")
@click.pass_context
def enable(ctx: click.Context, name: str) -> None:
    """Check the module NAME and make it part of the house. Run it again after its package was updated."""
    with open_app(ctx) as app:
        shelf = keep(app.home, name)
    tools = ", ".join(entry.name for entry in shelf.entries)
    show.print_note(f"Enabled {name!r}: {tools}. Servers that already run see it after a restart.")


@plugins.command("disable")
@click.argument("name")
@click.pass_context
def disable(ctx: click.Context, name: str) -> None:
    """Take the module NAME out of the house. What it has stored stays."""
    with open_app(ctx) as app:
        forget(app.home, name)
    show.print_note(f"Disabled {name!r}. What it has stored stays; enabling it again brings it back.")


def _describe_plugins(enabled: list[ModuleInfo], offered: list[PluginOffer]) -> list[dict[str, Any]]:
    states = {shelf.name: find_problem(shelf, offered) for shelf in enabled}
    found: list[dict[str, Any]] = []
    for offer in offered:
        what, remedy = states.pop(offer.name, ("available", ""))
        state = f"{what}. {remedy}" if remedy else what or "enabled"
        found.append({"name": offer.name, "package": offer.package, "version": offer.version, "state": state})
    for name, (what, remedy) in states.items():
        found.append({"name": name, "package": "-", "version": "-", "state": f"{what}. {remedy}"})
    return found
