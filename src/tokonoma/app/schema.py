"""The version of the tables: how many migrations a program knows and a database has. It only ever grows."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from tokonoma.app.places import database_exists, load_known_tables
from tokonoma.catalogue.plugins import read_plugins
from tokonoma.core import clock
from tokonoma.core.call import OWNER
from tokonoma.core.errors import Unready
from tokonoma.store.backup import find_restorable
from tokonoma.store.database import open_database
from tokonoma.store.migrate import read_applied

if TYPE_CHECKING:
    from tokonoma.app import App


def count_known_migrations(home: Path) -> int:
    """The schema version of this program. Tables of plugins have versions of their own."""
    plugins = {info.name for info in read_plugins(home)}
    return sum(len(steps) for name, steps in load_known_tables(home).items() if name not in plugins)


def count_applied_migrations(app: "App") -> int | None:
    """The schema version of the database; None if there is none yet. Nothing is migrated."""
    if not database_exists(app):
        return None
    plugins = {info.name for info in read_plugins(app.home)}
    database = open_database(app.database_url())
    try:
        with database.reading() as rows:
            done = read_applied(database, rows)
    finally:
        database.close()
    return sum(len(names) for name, names in done.items() if name not in plugins) or None


def migrate_all(app: "App") -> None:
    """Bring the tables of the server and of all modules to this program's version now, not with their first call."""
    assert app.database
    for info in app.registry.visible_modules(OWNER):
        app.registry.get_module(info.name)


def explain_downgrade(error: Unready, home: Path, kind: str) -> Unready:
    """The refusal of a database that a newer program has changed, with the backup that leads back to this one."""
    changed = error.message.partition(". ")[0]
    backup = find_restorable(home / "backups", kind, load_known_tables(home))
    if backup is None:
        ways = "Install that version. No backup in the home is of this version or an older one."
        return Unready(f"{changed}. {ways}", reason=error.reason, **error.details)
    made = clock.format_time(backup.stat().st_mtime_ns // 1_000_000)
    restore = f"`tokonoma restore {shlex.quote(backup.name)}` (made {made})"  # callers do not see where the home is
    if kind != "sqlite":
        restore += " with `database_url` set to a new, empty database"
    ways = f"Install that version, or go back to the newest backup that this version can read: {restore}."
    lost = "What was stored since then is lost."
    return Unready(f"{changed}. {ways} {lost}", reason=error.reason, backup=backup.name, **error.details)
