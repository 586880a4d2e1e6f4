"""`backup` and `restore`: everything in one file, verified before it is used."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import click

from tokonoma.app import App
from tokonoma.app.places import (
    build_backup_name,
    database_exists,
    ensure_backup_folder,
    find_file_roots,
    load_known_tables,
    redact_database_url,
    require_database,
)
from tokonoma.app.store import find_heads_file
from tokonoma.cli.command import SettingsGroup, command, json_option, pass_app
from tokonoma.cli.interrupt import report_interrupt
from tokonoma.cli.output import confirm, print_json, print_line, print_note
from tokonoma.config.home import create_home
from tokonoma.core import clock
from tokonoma.core.module import Migration
from tokonoma.core.printable import pluralize
from tokonoma.journal.heads import remove_heads
from tokonoma.store.archive import BackupContents, BackupFiles
from tokonoma.store.backup import create_backup, restore_backup, verify_backup
from tokonoma.store.database import open_database

_MAX_NAMES = 10  # of files in a note


class BackupGroup(SettingsGroup):
    """`backup FILE` makes a backup; only `verify` is a subcommand (write ./verify for a file of that name)."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        return super().resolve_command(ctx, args if args[0] == "verify" else ["make", *args])

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return ["[FILE] | verify FILE"]


@click.group("backup", cls=BackupGroup, invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print the contents as JSON.")
@click.option("--without-files", is_flag=True, help="Leave out the files of the vault and the manuals.")
@click.pass_context
def backup(ctx: click.Context, as_json: bool, without_files: bool) -> None:
    """Write a backup to FILE, or to the folder `backups` in the home: the database, the files of the vault with their
    versions, and the manuals. Servers can keep running.

    `backup verify FILE` checks a backup.
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(make, file=None, as_json=as_json, without_files=without_files)


@backup.command("make", hidden=True)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the contents as JSON.")
@click.option("--without-files", is_flag=True, help="Leave out the files of the vault and the manuals.")
@pass_app
def make(app: App, file: Path | None, as_json: bool, without_files: bool) -> None:
    """Write a backup to FILE."""
    require_database(app, "back up")
    name = build_backup_name()
    target = ensure_backup_folder(app) / name if file is None else file / name if file.is_dir() else file
    print_note(f"Saving {redact_database_url(app.database_url())} …")
    with report_interrupt(lambda: f"{target} was not written."):
        contents = create_backup(app.database, target.absolute(), None if without_files else find_file_roots(app))
    print_line(str(contents.path), err=as_json)
    _print_contents(contents, as_json)


@backup.command("verify")
@click.argument("file", type=click.Path(path_type=Path))
@json_option
def verify(file: Path, as_json: bool) -> None:
    """Read a whole backup, check it and print what it contains."""
    _print_contents(verify_backup(file), as_json)


def _print_contents(contents: BackupContents, as_json: bool) -> None:
    created_at = clock.format_time(contents.created_at)
    if as_json:
        fields = asdict(contents)
        del fields["created_at"]
        print_json({**fields, "path": str(contents.path), "created_at": created_at})
        return
    size = f"{sum(contents.tables.values())} rows in {len(contents.tables)} tables, {contents.size} bytes"
    print_note(f"A valid backup of {created_at} ({contents.kind}): {size}.")
    for line in _describe_files(contents.files):
        print_note(line)
    if secrets := contents.tables.get("account_secret", 0):
        print_note(
            f"It contains {pluralize(secrets, 'secret')} of accounts, encrypted. The key that opens them is not in it:"
            " keep the key elsewhere with `tokonoma keyring export-key`."
        )


def _describe_files(files: BackupFiles | None) -> Iterator[str]:
    if files is None:
        yield (
            "It contains no files: an earlier version of Tokonoma made it, or it is a copy of the database alone."
            " Copy the vault and the manuals yourself."
        )
    elif not files.included:
        yield "It contains no files: they were left out when it was made. Copy the vault and the manuals yourself."
    else:
        yield f"It contains {pluralize(files.count, 'file')} of the vault and the manuals, {files.size} bytes."
        if files.left_out:
            yield f"Not saved: {_list_names(files.left_out)}."
        if files.changing:
            yield f"Changed while they were read, check them: {_list_names(files.changing)}."


def _list_names(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:_MAX_NAMES]))
    return shown if len(names) <= _MAX_NAMES else f"{shown} and {len(names) - _MAX_NAMES} more (--json lists all)"


@command("restore", "database_url")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option("--with-unknown", is_flag=True, help="Also restore tables of modules that are not enabled here.")
@click.option("--without-files", is_flag=True, help="Do not touch the files of the vault and the manuals.")
@pass_app
def restore(app: App, file: Path, yes: bool, with_unknown: bool, without_files: bool) -> None:
    """Replace all stored data by the backup FILE, and put its files back. A backup of the present data and files is
    made first. Files that are not in the backup stay.

    FILE may be the name of a file in the folder `backups` of the home. Stop running servers before, or restart them
    afterwards.
    """
    if not file.exists() and (kept := app.home / "backups" / file.name).exists() and file.name == str(file):
        file = kept
    contents = verify_backup(file)
    _print_contents(contents, as_json=False)
    where = redact_database_url(app.database_url())
    if not yes:
        confirm(f"Replace everything in {where}?", f"This replaces everything in {where}.")
    known = load_known_tables(app.home)
    if with_unknown:
        for name, migrations in contents.migrations.items():
            known.setdefault(name, [Migration(each, ()) for each in migrations])
    is_new = not database_exists(app)
    create_home(app.home)
    database = open_database(app.database_url())  # as it is, without migrations: it may be damaged
    folder = ensure_backup_folder(app)
    try:
        roots = None if without_files else find_file_roots(app)
        with report_interrupt(lambda: f"Run the restore again. A backup of the data before it is in {folder}."):
            result = restore_backup(database, file, known, safety=folder, roots=roots)
            remove_heads(find_heads_file(app.home, database))  # they were those of the data before
    finally:
        database.close()
    safety, files = result.safety, result.files
    if is_new and safety is not None and (files is None or not (files.unchanged or files.replaced or files.others)):
        safety.unlink()  # a copy of the empty file that was just created
        safety = None
    if files is None:
        print_note("No files were restored: the vault and the manuals are as before.")
    else:
        rest = f" Not in the backup, and left as before: {pluralize(files.others, 'file')}." if files.others else ""
        print_note(f"Restored {pluralize(files.written, 'file')}; {files.unchanged} were already there.{rest}")
    print_note(f"Restored into {where}." + (f" The data before: {safety}" if safety else ""))
    if contents.tables.get("account_secret"):
        print_note("The keyring opens with the key of the time of the backup: see `tokonoma keyring status`.")
