"""Opening the store: the server's own tables are migrated, with a backup before a migration that changes rows."""

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from tokonoma.auth import rate_limit as rate
from tokonoma.auth import tables as auth_tables
from tokonoma.config.home import create_home
from tokonoma.core.clock import MOST_BEHIND, continue_from, now
from tokonoma.core.errors import Refusal, Unready
from tokonoma.core.log import log
from tokonoma.core.module import Migration
from tokonoma.embed import queue
from tokonoma.files import tables as file_tables
from tokonoma.jobs import leases
from tokonoma.journal import chain as strand
from tokonoma.journal.heads import HeadsFile
from tokonoma.keyring import tables as keyring_tables
from tokonoma.policy import versions as policy_store
from tokonoma.search import tables
from tokonoma.store.backup import save_backup
from tokonoma.store.database import Database, open_database
from tokonoma.store.migrate import migrate, read_applied
from tokonoma.transfer.sync import tables as sync_tables
from tokonoma.upstream import tables as upstream_tables

TABLES: dict[str, tuple[Migration, ...]] = {
    "journal": strand.TABLES,
    "auth": auth_tables.TABLES,
    "rate": rate.TABLES,
    "policy": policy_store.TABLES,
    "search": tables.TABLES,
    "embed": queue.TABLES,
    "vectors": tables.VECTOR_TABLES,
    "files": file_tables.TABLES,
    "jobs": leases.TABLES,
    "sync": sync_tables.TABLES,
    "keyring": keyring_tables.TABLES,
    "upstream": upstream_tables.TABLES,
}
"""The server's own tables, by the names under which their migrations are recorded."""


_STATISTICS_PAUSE = 60.0  # seconds


def open_store(home: Path, url: str, *, durable: bool) -> Database:
    create_home(home)
    database = open_database(url, durable=durable)
    if database.kind == "sqlite" and not database.has_checksums():
        database = _add_checksums(database, home, lambda: open_database(url, durable=durable))
    if durable:
        database.keep_reserve()
    for name, steps in TABLES.items():
        migrate_tables(database, home, name, steps)
    with database.reading() as rows:
        newest = rows.row("select max(at) from journal where at <= :most", most=now() + MOST_BEHIND)
    if newest is not None and newest[0] is not None:
        continue_from(newest[0])  # what has expired stays expired, also if the machine's clock was set back meanwhile
    return database


def find_heads_file(home: Path, database: Database) -> Path:
    """Where the heads of the journal's chains are noted: beside the database, or in the home."""
    return Path(f"{database.location}-heads") if database.kind == "sqlite" else home / "journal.heads"


def open_heads(home: Path, database: Database) -> HeadsFile:
    return HeadsFile(find_heads_file(home, database), database.reading)


def migrate_tables(database: Database, home: Path, name: str, steps: Sequence[Migration]) -> None:
    def back_up(reason: str) -> None:
        _back_up(database, home, reason)

    try:
        migrate(database, name, steps, back_up)
    except Unready as error:
        if error.reason != "newer_schema":
            raise
        from tokonoma.app.schema import explain_downgrade  # only here: it knows the tables of all modules

        raise explain_downgrade(error, home, database.kind) from None


def update_statistics(database: Database) -> float:
    """A step of a background job: the planner of queries follows the growth of the tables."""
    database.update_statistics()
    return _STATISTICS_PAUSE


def _back_up(database: Database, home: Path, reason: str) -> Path:
    folder = home / "backups"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return save_backup(database, folder / f"{now()}-before-{reason.replace('/', '-')}.backup").path


def _add_checksums(database: Database, home: Path, reopen: Callable[[], Database]) -> Database:
    """Give a file from before there were checksums its own, once. Without them the server works as it did before."""
    from tokonoma.store.sqlite.convert import add_checksums, is_alone

    path, backup = Path(database.location), None
    reason = "other processes have it open, or the driver has no checksums"
    database.close()
    try:
        if is_alone(path):
            log("info", "store.adding_checksums", path=str(path))
            with closing(reopen()) as database:
                backup = None if _is_new(database) else _back_up(database, home, "checksums")
            if add_checksums(path):
                return reopen()
    except (Refusal, OSError) as error:
        reason = error.reason if isinstance(error, Refusal) else type(error).__name__
    if backup is not None:
        backup.unlink()  # nothing was changed, and the next start tries again
    log("warning", "store.no_checksums", path=str(path), reason=reason)
    return reopen()


def _is_new(database: Database) -> bool:
    with database.reading() as rows:
        return not read_applied(database, rows)
