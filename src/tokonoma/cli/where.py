"""`where` and `config`: the settings, and where data is stored. No database is opened or created."""

import click
import orjson

from tokonoma.app import App
from tokonoma.app.places import find_places, show_value
from tokonoma.cli.command import command, group, json_option, pass_app
from tokonoma.cli.output import print_json, print_line, print_note, print_table
from tokonoma.config.settings import SETTINGS


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
    values = {setting.name: show_value(app, setting) for setting in SETTINGS}
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


@config.command("path")
@pass_app
def path(app: App) -> None:
    """Print the path of tokonoma.toml, whether it exists or not."""
    file = app.home / "tokonoma.toml"
    print_line(str(file))
    if not file.exists():
        print_note("It does not exist yet. Write one line per setting, such as `port = 9000`.")
