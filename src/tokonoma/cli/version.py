"""`version`: which program this is, which tables it knows and has, and whether there is a newer one."""

import platform

import click

from tokonoma import __version__
from tokonoma.app import App
from tokonoma.app.schema import count_applied_migrations, count_known_migrations
from tokonoma.cli.command import command, json_option, pass_app
from tokonoma.cli.installation import find_current_installation, is_newer, look_up_newest, read_package
from tokonoma.cli.output import print_json, print_line, print_note
from tokonoma.core.errors import Refusal, Unavailable


@command("version", "database_url")
@click.option("--check", is_flag=True, help="Ask the package index for the newest version.")
@json_option
@pass_app
def version(app: App, check: bool, as_json: bool) -> None:
    """Show the version of the program and of its tables, and how it was installed.

    Only `--check` uses the network. It asks through pip or uv, with their settings; without an answer the exit code is
    still 0.
    """
    package = read_package()
    installation = find_current_installation()
    found: dict[str, str | int | None] = {
        "version": __version__,
        "python": platform.python_version(),
        "installed": installation.kind,
        "place": str(installation.place),
        "schema": count_known_migrations(app.home),
        "database_schema": _read_database_schema(app),
    }
    problem = ""
    if check:
        try:
            found["newest"] = look_up_newest(package)
        except Unavailable as error:
            found["newest"], problem = None, error.message
    if as_json:
        print_json(found | ({"problem": problem} if problem else {}))
        return
    print_line(f"tokonoma {__version__}")
    print_line(f"python     {found['python']}")
    print_line(f"installed  {installation.kind}, in {installation.place}")
    print_line(f"tables     version {found['schema']}; the database: {_describe_schema(found['database_schema'])}")
    if check:
        _print_newest(str(found["newest"] or ""), problem)


def _read_database_schema(app: App) -> int | str | None:
    try:
        return count_applied_migrations(app)
    except Refusal:
        return "?"  # `doctor` says why: this command also helps while the database is away


def _describe_schema(stored: int | str | None) -> str:
    if stored is None:
        return "none yet"
    return (
        "cannot be read; see `tokonoma doctor`" if stored == "?" else f"{stored} (a module adds its own at first use)"
    )


def _print_newest(newest: str, problem: str) -> None:
    if problem:
        print_note(f"The newest version is not known. {problem}")
    elif is_newer(newest, __version__):
        print_line(f"newest     {newest}; `tokonoma upgrade` installs it")
    else:
        print_line(f"newest     {newest}; this is up to date")
