"""Opening the store: the server's own tables are migrated, with a backup before a migration that changes rows."""

from collections.abc import Sequence
from pathlib import Path

from tokonoma.auth import api_keys as keys
from tokonoma.auth import rate_limit as rate
from tokonoma.config.home import create_home
from tokonoma.core.clock import now
from tokonoma.core.module import Migration
from tokonoma.embed import queue
from tokonoma.files import tables as file_tables
from tokonoma.jobs import leases
from tokonoma.journal import chain as strand
from tokonoma.policy import versions as policy_store
from tokonoma.search import tables
from tokonoma.store.backup import create_backup
from tokonoma.store.database import Database, open_database
from tokonoma.store.migrate import migrate

TABLES: dict[str, tuple[Migration, ...]] = {
    "journal": strand.TABLES,
    "auth": keys.TABLES,
    "rate": rate.TABLES,
    "policy": policy_store.TABLES,
    "search": tables.TABLES,
    "embed": queue.TABLES,
    "vectors": tables.VECTOR_TABLES,
    "files": file_tables.TABLES,
    "jobs": leases.TABLES,
}
"""The server's own tables, by the names under which their migrations are recorded."""


def open_store(home: Path, url: str, *, durable: bool) -> Database:
    create_home(home)
    database = open_database(url, durable=durable)
    if durable:
        database.keep_reserve()
    for name, steps in TABLES.items():
        migrate_tables(database, home, name, steps)
    return database


def migrate_tables(database: Database, home: Path, name: str, steps: Sequence[Migration]) -> None:
    def back_up(reason: str) -> None:
        folder = home / "backups"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        create_backup(database, folder / f"{now()}-before-{reason.replace('/', '-')}.backup")

    migrate(database, name, steps, back_up)
