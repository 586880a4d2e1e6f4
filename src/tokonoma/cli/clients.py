"""`clients`: programs that people let in with OAuth, what each may use, and how that ends."""

from collections.abc import Sequence
from typing import Any

import click

from tokonoma.app import App
from tokonoma.app.reaches import parse_reach
from tokonoma.auth.oauth.grants import StoredGrant, find_grant, list_grants, narrow_grant, revoke_grant
from tokonoma.auth.reaches import to_response
from tokonoma.cli.command import group, json_option, pass_app
from tokonoma.cli.output import print_json, print_note, print_table
from tokonoma.cli.reach_options import changed_reach_options, format_cell

_HEADINGS = ("NAME", "CLIENT", "PERSON", "STATE", "ROOT", "MODULES", "MASK", "USED", "FROM", "REUSED")


@group("clients")
def clients() -> None:
    """List, narrow and revoke the clients that people let in with OAuth.

    A client never has more rights than the person who let it in.
    """


@clients.command("list", settings=("database_url",))
@json_option
@pass_app
def list_all(app: App, as_json: bool) -> None:
    """List the clients, newest first: who let each in, when and from where it last got a token.

    REUSED counts refresh tokens that were used again, with the address of the last time. Clients whose network fails do
    so; if you do not know that address, revoke the client.
    """
    with app.database.reading() as rows:
        found = list_grants(rows)
    if as_json:
        print_json([_to_response(each) for each in found])
    elif not found:
        print_note("No client was let in yet. Add this server to one by its URL; it then opens a page to sign in.")
    else:
        _print_clients(found)


@clients.command("narrow", settings=("database_url",))
@click.argument("name")
@changed_reach_options
@pass_app
def narrow(app: App, name: str, **options: str | None) -> None:
    """Change what the client with this NAME or id can use. Omitted options stay as they are.

    It can never use more than the person who let it in. Running servers follow within a second, also for what it has
    open; it does not have to sign in again.
    """
    with app.database.reading() as rows:
        grant = find_grant(rows, name)
    reach = parse_reach(app, grant.reach, **options)
    with app.write_as_owner("clients.narrow") as statements:
        changed = narrow_grant(statements, name, reach)
    _print_clients([changed])


@clients.command("revoke", settings=("database_url",))
@click.argument("name")
@pass_app
def revoke(app: App, name: str) -> None:
    """Revoke the access of the client with this NAME or id. Running servers refuse it within a second.

    Its open streams and running calls end, too. To come back it needs a person who lets it in again.
    """
    with app.write_as_owner("clients.revoke") as statements:
        grant = revoke_grant(statements, name)
    print_note(f"Revoked the access of {grant.name!r} ({grant.client_name}), which {grant.person_name!r} had let in.")


def _to_response(grant: StoredGrant) -> dict[str, Any]:
    """With what it may use at present, within what its person may."""
    effective = None if grant.effective is None else to_response(grant.effective)
    return {**grant.to_response(), "effective": effective}


def _print_clients(found: Sequence[StoredGrant]) -> None:
    print_table(_HEADINGS, [_format_row(each) for each in found])


def _format_row(grant: StoredGrant) -> list[str]:
    told = grant.to_response()
    seen = {} if grant.effective is None else to_response(grant.effective)
    reach = [format_cell(seen[name]) if seen else "nothing" for name in ("root", "modules", "mask")]
    reused = f"{grant.reused} from {grant.reused_remote or '?'}" if grant.reused else "-"
    return [
        grant.name,
        grant.client_name,
        grant.person_name,
        grant.state,
        *reach,
        told["used_at"] or "never",
        grant.remote or "-",
        reused,
    ]
