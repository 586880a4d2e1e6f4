"""What is stored: whether it opens, is whole, is of a version that this program knows, and its chain holds."""

from collections.abc import Iterator, Mapping, Sequence

from tokonoma.app import App
from tokonoma.auth import api_keys as keys
from tokonoma.cli.backups import exists, known_tables
from tokonoma.cli.doctor.finding import Finding, found
from tokonoma.cli.doctor.meaning import vectors
from tokonoma.cli.where import shown
from tokonoma.core.desk import Rows
from tokonoma.core.errors import Refusal
from tokonoma.core.module import Migration
from tokonoma.journal import verify
from tokonoma.search.index import counts as counted
from tokonoma.search.index import outdated
from tokonoma.store.database import Database, open_database
from tokonoma.store.migrate import applied, check_order

_RESTORE = "End all servers, then bring back a backup: `tokonoma restore FILE`."


def stored(app: App) -> Iterator[Finding]:
    """Opened as it is: no migration is applied, and where there is no database none is made."""
    where = shown(app.database_url())
    if not exists(app):
        yield Finding("database", "ok", f"{where} is not created yet; the first call makes it.")
        return
    try:
        database = open_database(app.database_url())
    except Refusal as error:
        yield Finding("database", "fail", error.message, _remedy(error))
        return
    try:
        yield Finding("database", "ok", f"{where} opens ({database.kind}, {database.size()} bytes)")
        yield from found("integrity", lambda: integrity(database))
        yield from found("tables", lambda: tables(database, known_tables(app)))
        yield from found("journal", lambda: journal(database))
        yield from found("keys", lambda: expired(database))
        yield from found("records", lambda: records(database))
        yield from found("vectors", lambda: vectors(database, app.settings))
    finally:
        database.close()


def integrity(database: Database) -> Iterator[Finding]:
    problems = database.check()
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


def tables(database: Database, known: Mapping[str, Sequence[Migration]]) -> Iterator[Finding]:
    with database.reading() as rows:
        done = applied(database, rows)
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


def journal(database: Database) -> Iterator[Finding]:
    with database.reading() as rows:
        if not _has(database, rows, "journal"):
            return
        verdict = verify.verify(rows)
    if verdict.problems:
        told = "; ".join(verdict.problems[:3])
        yield Finding("journal", "fail", f"{len(verdict.problems)} breaks in its chain: {told}", _RESTORE)
    else:
        yield Finding("journal", "ok", f"{verdict.entries} entries in {verdict.strands} strands, unbroken")


def expired(database: Database) -> Iterator[Finding]:
    with database.reading() as rows:
        if not _has(database, rows, "api_key"):
            return
        listed = keys.listed(rows)
    over = [key["name"] for key in listed if key["state"] == "expired"]
    active = sum(key["state"] == "active" for key in listed)
    if over:
        remedy = "; ".join(f"tokonoma keys revoke {name!r}" for name in over[:3])
        yield Finding("keys", "warn", f"{active} active; expired: {', '.join(over)}.", f"Make new ones, then: {remedy}")
    else:
        yield Finding("keys", "ok", f"{active} active" if listed else "none: HTTP is open to this machine alone")


def records(database: Database) -> Iterator[Finding]:
    with database.reading() as rows:
        if not _has(database, rows, "document"):
            return
        counts, old = counted(rows), outdated(rows)
    told = ", ".join(f"{count} in {module}" for module, count in sorted(counts.items()))
    if old:
        told += f"; {old} are indexed as an earlier version did it, and may be found less well"
        yield Finding("records", "warn", told, "Run `tokonoma reindex`; it can be done while servers run.")
    else:
        yield Finding("records", "ok", told or "none yet")


def _has(database: Database, rows: Rows, table: str) -> bool:
    return (table,) in rows.rows(database.dialect.tables)


def _remedy(error: Refusal) -> str:
    return (
        _RESTORE
        if error.reason == "corrupt"
        else "See `tokonoma config show --origin` for where the address comes from."
    )
