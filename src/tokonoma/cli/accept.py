"""`accept`: go on with the data as it is, after the doctor has found damage."""

import shutil
from pathlib import Path

import click

from tokonoma.app import App, build_owner_call
from tokonoma.app.places import find_sqlite_file, require_database
from tokonoma.cli.command import command, pass_app
from tokonoma.cli.output import confirm, print_line, print_note
from tokonoma.core.clock import now
from tokonoma.core.errors import Conflict, Refusal
from tokonoma.store.database import open_database


@command("accept", "database_url")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@pass_app
def accept(app: App, yes: bool) -> None:
    """Go on with the stored data as it is, after `doctor` has found damage and there is no backup to restore.

    Calls that are missing stay missing; the journal records that. On SQLite the file is copied, then its pages get new
    checksums; for that, stop running servers first.
    """
    require_database(app, "accept")
    file, problems = find_sqlite_file(app), _find_problems(app)
    if problems and file is not None:
        print_note("\n".join(problems))
        if not yes:
            confirm("Go on with the pages as they are?", "This goes on with the pages as they are.")
        _renew_checksums(app, file)
    gap = app.journal.get_gap()
    if gap is not None:
        print_note(gap.describe())
        if not yes:
            confirm("Go on without them?", "This goes on without them.")
        app.journal.accept_gap(build_owner_call("accept"), gap)
    print_line("accepted" if problems or gap is not None else "There is nothing to accept: the data is whole.")


def _find_problems(app: App) -> list[str]:
    try:
        database = open_database(app.database_url())
    except Refusal as error:
        if error.reason != "corrupt":
            raise
        return [error.message]
    try:
        return database.find_problems()
    finally:
        database.close()


def _renew_checksums(app: App, file: Path) -> None:
    from tokonoma.store.sqlite.convert import add_checksums, is_alone

    if not is_alone(file):
        raise Conflict(f"Other processes have {file} open. Stop them, then try again.", reason="in_use")
    folder = app.home / "backups"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    copy = folder / f"{now()}-before-accept.db"
    shutil.copyfile(file, copy)
    copy.chmod(0o600)
    print_note(f"A copy of the file: {copy}")
    add_checksums(file, trust=True)
