"""`people`: who may sign in to the pages and let clients in."""

import sys
from typing import Any

import click

from tokonoma.app import App
from tokonoma.app.reaches import parse_reach
from tokonoma.auth import people as stored_people
from tokonoma.auth.passwords import MAX_LENGTH, hash_password
from tokonoma.auth.sessions import list_sessions
from tokonoma.cli.command import group, json_option, pass_app
from tokonoma.cli.output import confirm, print_json, print_note, print_table, stands_at_terminal
from tokonoma.cli.reach_options import check_name, format_cell, new_reach_options
from tokonoma.core.errors import Invalid
from tokonoma.core.printable import pluralize
from tokonoma.core.reach import Reach

_COLUMNS = ("name", "id", "state", "password", "sessions", "root", "modules", "mask")


@group("people")
def people() -> None:
    """Add, list and revoke people who may sign in, and set their passwords.

    The owner is a person, too, and needs no password: `tokonoma open` signs the owner in.
    """


@people.command("add", settings=("database_url",))
@click.argument("name")
@new_reach_options
@click.option("--password", "with_password", is_flag=True, help="Ask for a password now.")
@json_option
@pass_app
def add(app: App, name: str, with_password: bool, as_json: bool, **options: str | None) -> None:
    """Add a person called NAME. A client that this person lets in never gets more than the person has.

    Without a password the person signs in with a link: `tokonoma open --person NAME`.
    """
    check_name(name)
    reach = parse_reach(app, Reach(), **options)
    hashed = hash_password(_read_password()) if with_password else None
    with app.write_as_owner("people.add") as statements:
        person = stored_people.add_person(statements, name, reach)
        if hashed is not None:
            stored_people.set_password(statements, person, hashed)
            person = stored_people.find_person(statements, name)
    if as_json:
        print_json(person.to_response())
    else:
        _print_people([{**person.to_response(), "sessions": 0}])
    if hashed is None:
        links = f"make a link with `tokonoma open --person {name}`"
        print_note(f"Set a password with `tokonoma people password {name}`, or {links}.")


@people.command("list", settings=("database_url",))
@json_option
@pass_app
def list_people(app: App, as_json: bool) -> None:
    """List the people, and how many browsers each is signed in with. --json shows from where."""
    with app.database.reading() as rows:
        found = [person.to_response() for person in stored_people.list_people(rows)]
        sessions = [each.to_response() for each in list_sessions(rows)]
    for person in found:
        person["sessions"] = [each for each in sessions if each["person"] == person["name"]]
    if as_json:
        print_json(found)
    elif not found:
        print_note("There are no people yet. `tokonoma open` signs the owner in; `tokonoma people add` adds others.")
    else:
        _print_people([{**person, "sessions": len(person["sessions"])} for person in found])


@people.command("password", settings=("database_url",))
@click.argument("name")
@click.option("--remove", is_flag=True, help="Remove the password: only links sign the person in.")
@pass_app
def password(app: App, name: str, remove: bool) -> None:
    """Set the password of the person with this NAME or id, at a hidden prompt or on standard input.

    All sessions of the person end. The owner's name is `owner`.
    """
    hashed = None if remove else hash_password(_read_password())
    with app.write_as_owner("people.password") as statements:
        stored_people.ensure_owner(statements)
        person = stored_people.find_person(statements, name)
        ended = stored_people.set_password(statements, person, hashed)
    says = "Removed the password" if remove else "Set the password"
    print_note(f"{says} of {person.name!r}. Ended {pluralize(ended, 'session')}.")


@people.command("revoke", settings=("database_url",))
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@pass_app
def revoke(app: App, name: str, yes: bool) -> None:
    """Revoke the person with this NAME or id, with all sessions and all clients that the person let in.

    Running servers follow within a second. What the person has written stays.
    """
    if not yes:
        says = f"the sessions of {name!r} and the access of all clients that {name!r} let in"
        confirm(f"End {says}?", f"This ends {says}.")
    with app.write_as_owner("people.revoke") as statements:
        ended = stored_people.revoke_person(statements, name)
    what = f"{pluralize(ended.sessions, 'session')} and {pluralize(ended.grants, 'client')}"
    print_note(f"Revoked {ended.person.name!r}, with {what}.")


def _print_people(found: list[dict[str, Any]]) -> None:
    for person in found:
        person["password"] = "set" if person["password"] else "-"
    headings = [name.upper() for name in _COLUMNS]
    print_table(headings, [[format_cell(person[name]) for name in _COLUMNS] for person in found])


def _read_password() -> str:
    """Never an argument: every user of the machine can read those, and the shell keeps them."""
    if stands_at_terminal():
        return str(click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))
    text = sys.stdin.read(MAX_LENGTH + 2).removesuffix("\n").removesuffix("\r")
    if "\n" in text:
        raise Invalid("The password on standard input has several lines.", field="password")
    return text
