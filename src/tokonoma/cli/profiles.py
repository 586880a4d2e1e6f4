"""`profiles`: reaches with a name, to be used for several keys, people and clients."""

import click

from tokonoma.app import App
from tokonoma.app.reaches import parse_reach
from tokonoma.auth.profiles import StoredProfile, find_profile, list_profiles, remove_profile, save_profile
from tokonoma.cli.command import group, json_option, pass_app
from tokonoma.cli.output import print_json, print_note
from tokonoma.cli.reach_options import changed_reach_options, check_name, print_reaches
from tokonoma.core.errors import Missing
from tokonoma.core.reach import UNLIMITED


@group("profiles")
def profiles() -> None:
    """List, set and remove profiles: what a key or a client may use, under a name.

    `--profile NAME` of other commands copies it: a later change of the profile changes no key.
    """


@profiles.command("list", settings=("database_url",))
@json_option
@pass_app
def list_all(app: App, as_json: bool) -> None:
    """List the profiles."""
    with app.database.reading() as rows:
        found = list_profiles(rows)
    if as_json:
        print_json([each.to_response() for each in found])
    elif not found:
        print_note("There are no profiles. Make one with `tokonoma profiles set NAME`.")
    else:
        _print_profiles(found)


@profiles.command("set", settings=("database_url",))
@click.argument("name")
@changed_reach_options
@pass_app
def set_profile(app: App, name: str, **options: str | None) -> None:
    """Create or change the profile called NAME. Omitted options stay as they are; a new one allows everything else."""
    check_name(name)
    with app.database.reading() as rows:
        try:
            old = find_profile(rows, name).reach
        except Missing:
            old = UNLIMITED
    reach = parse_reach(app, old, **options)
    with app.write_as_owner("profiles.set") as statements:
        save_profile(statements, name, reach)
        saved = find_profile(statements, name)
    _print_profiles([saved])


@profiles.command("remove", settings=("database_url",))
@click.argument("name")
@pass_app
def remove(app: App, name: str) -> None:
    """Remove the profile called NAME. What was made with it stays as it is."""
    with app.write_as_owner("profiles.remove") as statements:
        remove_profile(statements, name)
    print_note(f"Removed the profile {name!r}.")


def _print_profiles(found: list[StoredProfile]) -> None:
    print_reaches([each.to_response() for each in found], ("name",))
