"""`upgrade`: a backup, the new version, its tables, and the checks of the doctor; in this order, or nothing."""

import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence

import click

from tokonoma import __version__
from tokonoma.app import App, read_environment
from tokonoma.app.doctor.checks import check_app
from tokonoma.app.places import (
    build_backup_name,
    database_exists,
    ensure_backup_folder,
    find_file_roots,
    find_sqlite_file,
    redact_database_url,
)
from tokonoma.app.schema import count_applied_migrations, count_known_migrations, migrate_all
from tokonoma.cli.command import command, get_flags, pass_app
from tokonoma.cli.install import build_stdio_address, find_program
from tokonoma.cli.installation import Installation, find_current_installation
from tokonoma.cli.output import confirm, print_line, print_note
from tokonoma.cli.units import find_units
from tokonoma.core.errors import Unavailable
from tokonoma.store.backup import create_backup
from tokonoma.store.database import open_database
from tokonoma.store.migrate import read_applied


@command("upgrade", "database_url")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option("--data-only", is_flag=True, help="The program is already the new one: back up, migrate and check.")
@click.option("--without-files", is_flag=True, help="Leave the vault and the manuals out of the backup.")
@click.option("--from", "origin", default="", hidden=True, help="The version before; the backup is made already.")
@pass_app
def upgrade(app: App, dry_run: bool, yes: bool, data_only: bool, without_files: bool, origin: str) -> None:
    """Upgrade Tokonoma: back up the data, install the newest version in the way this one was installed, migrate the
    tables, and check everything.

    Where the program cannot replace itself (Docker, Claude Desktop, a checkout), the command makes the backup and says
    what to do.
    """
    if origin:
        _finish(app, origin)
        return
    installation = find_current_installation()
    replaces = bool(installation.upgrade) and not data_only
    if dry_run:
        _print_plan(app, installation, replaces=replaces, data_only=data_only)
        return
    if replaces and shutil.which(installation.upgrade[0]) is None:
        raise Unavailable(
            f"{installation.upgrade[0]!r} is not in the PATH, and this program was installed with it."
            f" Run `{shlex.join(installation.upgrade)}` where it is.",
            reason="installer",
        )
    if replaces and not yes:
        confirm(f"Run `{shlex.join(installation.upgrade)}`?", "This installs another version of this program.")
    _save(app, without_files)
    if data_only:
        _finish(app, __version__)
    elif replaces:
        _replace_program(app, installation.upgrade)
    else:
        print_line(f"{installation.advice} Then run `tokonoma upgrade --data-only`, or just start it.")


def _print_plan(app: App, installation: Installation, *, replaces: bool, data_only: bool) -> None:
    print_line(f"tokonoma {__version__}, installed with {installation.kind} in {installation.place}")
    print_line(f"1. back up {redact_database_url(app.database_url())} into {app.home / 'backups'}")
    if not data_only:
        print_line(f"2. {'run ' + shlex.join(installation.upgrade) if replaces else installation.advice}")
    print_line(f"{'2' if data_only else '3'}. migrate the tables, check them, restart the units of `tokonoma service`")


def _save(app: App, without_files: bool) -> None:
    """A backup of the data as they are: no table is migrated before."""
    if not database_exists(app):
        print_note("There is nothing to back up: nothing is stored yet.")
        return
    target = ensure_backup_folder(app) / build_backup_name()
    database = open_database(app.database_url())
    try:
        with database.reading() as rows:
            is_new = not read_applied(database, rows)
        if is_new:
            print_note("There is nothing to back up: nothing is stored yet.")
            return
        print_note(f"Saving {redact_database_url(app.database_url())} …")
        create_backup(database, target, None if without_files else find_file_roots(app))
    finally:
        database.close()
    print_note(f"Saved: {target}")


def _replace_program(app: App, words: Sequence[str]) -> None:
    """Run the installer, then the new program: what is loaded in this process is the old one."""
    print_note(f"Running {shlex.join(words)} …")
    done = subprocess.run(words, check=False, stdin=subprocess.DEVNULL, stdout=sys.stderr.fileno())
    if done.returncode != 0:
        raise Unavailable(
            f"`{shlex.join(words)}` failed (exit code {done.returncode}). The data were not changed, and the backup is"
            " kept. Correct what it says, then run this again.",
            reason="installer",
        )
    program = find_program()
    address = build_stdio_address(app, get_flags(click.get_current_context()))
    flags = address.program[len(program) + 1 :]  # without `stdio`
    environ = {**read_environment(), **address.environ}
    finished = subprocess.run([*program, "upgrade", "--from", __version__, *flags], check=False, env=environ)
    sys.exit(finished.returncode)


def _finish(app: App, origin: str) -> None:
    """The part of the new version. The exit code is 1 if a check fails."""
    before = count_applied_migrations(app)
    migrate_all(app)
    now = count_known_migrations(app.home)
    was = "" if before is None or before == now else f" (they were version {before})"
    print_line(f"tokonoma {origin} → {__version__}" if origin != __version__ else f"tokonoma {__version__}")
    print_line(f"tables     version {now}{was}")
    findings = check_app(app, find_sqlite_file(app))
    failed = [each for each in findings if each.state == "fail" and each.name != "port"]
    for each in failed:
        print_line(f"failed     {each.name}: {each.says} {each.do}")
    if failed:
        print_note("To go back: install the version before, then restore the backup with `tokonoma restore FILE`.")
        sys.exit(1)
    print_line(f"checks     {sum(each.state == 'ok' for each in findings)} ok, none failed")
    for unit in find_units():
        unit.restart()
        print_line(f"restarted  {unit.name}")
    print_note("Restart other servers and clients: they still run the version before.")
