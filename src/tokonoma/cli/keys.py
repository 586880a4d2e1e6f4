"""`keys`: the credentials of HTTP callers."""

from collections.abc import Mapping, Sequence
from typing import Any

import click

from tokonoma.app import App
from tokonoma.app.reaches import SYNC_TOOLS, parse_reach
from tokonoma.auth import api_keys
from tokonoma.cli.command import group, json_option, pass_app
from tokonoma.cli.output import confirm, print_json, print_line, print_note, stands_at_terminal
from tokonoma.cli.reach_options import (
    changed_reach_options,
    check_name,
    new_reach_options,
    print_reaches,
)
from tokonoma.core import clock
from tokonoma.core.errors import Invalid
from tokonoma.core.reach import Reach

_NO_KEY_LEFT = "Then create one with `tokonoma keys create NAME`, or go back to no keys with `tokonoma keys open`."


@group("keys")
def keys() -> None:
    """Create, list, change and revoke API keys for HTTP.

    stdio needs no key. From the first key on, every HTTP caller needs one, even after all keys are revoked, until
    `keys open`.
    """


@keys.command("create", settings=("database_url",))
@click.argument("name")
@new_reach_options
@click.option("--expires", help="When it expires: 90d, 12h, 30m, 4w, or a date like 2027-01-31. Default: never.")
@click.option("--sync", is_flag=True, help="Another home may sync with it: it reads and writes everything.")
@json_option
@pass_app
def create(app: App, name: str, expires: str | None, sync: bool, as_json: bool, **options: str | None) -> None:
    """Create a key called NAME and print it. It cannot be shown again."""
    check_name(name)
    ends = None if expires is None else parse_expiry(expires)
    reach = parse_reach(app, Reach(extras=SYNC_TOOLS if sync else frozenset()), **options)
    if sync and (reach.root != "/" or reach.is_limited or options["profile"] is not None):
        raise Invalid("A key for a sync sees everything: omit --root, --modules, --mask and --profile.", field="sync")
    with app.write_as_owner("keys.create") as statements:
        first = not api_keys.is_key_required(statements)
        key = api_keys.create_key(statements, name, reach, ends)
    until = "never" if ends is None else clock.format_time(ends)
    if as_json:
        print_json({"name": name, "key": key, "expires_at": None if ends is None else until})
    else:
        print_line(key)
    print_note(f"Save it now; only its hash is stored. Send it as `Authorization: Bearer …`. It expires: {until}.")
    if first:
        print_note("From now on every HTTP caller needs a key, even after this one is revoked. stdio needs none.")


@keys.command("list", settings=("database_url",))
@json_option
@pass_app
def list_keys(app: App, as_json: bool) -> None:
    """List the keys, newest first. The keys themselves cannot be shown again."""
    with app.database.reading() as rows:
        found = [each.to_response() for each in api_keys.list_keys(rows)]
    if as_json:
        print_json(found)
    elif not found:
        print_note("There are no keys. Create one with `tokonoma keys create NAME`.")
    else:
        _print_keys(found)


def _print_keys(keys: Sequence[Mapping[str, Any]]) -> None:
    print_reaches(keys, ("name", "id", "state"), ("expires_at",))


@keys.command("set", settings=("database_url",))
@click.argument("name")
@changed_reach_options
@click.option("--expires", help="When it expires: 90d, 12h, 30m, 4w, a date like 2027-01-31, or `never`.")
@pass_app
def set_reach(app: App, name: str, expires: str | None, **options: str | None) -> None:
    """Change what the key with this NAME or id can use. Omitted options stay as they are.

    The key itself stays the same, so no client has to be set up again. Running servers follow within a second.
    """
    with app.write_as_owner("keys.set") as statements:
        key = api_keys.find_key(statements, name)
        ends = key.expires_at if expires is None else None if expires == "never" else parse_expiry(expires)
        reach = parse_reach(app, key.reach, **options)
        changed = api_keys.update_key(statements, name, reach, ends)
    _print_keys([changed.to_response()])


@keys.command("revoke", settings=("database_url",))
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask before the last key is revoked.")
@pass_app
def revoke(app: App, name: str, yes: bool) -> None:
    """Revoke the key with this NAME or id. Running servers refuse it within a second."""
    with app.database.reading() as rows:
        active = [key for key in api_keys.list_keys(rows) if key.state == "active"]
    if len(active) == 1 and name in (active[0].name, active[0].id):
        print_note(f"{name!r} is the last key. Without it, every HTTP caller is refused. {_NO_KEY_LEFT}")
        if not yes and stands_at_terminal():  # a script that revokes a stolen key must not wait
            click.confirm(f"Revoke {name!r}?", abort=True, err=True)
    with app.write_as_owner("keys.revoke") as statements:
        api_keys.revoke_key(statements, name)
    print_note(f"Revoked {name!r}.")


@keys.command("open", settings=("database_url",))
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@pass_app
def open_access(app: App, yes: bool) -> None:
    """Let HTTP callers on this machine be the owner again, as before the first key. All keys must be revoked.

    Callers on other machines stay refused. The setting `require_key` overrides this.
    """
    if not yes:
        opened = "every program on this machine can use the server over HTTP as the owner"
        confirm(f"Then {opened}. Go on?", f"Then {opened}.")
    with app.write_as_owner("keys.open") as statements:
        changed = api_keys.open_access(statements)
    says = "No key is required from now on" if changed else "No key was required"
    print_note(f"{says}: a caller on this machine is the owner. Other machines are refused.")
    if app.settings.get_flag("require_key"):
        print_note("But the setting require_key is on: HTTP needs a key as long as it is.")


def parse_expiry(text: str) -> int:
    try:
        return api_keys.parse_expiry(text)
    except Invalid as error:
        raise click.BadParameter(error.message, param_hint="--expires") from None
