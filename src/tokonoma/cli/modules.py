"""`modules` and `schema`: what there is to call, from the catalogue alone. No database is opened."""

import click

from tokonoma.catalogue.registry import to_mcp_tool
from tokonoma.cli import show
from tokonoma.cli.flags import command
from tokonoma.cli.session import open_app
from tokonoma.core.call import OWNER
from tokonoma.core.errors import Missing, find_nearest
from tokonoma.core.module import ModuleInfo, ToolInfo


@command("modules")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def modules(ctx: click.Context, as_json: bool) -> None:
    """List the modules: what each is for and how many tools it has."""
    with open_app(ctx) as app:
        shelves = app.registry.visible_modules(OWNER)
    if as_json:
        show.print_json([{"name": each.name, "summary": each.summary, "tools": _tool_names(each)} for each in shelves])
        return
    show.print_table(
        ("MODULE", "TOOLS", "SUMMARY"), [(each.name, str(len(each.entries)), each.summary) for each in shelves]
    )


@command("schema")
@click.argument("module")
@click.argument("tool", required=False)
@click.option("--json", "as_json", is_flag=True, help="As JSON Schema, in the shape of MCP's tools/list.")
@click.pass_context
def schema(ctx: click.Context, module: str, tool: str | None, as_json: bool) -> None:
    """Show what the tools of a MODULE take and give, or one TOOL alone."""
    with open_app(ctx) as app:
        if tool is None:
            entries = _require_module(app.registry.visible_modules(OWNER), module).entries
        else:
            entries = [app.registry.find_tool(module, tool, OWNER)]
    if as_json:
        show.print_json([to_mcp_tool(entry) for entry in entries])
        return
    click.echo("\n\n".join(_format_tool(entry) for entry in entries))


def _require_module(shelves: list[ModuleInfo], name: str) -> ModuleInfo:
    found = next((each for each in shelves if each.name == name), None)
    if found is None:
        known = [each.name for each in shelves]
        meant = find_nearest(name, known)
        hint = f"Did you mean {meant[0]!r}?" if meant else f"There are: {', '.join(known)}."
        raise Missing(f"There is no module called {name!r}. {hint}", reason="module", nearest=meant)
    return found


def _tool_names(shelf: ModuleInfo) -> list[str]:
    return [entry.name for entry in shelf.entries]


def _format_tool(entry: ToolInfo) -> str:
    marks = [entry.effect, *(["talks to another service"] if entry.outside else [])]
    return f"{entry.signature}\n  [{', '.join(marks)}; listed as {entry.listed}]"
