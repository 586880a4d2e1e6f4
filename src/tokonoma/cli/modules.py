"""`modules`, `schema` and `plugins`: what can be called, from the catalogue alone. No database is opened."""

from typing import Any

import click

from tokonoma.app import App
from tokonoma.app.reaches import choose_module
from tokonoma.catalogue.plugins import read_plugins
from tokonoma.catalogue.plugins.enable import disable_plugin, enable_plugin, find_problem, list_offers
from tokonoma.catalogue.registry import to_mcp_tool
from tokonoma.cli.command import command, group, json_option, pass_app
from tokonoma.cli.output import print_json, print_line, print_note, print_table
from tokonoma.core.call import OWNER
from tokonoma.core.module import ModuleInfo, ToolInfo


@command("modules")
@json_option
@pass_app
def modules(app: App, as_json: bool) -> None:
    """List the modules with their purpose and number of tools."""
    infos = app.registry.visible_modules(OWNER)
    if as_json:
        tools = {info.name: [tool.name for tool in info.entries] for info in infos}
        print_json([{"name": each.name, "summary": each.summary, "tools": tools[each.name]} for each in infos])
        return
    print_table(("MODULE", "TOOLS", "SUMMARY"), [(each.name, str(len(each.entries)), each.summary) for each in infos])


@command("schema")
@click.argument("module")
@click.argument("tool", required=False)
@click.option("--json", "as_json", is_flag=True, help="As JSON Schema, like tools/list of MCP.")
@pass_app
def schema(app: App, module: str, tool: str | None, as_json: bool) -> None:
    """Show the parameters and results of the tools of a MODULE, or of one TOOL."""
    tools = [app.registry.find_tool(module, tool, OWNER)] if tool is not None else require_module(app, module).entries
    if as_json:
        print_json([to_mcp_tool(each) for each in tools])
        return
    print_line("\n\n".join(_format_tool(each) for each in tools))


def require_module(app: App, name: str) -> ModuleInfo:
    return choose_module({each.name: each for each in app.registry.visible_modules(OWNER)}, name)


def _format_tool(tool: ToolInfo) -> str:
    facts = [tool.effect]
    facts += ["keeps a log"] if tool.keeps_log else []
    facts += ["calls another service"] if tool.outside else []
    return f"{tool.signature}\n  [{', '.join(facts)}; listed as {tool.listed}]"


@group("plugins")
def plugins() -> None:
    """List, enable and disable modules of other installed packages.

    Install a package with pip into the same environment. None of its code runs before it is enabled.
    """


@plugins.command("list")
@json_option
@pass_app
def list_plugins(app: App, as_json: bool) -> None:
    """List the modules of installed packages and their state: available, enabled, or a problem."""
    states = _describe_plugins(app)
    if as_json:
        print_json(states)
    elif not states:
        print_note("No installed package has a module, and none is enabled.")
    else:
        print_table(("MODULE", "PACKAGE", "VERSION", "STATE"), [tuple(each.values()) for each in states])


@plugins.command("enable")
@click.argument("name")
@pass_app
def enable(app: App, name: str) -> None:
    """Check and enable the module NAME. Run this again after an update of its package."""
    tools = ", ".join(tool.name for tool in enable_plugin(app.home, name).entries)
    print_note(f"Enabled {name!r}: {tools}. Running servers see it within a second.")


@plugins.command("disable")
@click.argument("name")
@pass_app
def disable(app: App, name: str) -> None:
    """Disable the module NAME. Its data is kept."""
    disable_plugin(app.home, name)
    print_note(f"Disabled {name!r}. Its data is kept.")


def _describe_plugins(app: App) -> list[dict[str, Any]]:
    offers = list_offers()
    problems = {info.name: find_problem(info, offers) for info in read_plugins(app.home)}
    states: list[dict[str, Any]] = []
    for offer in offers:
        problem, remedy = problems.pop(offer.name, ("available", ""))
        state = f"{problem}. {remedy}" if remedy else problem or "enabled"
        states.append({"name": offer.name, "package": offer.package, "version": offer.version, "state": state})
    for name, (problem, remedy) in problems.items():
        states.append({"name": name, "package": "-", "version": "-", "state": f"{problem}. {remedy}"})
    return states
