"""`keyring`: where its key is, whether it opens every secret, and how keys are changed."""

import sys
from pathlib import Path

import click

from tokonoma.app import App
from tokonoma.app.keyring import open_keyring
from tokonoma.app.rotation import move_all_secrets
from tokonoma.cli.command import group, json_option, pass_app
from tokonoma.cli.interrupt import report_interrupt
from tokonoma.cli.output import confirm, print_json, print_line, print_note
from tokonoma.core.errors import Invalid
from tokonoma.core.printable import pluralize
from tokonoma.keyring.data_keys import Keyring, read_snapshot
from tokonoma.keyring.rotate import is_rotating, read_master, rekey, start_rotation
from tokonoma.keyring.source import MasterKey, OwnKey, format_master, generate_master, parse_master
from tokonoma.keyring.status import KeyringStatus, check_keyring

_OLD_BACKUPS = "Backups that were made before need the earlier key"
_PROBLEMS = {
    "truncated": "cut off",
    "swapped": "sealed for another place: rows were exchanged",
    "damaged": "damaged",
    "missing": "has no secrets",
}


@group("keyring")
def keyring() -> None:
    """Check the keyring, and change its keys.

    The keyring encrypts the credentials of connected services. A master key, which is not in the database, opens it.
    """


@keyring.command("status", settings=("database_url", "keyring_key_file", "keyring_source"))
@json_option
@pass_app
def status(app: App, as_json: bool) -> None:
    """Say where the master key is, and whether it opens every secret. The exit code is 1 if it does not."""
    with app.database.reading() as rows:
        found = check_keyring(rows, open_keyring(app))
    if as_json:
        print_json(found.to_response())
    else:
        _print_status(found)
    sys.exit(1 if found.state == "sealed" or found.unreadable else 0)


def _print_status(found: KeyringStatus) -> None:
    print_line(f"master key   {found.place}" + (f" (fingerprint {found.fingerprint})" if found.fingerprint else ""))
    print_line(f"state        {found.state}")
    if found.problem:
        print_note(found.problem)
    if found.state == "empty":
        return
    print_line(f"data keys    {found.data_keys}")
    print_line(f"secrets      {found.secrets}")
    if found.retired_keys:
        print_note("A rotation is not finished: `tokonoma keyring rotate` continues it.")
    for name, reason in found.unreadable.items():
        print_line(f"unreadable   {name}: {_PROBLEMS.get(reason, reason)}")
    if found.unreadable:
        print_note("Connect these accounts again with `tokonoma connect`, or restore a backup.")


@keyring.command("rotate", settings=("database_url",))
@pass_app
def rotate(app: App) -> None:
    """Encrypt all secrets with a new data key. Servers can keep running.

    Ctrl-C interrupts it; the next run continues there.
    """
    keys = open_keyring(app)
    read_snapshot(app.database.reading, lambda rows: read_master(rows, keys))  # else nothing is begun
    with app.database.reading() as rows:
        resumed = is_rotating(rows)
    moved, unreadable = _move_all(app, keys) if resumed else (0, 0)
    if moved:
        print_note("This was the rest of a rotation that was interrupted.")
    else:  # what is left of an earlier one cannot be read
        with app.write_as_owner("keyring.rotate") as statements:
            start_rotation(statements, keys)
        moved, unreadable = _move_all(app, keys)
    print_line(f"{pluralize(moved, 'secret')} encrypted with the new data key")
    if unreadable:
        print_note(f"{pluralize(unreadable, 'secret')} could not be read and stayed: see `tokonoma keyring status`.")
        sys.exit(1)


def _move_all(app: App, keys: Keyring) -> tuple[int, int]:
    """How many secrets were encrypted again, and how many could not be read."""
    moved, unreadable = 0, 0
    with report_interrupt(lambda: f"{moved} secrets use the new key. Run it again to continue; all stay readable."):
        for step in move_all_secrets(app, keys):
            moved, unreadable = moved + step.moved, unreadable + step.unreadable
    return moved, unreadable


@keyring.command("rekey", settings=("database_url", "keyring_key_file", "keyring_source"))
@click.option("--new-key-file", type=click.Path(path_type=Path), help="File with the new key; - reads standard input.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@pass_app
def change_master(app: App, new_key_file: Path | None, yes: bool) -> None:
    """Replace the master key. The secrets stay as they are; servers can keep running.

    Tokonoma makes the new key, unless --new-key-file gives one. If the key comes from a setting or a file of yours,
    --new-key-file is necessary, and you change the setting afterwards.
    """
    keys = open_keyring(app)
    own = isinstance(keys.source, OwnKey)
    if new_key_file is None and not own:
        message = f"The master key is in {keys.source.place}, which Tokonoma does not change."
        raise Invalid(f"{message} Give the new one with --new-key-file FILE, then put it there.", field="new_key_file")
    read_snapshot(app.database.reading, lambda rows: read_master(rows, keys))
    new = generate_master() if new_key_file is None else _read_key(new_key_file)
    if not yes:
        advice = "`tokonoma keyring export-key` prints it now"
        confirm(f"{_OLD_BACKUPS} ({advice}). Replace it?", f"{_OLD_BACKUPS}; {advice}.")
    count = rekey(lambda: app.write_as_owner("keyring.rekey"), keys, new)
    print_line(f"{pluralize(count, 'data key')} locked with the new master key (fingerprint {new.fingerprint})")
    if own:
        print_note(f"The new key is in {keys.source.place}.")
    else:
        print_note(f"Now put the new key into {keys.source.place} and restart the servers.")


def _read_key(file: Path) -> MasterKey:
    text = sys.stdin.read(4096) if str(file) == "-" else file.read_text("ascii", "replace")
    return parse_master(text, "standard input" if str(file) == "-" else str(file))


@keyring.command("export-key", settings=("database_url",))
@pass_app
def export_key(app: App) -> None:
    """Print the master key, to be kept in a safe place. Whoever has it and the database can read all secrets."""
    keys = open_keyring(app)
    master = read_snapshot(app.database.reading, lambda rows: read_master(rows, keys))
    with app.write_as_owner("keyring.export_key"):
        pass  # the journal says that it was printed
    print_line(format_master(master))
    print_note("Keep it where your backups are not, as in a password manager. Backups do not contain it.")
