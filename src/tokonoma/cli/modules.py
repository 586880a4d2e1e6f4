"""`modules` and `schema`: what there is to call, from the catalogue alone. No database is opened."""

import click

from tokonoma.catalogue.registry import listing
from tokonoma.cli import show
from tokonoma.cli.flags import command
from tokonoma.cli.session import entered
from tokonoma.core.call import OWNER
from tokonoma.core.errors import Missing
from tokonoma.core.module import Entry, Shelf
from tokonoma.core.suggestions import nearest


@command("modules")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def modules(ctx: click.Context, as_json: bool) -> None:
    """List the modules: what each is for and how many tools it has."""
    with entered(ctx) as app:
        shelves = app.registry.shelves(OWNER)
    if as_json:
        show.value([{"name": each.name, "summary": each.summary, "tools": _names(each)} for each in shelves])
        return
    show.table(("MODULE", "TOOLS", "SUMMARY"), [(each.name, str(len(each.entries)), each.summary) for each in shelves])


@command("schema")
@click.argument("module")
@click.argument("tool", required=False)
@click.option("--json", "as_json", is_flag=True, help="As JSON Schema, in the shape of MCP's tools/list.")
@click.pass_context
def schema(ctx: click.Context, module: str, tool: str | None, as_json: bool) -> None:
    """Show what the tools of a MODULE take and give, or one TOOL alone."""
    with entered(ctx) as app:
        if tool is None:
            entries = _shelf(app.registry.shelves(OWNER), module).entries
        else:
            entries = [app.registry.find(module, tool, OWNER)]
    if as_json:
        show.value([listing(entry) for entry in entries])
        return
    click.echo("\n\n".join(_told(entry) for entry in entries))


def _shelf(shelves: list[Shelf], name: str) -> Shelf:
    found = next((each for each in shelves if each.name == name), None)
    if found is None:
        known = [each.name for each in shelves]
        meant = nearest(name, known)
        hint = f"Did you mean {meant[0]!r}?" if meant else f"There are: {', '.join(known)}."
        raise Missing(f"There is no module called {name!r}. {hint}", reason="module", nearest=meant)
    return found


def _names(shelf: Shelf) -> list[str]:
    return [entry.name for entry in shelf.entries]


def _told(entry: Entry) -> str:
    marks = [entry.effect, *(["talks to another service"] if entry.outside else [])]
    return f"{entry.signature}\n  [{', '.join(marks)}; listed as {entry.listed}]"
