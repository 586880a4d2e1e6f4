"""Databases with all tables of the server and its modules: to make them takes longer than many a test."""

import os
from contextlib import suppress
from functools import cache
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import Any

from tokonoma.app.store import TABLES
from tokonoma.catalogue import BUILT_IN_MODULES, load_module
from tokonoma.core.errors import Refusal
from tokonoma.store.database import Database, format_sqlite_url, open_database, parse_sqlite_url
from tokonoma.store.migrate import migrate
from tokonoma.store.sqlite.connection import create_file


def migrate_everything(url: str) -> None:
    database = open_database(url, durable=False)
    modules = [load_module(source) for source in BUILT_IN_MODULES.values()]
    for name, steps in {**TABLES, **{module.name: module.tables for module in modules}}.items():
        migrate(database, name, steps, lambda _reason: None)
    database.close()


@cache
def make_sqlite_file() -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "prepared.db"
        migrate_everything(format_sqlite_url(path))
        return path.read_bytes()


def open_prepared(url: str, **options: Any) -> Database:
    """As `open_database`, but a new SQLite file begins as a copy of one that was migrated from nothing."""
    if url.lower().startswith("sqlite:"):
        path = parse_sqlite_url(url)
        if not any(os.path.lexists(f"{path}{ending}") for ending in ("", "-wal")):
            with suppress(Refusal, OSError):  # what is wrong there is told by opening it
                _copy_to(path)
    return open_database(url, **options)


def _copy_to(path: Path) -> None:
    """All of it at once: another process may be making the same file."""
    copy = path.with_name(f"{path.name}-{token_hex(4)}")
    create_file(copy)
    try:
        copy.write_bytes(make_sqlite_file())
        with suppress(FileExistsError):
            os.link(copy, path)
    finally:
        copy.unlink()
