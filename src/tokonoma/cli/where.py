"""`where` and `config`: what is set, and where things lie. No database is opened, and none is made."""

from urllib.parse import parse_qs, urlsplit

import click
import orjson

from tokonoma.app import App
from tokonoma.cli import show
from tokonoma.cli.flags import command, group
from tokonoma.cli.session import open_app
from tokonoma.config.settings import SETTINGS, Setting
from tokonoma.store.database import parse_sqlite_url


@command("where", "database_url")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def where(ctx: click.Context, as_json: bool) -> None:
    """Show where things lie: home, settings, database, backups, files."""
    with open_app(ctx) as app:
        found = find_places(app)
    if as_json:
        show.print_json(found)
        return
    for name, place in found.items():
        click.echo(f"{name:<10} {place}")


@group("config")
def config() -> None:
    """Show the settings and where each comes from.

    A flag comes before the environment (TOKONOMA_…), which comes before tokonoma.toml, which comes before the default.
    """


@config.command("show", settings=tuple(setting.name for setting in SETTINGS))
@click.option("--origin", is_flag=True, help="Where each value comes from, and what it means.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def show_settings(ctx: click.Context, origin: bool, as_json: bool) -> None:
    """Show every setting in force. Passwords are left out."""
    with open_app(ctx) as app:
        found = {setting.name: _public_value(app, setting) for setting in SETTINGS}
        origins = app.settings.origins
    if as_json:
        told = {name: {"value": value, "origin": origins[name]} for name, value in found.items()} if origin else found
        show.print_json(told)
    elif origin:
        rows = [(each.name, _format_value(found[each.name]), origins[each.name], each.description) for each in SETTINGS]
        show.print_table(("SETTING", "VALUE", "FROM", "MEANING"), rows)
    else:
        show.print_table(("SETTING", "VALUE"), [(name, _format_value(value)) for name, value in found.items()])


@config.command("path")
@click.pass_context
def path(ctx: click.Context) -> None:
    """Print the path of tokonoma.toml, whether it exists or not."""
    with open_app(ctx) as app:
        file = app.home / "tokonoma.toml"
    click.echo(str(file))
    if not file.exists():
        show.print_note("It does not exist yet: every setting is a line like `port = 9000` in it.")


def _public_value(app: App, setting: Setting) -> object:
    value = app.settings.values[setting.name]
    if setting.secret and value:
        return redact_database_url(str(value)) if setting.name == "database_url" else "(set)"
    return list(value) if isinstance(value, tuple) else value


def _format_value(value: object) -> str:
    """As it would stand in tokonoma.toml."""
    return orjson.dumps(value).decode()


def find_places(app: App) -> dict[str, str]:
    text, home = app.settings.get_text, app.home
    workspace = text("workspace") or str(home / "workspace")
    return {
        "home": str(home),
        "settings": str(home / "tokonoma.toml"),
        "database": redact_database_url(app.database_url()),
        "backups": str(home / "backups"),
        "plugins": str(home / "plugins.json"),
        "workspace": workspace,
        "manuals": text("manuals_root") or f"{workspace}/manuals",
        "vault": text("vault_root") or f"{workspace}/vault",
    }


def redact_database_url(url: str) -> str:
    """A database as people may see it: no user, no password, no parameters."""
    if url.partition(":")[0].lower() == "sqlite":
        return str(parse_sqlite_url(url))
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2] or (parse_qs(parts.query).get("host") or ["localhost"])[0]
    return f"{parts.scheme}://{host}{parts.path}"
