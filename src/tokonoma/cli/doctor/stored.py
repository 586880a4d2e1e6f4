"""What is stored: whether it opens, is whole, is of a version that this program knows, and its chain holds."""

from collections.abc import Iterator, Mapping, Sequence

from tokonoma.app import App
from tokonoma.auth import api_keys as keys
from tokonoma.cli.backups import database_exists, load_known_tables
from tokonoma.cli.doctor.finding import Finding, run_check
from tokonoma.cli.doctor.meaning import check_vectors
from tokonoma.cli.where import redact_database_url
from tokonoma.core.desk import Rows
from tokonoma.core.errors import Refusal
from tokonoma.core.module import Migration
from tokonoma.journal import verify
from tokonoma.search.index import count_by_module as counted
from tokonoma.search.index import count_outdated
from tokonoma.store.database import Database, open_database
from tokonoma.store.migrate import check_order, read_applied

_RESTORE = "End all servers, then bring back a backup: `tokonoma restore FILE`."


def check_database(app: App) -> Iterator[Finding]:
    """Opened as it is: no migration is applied, and where there is no database none is made."""
    where = redact_database_url(app.database_url())
    if not database_exists(app):
        yield Finding("database", "ok", f"{where} is not created yet; the first call makes it.")
        return
    try:
        database = open_database(app.database_url())
    except Refusal as error:
        yield Finding("database", "fail", error.message, _choose_remedy(error))
        return
    try:
        yield Finding("database", "ok", f"{where} opens ({database.kind}, {database.size()} bytes)")
        yield from run_check("integrity", lambda: check_integrity(database))
        yield from run_check("tables", lambda: check_tables(database, load_known_tables(app)))
        yield from run_check("journal", lambda: check_journal(database))
        yield from run_check("keys", lambda: check_keys(database))
        yield from run_check("records", lambda: check_records(database))
        yield from run_check("vectors", lambda: check_vectors(database, app.settings))
    finally:
        database.close()


def check_integrity(database: Database) -> Iterator[Finding]:
    problems = database.find_problems()
    if problems:
        more = f" and {len(problems) - 3} more" if len(problems) > 3 else ""
        yield Finding("integrity", "fail", "; ".join(problems[:3]) + more, _RESTORE)
    else:
        sound = (
            "every page reads, every index agrees"
            if database.kind == "sqlite"
            else "no index and no checksum is broken"
        )
        yield Finding("integrity", "ok", sound)


def check_tables(database: Database, known: Mapping[str, Sequence[Migration]]) -> Iterator[Finding]:
    with database.reading() as rows:
        done = read_applied(database, rows)
    for name, names in done.items():
        if name not in known:
            told = f"those of {name!r}, a module that is not enabled here, rest untouched"
            yield Finding("tables", "ok", told, f"`tokonoma plugins enable {name}` would use them again.")
            continue
        try:
            check_order(name, known[name], names)
        except Refusal as error:
            yield Finding("tables", "fail", error.message, "Update tokonoma, or restore an older backup.")
    waiting = sum(len(steps) - len(done.get(name, [])) for name, steps in known.items() if name in done)
    told = f"{sum(map(len, done.values()))} migrations applied"
    yield Finding("tables", "ok", told + (f", {waiting} will be with the next start" if waiting > 0 else ""))


def check_journal(database: Database) -> Iterator[Finding]:
    with database.reading() as rows:
        if not _has_table(database, rows, "journal"):
            return
        verdict = verify.verify(rows)
    if verdict.problems:
        told = "; ".join(verdict.problems[:3])
        yield Finding("journal", "fail", f"{len(verdict.problems)} breaks in its chain: {told}", _RESTORE)
    else:
        yield Finding("journal", "ok", f"{verdict.entries} entries in {verdict.chains} strands, unbroken")


def check_keys(database: Database) -> Iterator[Finding]:
    with database.reading() as rows:
        if not _has_table(database, rows, "api_key"):
            return
        listed = keys.list_keys(rows)
    over = [key.name for key in listed if key.state == "expired"]
    active = sum(key.state == "active" for key in listed)
    if over:
        remedy = "; ".join(f"tokonoma keys revoke {name!r}" for name in over[:3])
        yield Finding("keys", "warn", f"{active} active; expired: {', '.join(over)}.", f"Make new ones, then: {remedy}")
    else:
        yield Finding("keys", "ok", f"{active} active" if listed else "none: HTTP is open to this machine alone")


def check_records(database: Database) -> Iterator[Finding]:
    with database.reading() as rows:
        if not _has_table(database, rows, "document"):
            return
        counts, old = counted(rows), count_outdated(rows)
    told = ", ".join(f"{count} in {module}" for module, count in sorted(counts.items()))
    if old:
        told += f"; {old} are indexed as an earlier version did it, and may be found less well"
        yield Finding("records", "warn", told, "Run `tokonoma reindex`; it can be done while servers run.")
    else:
        yield Finding("records", "ok", told or "none yet")


def _has_table(database: Database, rows: Rows, table: str) -> bool:
    return (table,) in rows.rows(database.dialect.tables)


def _choose_remedy(error: Refusal) -> str:
    return (
        _RESTORE
        if error.reason == "corrupt"
        else "See `tokonoma config show --origin` for where the address comes from."
    )
