"""`where` and `config`: the settings, and where data is stored. No database is opened or created."""

from pathlib import Path

import click
import orjson

from tokonoma.app import App
from tokonoma.cli.command import command, group, json_option, pass_app
from tokonoma.cli.output import print_json, print_line, print_note, print_table
from tokonoma.config.settings import SETTINGS, Setting
from tokonoma.core.errors import Missing
from tokonoma.core.urls import hide_credentials
from tokonoma.store.database import parse_sqlite_url


@command("where", "database_url")
@json_option
@pass_app
def where(app: App, as_json: bool) -> None:
    """Show where data is stored: home, settings, database, backups, files."""
    places = find_places(app)
    if as_json:
        print_json(places)
        return
    for name, place in places.items():
        print_line(f"{name:<10} {place}")


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
    """The address of a database without user, password and parameters."""
    if url.partition(":")[0].lower() == "sqlite":
        return str(parse_sqlite_url(url))
    return hide_credentials(url)


def find_sqlite_file(app: App) -> Path | None:
    """The file of the database if it is SQLite."""
    url = app.database_url()
    return parse_sqlite_url(url) if url.partition(":")[0].lower() == "sqlite" else None


def database_exists(app: App) -> bool:
    """Whether there is a database; a PostgreSQL server is assumed to have one."""
    file = find_sqlite_file(app)
    return file is None or file.exists()


def require_database(app: App, purpose: str) -> None:
    if not database_exists(app):
        place = redact_database_url(app.database_url())
        raise Missing(f"There is nothing to {purpose}: {place} does not exist yet.")


@group("config")
def config() -> None:
    """Show the settings and where each comes from.

    A flag overrides the environment (TOKONOMA_…), which overrides tokonoma.toml, which overrides the default.
    """


@config.command("show", settings=tuple(setting.name for setting in SETTINGS))
@click.option("--origin", is_flag=True, help="Show where each value comes from and what it means.")
@json_option
@pass_app
def show_settings(app: App, origin: bool, as_json: bool) -> None:
    """Show the settings in force, without passwords."""
    values = {setting.name: _public_value(app, setting) for setting in SETTINGS}
    origins = app.settings.origins
    if as_json:
        with_origins = {name: {"value": value, "origin": origins[name]} for name, value in values.items()}
        print_json(with_origins if origin else values)
        return
    texts = {name: orjson.dumps(value).decode() for name, value in values.items()}  # as in tokonoma.toml
    if origin:
        rows = [(each.name, texts[each.name], origins[each.name], each.description) for each in SETTINGS]
        print_table(("SETTING", "VALUE", "FROM", "MEANING"), rows)
    else:
        print_table(("SETTING", "VALUE"), list(texts.items()))


def _public_value(app: App, setting: Setting) -> object:
    value = app.settings.values[setting.name]
    if setting.name == "database_url" and value:
        return redact_database_url(str(value))
    if setting.secret and value:
        return "(set)"
    if setting.name == "embed_url" and isinstance(value, tuple):
        return [hide_credentials(each) for each in value]
    return list(value) if isinstance(value, tuple) else value


@config.command("path")
@pass_app
def path(app: App) -> None:
    """Print the path of tokonoma.toml, whether it exists or not."""
    file = app.home / "tokonoma.toml"
    print_line(str(file))
    if not file.exists():
        print_note("It does not exist yet. Write one line per setting, such as `port = 9000`.")
