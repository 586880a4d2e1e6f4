"""`service`: `tokonoma serve` as a unit of systemd or launchd, started at log-in and again if it fails."""

import http.client
import sys
from pathlib import Path

import click

from tokonoma.app import App, read_environment
from tokonoma.app.places import find_places, find_sqlite_file
from tokonoma.cli.command import get_flags, group, json_option, pass_app
from tokonoma.cli.install import build_stdio_address, find_program
from tokonoma.cli.install.clients import Machine
from tokonoma.cli.installation import find_current_installation
from tokonoma.cli.output import print_json, print_line, print_note
from tokonoma.cli.units.control import DEFAULT, SystemdUnit, Unit, find_unit, list_units, require_running, write_unit
from tokonoma.cli.units.text import UnitDescription
from tokonoma.core.errors import Invalid, Refusal, Unavailable, Unready

_PROBE_SECONDS = 3.0
name_option = click.option(
    "--name", default=DEFAULT, show_default=True, help="For several servers on one machine: the name of the unit."
)
system_option = click.option("--system", "of_system", is_flag=True, help="A unit of the system, not of this user.")


@group("service")
def service() -> None:
    """Run `tokonoma serve` in the background: a unit of systemd (Linux) or launchd (macOS)."""


@service.command("install", settings=("host", "port", "public_url", "trusted_proxies", "database_url"))
@click.option("--dry-run", is_flag=True, help="Print the unit, but write and start nothing.")
@click.option("--account", default="tokonoma", show_default=True, help="With --system: the user that runs the server.")
@system_option
@name_option
@pass_app
def install_unit(app: App, dry_run: bool, account: str, of_system: bool, name: str) -> None:
    """Write the unit, enable it and start it. Run it again to change it. Flags such as --port become part of it.

    With --system, run it as root: the server then runs as --account, with its data in --home.
    """
    machine = get_machine()
    unit = find_unit(machine, name, of_system=of_system)
    content = unit.format_file(describe_server(app, account if of_system else ""))
    if dry_run:
        print_note(f"This would be written to {unit.file}:")
        print_line(content.decode().rstrip("\n"))
        return
    require_running(unit)
    if of_system:
        _require_account(account)
    write_unit(unit, content)
    unit.start()
    print_note(f"Written: {unit.file}")
    print_line(f"{unit.name} is {unit.read_state()}")
    if isinstance(unit, SystemdUnit):
        scope = "" if of_system else "--user "
        print_note(f"Its log: journalctl {scope}-u {unit.name} -f")
        if not of_system:
            print_note("It runs while you are logged in. To let it run always: loginctl enable-linger")


def describe_server(app: App, account: str) -> UnitDescription:
    """What the unit runs: this program with the flags of this command, on this home."""
    installation = find_current_installation()
    if installation.runner:
        raise Unready(f"This program is in the cache of {installation.kind}. {installation.advice}", reason="cache")
    flags = get_flags(click.get_current_context())
    if account and "database_url" in flags:
        raise Invalid("Every user can read a unit of the system. Put database_url into tokonoma.toml.", field="system")
    address, program = build_stdio_address(app, flags), find_program()
    words = [*program, "serve", *address.program[len(program) + 1 :]]
    environ = {"TOKONOMA_HOME": str(app.home), **address.environ} if account else dict(address.environ)
    for origin in app.settings.origins.values():
        if origin.startswith("environment "):
            variable = origin.removeprefix("environment ")
            print_note(f"Note: {variable} is set in this shell only. Put it into tokonoma.toml if the server needs it.")
    places = find_places(app)
    folders = [app.home, *(Path(places[each]) for each in ("workspace", "manuals", "vault"))]
    if (file := find_sqlite_file(app)) is not None:
        folders.append(file.parent)
    outermost = [each for each in dict.fromkeys(folders) if not any(other in each.parents for other in folders)]
    log = get_machine().home / "Library" / "Logs" / "tokonoma.log"
    return UnitDescription(words, environ, outermost, account, log)


@service.command("status", settings=("host", "port"))
@system_option
@name_option
@json_option
@pass_app
def show_unit(app: App, of_system: bool, name: str, as_json: bool) -> None:
    """Show whether the unit is there, whether it runs, and whether the server answers: then the exit code is 0."""
    unit = find_unit(get_machine(), name, of_system=of_system)
    state = "not installed"
    if unit.file.exists():
        try:
            require_running(unit)
            state = unit.read_state()
        except (Unready, Unavailable) as error:
            state = f"unknown: {error.message}"
    answer = ask_health(app)
    if as_json:
        print_json({"unit": unit.name, "file": str(unit.file), "state": state, "health": answer})
    else:
        print_line(f"unit    {unit.file}")
        print_line(f"state   {state}")
        print_line(f"server  {answer}")
    sys.exit(0 if answer.startswith("answers") else 1)


def ask_health(app: App) -> str:
    """Whether a server answers at the address of the settings."""
    host, port = app.settings.get_text("host"), app.settings.get_int("port")
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - bound to all: ask this machine
    secure = bool(app.settings.get_text("tls_cert"))
    kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
    address = f"{'https' if secure else 'http'}://{host}:{port}"
    connection = kind(host, port, timeout=_PROBE_SECONDS)
    try:
        connection.request("GET", "/health")
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return f"does not answer at {address}"
    finally:
        connection.close()
    return f"answers at {address}" if status == http.client.OK else f"answers at {address} with status {status}"


@service.command("remove")
@system_option
@name_option
def remove_unit(of_system: bool, name: str) -> None:
    """Stop the server, and remove the unit. Data and settings stay."""
    unit = find_unit(get_machine(), name, of_system=of_system)
    if not unit.file.exists():
        print_note(f"{unit.file} is not there; nothing was changed.")
        return
    take_away(unit)
    print_note(f"Removed: {unit.file}")


def take_away(unit: Unit) -> None:
    """Stop a unit and delete its file. One that nothing runs is only deleted."""
    try:
        require_running(unit)
        unit.stop()
    except Refusal as error:
        print_note(f"It was not stopped: {error.message}")
    unit.file.unlink()


def find_units() -> list[Unit]:
    return list_units(get_machine())


def get_machine() -> Machine:
    try:
        home = Path.home()
    except RuntimeError:  # a user without a name, as in a container
        home = Path("/")
    return Machine(home, Path.cwd(), sys.platform, read_environment())


def _require_account(account: str) -> None:
    import pwd

    try:
        pwd.getpwnam(account)
    except KeyError:
        raise Invalid(
            f"There is no user {account!r}. Create one: useradd --system --create-home"
            f" --home-dir /var/lib/{account} {account}",
            field="account",
        ) from None
