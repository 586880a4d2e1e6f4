"""`backup` and `restore`: everything in one file, verified before it counts."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import click

from tokonoma import catalogue
from tokonoma.app import App
from tokonoma.app.store import TABLES
from tokonoma.catalogue import plugins
from tokonoma.cli import show
from tokonoma.cli.flags import SettingsGroup, command
from tokonoma.cli.session import open_app
from tokonoma.cli.where import redact_database_url
from tokonoma.core import clock
from tokonoma.core.errors import Denied, Missing
from tokonoma.core.module import Migration
from tokonoma.store import backup as saving
from tokonoma.store.archive import BackupContents
from tokonoma.store.database import open_database, parse_sqlite_url


class BackupGroup(SettingsGroup):
    """`backup FILE` makes one; only `verify` is a word of its own (a file of that name is written ./verify)."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        return super().resolve_command(ctx, args if args[0] == "verify" else ["make", *args])

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return ["[FILE] | verify FILE"]


@click.group("backup", cls=BackupGroup, invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="What it holds, as JSON.")
@click.pass_context
def backup(ctx: click.Context, as_json: bool) -> None:
    """Write a backup into FILE, or into the folder `backups` of the home. Servers may run on meanwhile.

    `backup verify FILE` reads one and says what it holds.
    """
    if ctx.invoked_subcommand is None:
        _make_backup(ctx, None, as_json)


@backup.command("make", hidden=True)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="What it holds, as JSON.")
@click.pass_context
def make(ctx: click.Context, file: Path, as_json: bool) -> None:
    """Write a backup into FILE."""
    _make_backup(ctx, file, as_json)


@backup.command("verify")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def verify(file: Path, as_json: bool) -> None:
    """Read all of a backup and say what it holds."""
    _print_contents(saving.verify_backup(file), as_json)


@command("restore", "database_url")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--with-unknown", is_flag=True, help="Also tables of modules that are not installed or enabled here.")
@click.pass_context
def restore(ctx: click.Context, file: Path, yes: bool, with_unknown: bool) -> None:
    """Put the backup FILE in place of everything that is stored. A copy of what is there is made first.

    End servers that are running before, or restart them afterwards.
    """
    with open_app(ctx) as app:
        contents = saving.verify_backup(file)
        _print_contents(contents, as_json=False)
        where = redact_database_url(app.database_url())
        if not yes:
            _confirm(where)
        known = dict(load_known_tables(app))
        if with_unknown:
            known |= {
                name: _placeholder_migrations(names) for name, names in contents.migrations.items() if name not in known
            }
        safety = _restore_file(app, file, known)
    show.print_note(f"Restored into {where}." + (f" What was there before: {safety}" if safety else ""))


def _restore_file(app: App, file: Path, known: Mapping[str, Sequence[Migration]]) -> Path | None:
    """Returns where the copy of what was there lies. The database is opened as it is: it may be a damaged one."""
    fresh = not database_exists(app)
    app.home.mkdir(parents=True, exist_ok=True, mode=0o700)
    database = open_database(app.database_url())
    try:
        safety = saving.restore_backup(database, file, known, safety=_ensure_backup_folder(app)).safety
    finally:
        database.close()
    if fresh and safety is not None:
        safety.unlink()  # a copy of the empty file that was made a moment ago
        return None
    return safety


def _make_backup(ctx: click.Context, file: Path | None, as_json: bool) -> None:
    with open_app(ctx) as app:
        if not database_exists(app):
            raise Missing(f"There is nothing to back up: {redact_database_url(app.database_url())} does not exist yet.")
        name = f"tokonoma-{clock.format_time(clock.now()).replace(':', '')}.backup"
        target = _ensure_backup_folder(app) / name if file is None else file / name if file.is_dir() else file
        show.print_note(f"Saving {redact_database_url(app.database_url())} …")
        contents = saving.create_backup(app.database, target.absolute())
    click.echo(str(contents.path), err=as_json)
    _print_contents(contents, as_json)


def _print_contents(contents: BackupContents, as_json: bool) -> None:
    rows = sum(contents.tables.values())
    at = clock.format_time(contents.created_at)
    if as_json:
        show.print_json({**_contents_to_json(contents), "created_at": at})
        return
    held = f"{rows} rows in {len(contents.tables)} tables, {contents.size} bytes"
    show.print_note(f"A sound backup of {at} ({contents.kind}): {held}.")


def _contents_to_json(contents: BackupContents) -> dict[str, object]:
    return {
        "path": str(contents.path),
        "kind": contents.kind,
        "size": contents.size,
        "tables": dict(contents.tables),
        "migrations": {name: list(steps) for name, steps in contents.migrations.items()},
    }


def _confirm(where: str) -> None:
    if not sys.stdin.isatty():
        raise Denied(f"This replaces everything in {where}. Say --yes to do it without being asked.", reason="confirm")
    click.confirm(f"Replace everything in {where}?", abort=True, err=True)


def find_sqlite_file(app: App) -> Path | None:
    """The file of the database, if it is SQLite's."""
    url = app.database_url()
    return parse_sqlite_url(url) if url.partition(":")[0].lower() == "sqlite" else None


def database_exists(app: App) -> bool:
    """Whether there is a database; a server that is asked over the network is taken to have one."""
    file = find_sqlite_file(app)
    return file is None or file.exists()


def _ensure_backup_folder(app: App) -> Path:
    folder = app.home / "backups"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def load_known_tables(app: App) -> dict[str, Sequence[Migration]]:
    """The tables of the house and of every module, by the names under which their migrations are recorded."""
    known: dict[str, Sequence[Migration]] = dict(TABLES)
    for shelf in [*catalogue.read_catalogue(catalogue.CATALOGUE_FILE), *plugins.read_plugins(app.home)]:
        # The package of a plugin may be gone: then its tables are unknown, as they are while it is disabled.
        with suppress(ImportError, AttributeError):
            known[shelf.name] = catalogue.load_module(shelf.source).tables
    return known


def _placeholder_migrations(names: Sequence[str]) -> tuple[Migration, ...]:
    return tuple(Migration(name, ()) for name in names)
