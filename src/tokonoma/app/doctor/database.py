"""Checks of the data: the database and what is in it, the plugins, the embedding model."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

from tokonoma.app import App
from tokonoma.app.doctor.files import check_backups, check_files
from tokonoma.app.doctor.keys import check_keyring, check_keys
from tokonoma.app.doctor.machine import Finding, run_check
from tokonoma.app.doctor.oauth import check_oauth
from tokonoma.app.doctor.policy import check_policy
from tokonoma.app.doctor.servers import check_servers
from tokonoma.app.places import database_exists, find_file_roots, load_known_tables, redact_database_url
from tokonoma.app.schema import explain_downgrade
from tokonoma.app.search import build_model_config, build_provider_access
from tokonoma.app.store import find_heads_file
from tokonoma.catalogue.plugins import plugins_file, read_plugins
from tokonoma.catalogue.plugins.enable import find_problem, list_offers
from tokonoma.config.settings import Settings
from tokonoma.core import clock
from tokonoma.core.desk import Rows
from tokonoma.core.embedding import StoredModel
from tokonoma.core.errors import Refusal, Unready
from tokonoma.core.network import is_loopback
from tokonoma.core.printable import pluralize
from tokonoma.embed import queue
from tokonoma.embed.active_model import ADVICE, explain_difference, is_update, parse_config
from tokonoma.embed.builtin import BuiltinEmbedder
from tokonoma.embed.embedder import PROBE
from tokonoma.embed.models import ModelConfig, build_embedder
from tokonoma.journal.gap import find_gap
from tokonoma.journal.heads import read_heads
from tokonoma.journal.verify import verify
from tokonoma.modules.manual.sounds import EXTRA, is_installed
from tokonoma.search.index import count_by_module, count_outdated
from tokonoma.search.vectors.store import PgvectorExtension, count_by_model, find_extension
from tokonoma.store.database import Database, open_database
from tokonoma.store.migrate import check_order, read_applied

_TIMEOUT = 5.0
_READS_ALL = frozenset({"integrity", "journal", "files"})  # every page, every entry, every file
_SAME_TIME = 2_000  # milliseconds that clocks of several machines may differ
_RESTORE = (
    "Stop all servers, then restore a backup: `tokonoma restore FILE`."
    " Without one, read what is left: `tokonoma recover FOLDER`."
)
_DAMAGED = f"{_RESTORE} `tokonoma accept` goes on with the data as it is."
_ADD_CHECKSUMS = {
    "sqlite": "Stop all servers, then start one: it adds them. The SQLite driver must be the one from PyPI.",
    "postgresql": "Stop the PostgreSQL server and run `pg_checksums --enable` on its data.",
}


def check_database(app: App, *, thorough: bool = True) -> Iterator[Finding]:
    """Check the database as it is: no migration is applied, and no database is created."""
    where = redact_database_url(app.database_url())
    if not database_exists(app):
        yield Finding("database", "ok", f"{where} does not exist yet; the first call creates it.")
        return
    try:
        database = open_database(app.database_url())
    except Refusal as error:
        elsewhere = "`tokonoma config show --origin` shows where the address comes from."
        says = f"{where}: {error.message}" if error.reason == "database" else error.message  # errors do not say where
        yield Finding("database", "fail", says, _RESTORE if error.reason == "corrupt" else elsewhere)
        return
    try:
        yield Finding("database", "ok", f"{where} opens ({database.kind}, {database.size()} bytes)")
        for name, check in _list_checks(app, database):
            if thorough or name not in _READS_ALL:
                yield from run_check(name, check)
    finally:
        database.close()


def _list_checks(app: App, database: Database) -> list[tuple[str, Callable[[], Iterable[Finding]]]]:
    roots, days = find_file_roots(app), app.settings.get_int("trash_days")
    return [
        ("integrity", lambda: check_integrity(database)),
        ("tables", lambda: check_tables(database, app.home)),
        ("journal", lambda: check_journal(database)),
        ("heads", lambda: check_heads(database, find_heads_file(app.home, database))),
        ("clock", lambda: check_clock(database)),
        ("keys", lambda: check_keys(database)),
        ("keyring", lambda: check_keyring(app, database)),
        ("oauth", lambda: check_oauth(app, database)),
        ("servers", lambda: check_servers(app, database)),
        ("records", lambda: [*check_records(database), *check_policy(database)]),
        ("vectors", lambda: check_vectors(database, app.settings)),
        ("files", lambda: check_files(database, roots, days)),
        ("backups", lambda: check_backups(app.home / "backups", roots)),
    ]


def check_integrity(database: Database) -> Iterator[Finding]:
    problems = database.find_problems()
    if problems:
        more = f" and {len(problems) - 3} more" if len(problems) > 3 else ""
        yield Finding("integrity", "fail", "; ".join(problems[:3]) + more, _DAMAGED)
    elif not database.has_checksums():
        says = "no problem was found, but pages have no checksums: a changed bit would not be noticed"
        yield Finding("integrity", "warn", says, _ADD_CHECKSUMS[database.kind])
    elif database.kind == "sqlite":
        yield Finding("integrity", "ok", "all pages, their checksums and all indexes are intact")
    else:
        yield Finding("integrity", "ok", "all indexes are intact, and the server has found no wrong checksum")


def check_tables(database: Database, home: Path) -> Iterator[Finding]:
    known = load_known_tables(home)
    with database.reading() as rows:
        done = read_applied(database, rows)
    for name, names in done.items():
        if name not in known:
            says = f"the tables of {name!r} are kept; this module is not enabled here"
            yield Finding("tables", "ok", says, f"To use them again: `tokonoma plugins enable {name}`.")
            continue
        try:
            check_order(name, known[name], names)
        except Unready as error:
            told = explain_downgrade(error, home, database.kind) if error.reason == "newer_schema" else error
            yield Finding("tables", "fail", told.message, "`tokonoma version` shows both versions of the tables.")
    waiting = sum(len(steps) - len(done.get(name, [])) for name, steps in known.items() if name in done)
    says = f"{sum(map(len, done.values()))} migrations applied"
    yield Finding("tables", "ok", says + (f", {waiting} pending until the next start" if waiting > 0 else ""))


def check_journal(database: Database) -> Iterator[Finding]:
    with database.reading() as rows:
        if not _has_table(database, rows, "journal"):
            return
        result = verify(rows)
    if result.problems:
        first = "; ".join(result.problems[:3])
        yield Finding("journal", "fail", f"{len(result.problems)} breaks in the chain: {first}", _RESTORE)
    else:
        yield Finding("journal", "ok", f"{result.entries} entries in {pluralize(result.chains, 'chain')}, unbroken")


def check_heads(database: Database, path: Path) -> Iterator[Finding]:
    """Compare what was noted outside the database with the journal."""
    noted = read_heads(path)
    with database.reading() as rows:
        gap = find_gap(rows, noted.entries) if _has_table(database, rows, "journal") else None
    if gap is not None:
        yield Finding("heads", "fail", gap.describe(), _DAMAGED)
    elif noted.damaged:
        says = f"{noted.damaged} lines of {path} cannot be read; the database has all calls that the others name"
        yield Finding("heads", "warn", says, "Check the disk. The file is written anew as calls come in.")
    elif noted.entries:
        yield Finding("heads", "ok", f"the database has every call that {path.name} names")


def check_records(database: Database) -> Iterator[Finding]:
    with database.reading() as rows:
        if not _has_table(database, rows, "document"):
            return
        counts, old = count_by_module(rows), count_outdated(rows)
    says = ", ".join(f"{count} in {module}" for module, count in sorted(counts.items()))
    if old:
        says += f"; {old} were indexed by an earlier version and may be found less well"
        yield Finding("records", "warn", says, "Run `tokonoma reindex`; servers can keep running.")
    else:
        yield Finding("records", "ok", says or "none yet")


def _has_table(database: Database, rows: Rows, table: str) -> bool:
    return (table,) in rows.rows(database.dialect.tables)


def check_plugins(home: Path) -> Iterator[Finding]:
    try:
        enabled = read_plugins(home)
    except Unready:
        remedy = f"Delete {plugins_file(home)}, then run `tokonoma plugins enable NAME` for each plugin."
        yield Finding("plugins", "fail", f"{plugins_file(home)} is damaged: no plugin is loaded.", remedy)
        return
    if not enabled:
        yield Finding("plugins", "ok", "none enabled")
        return
    offers = list_offers()
    for info in enabled:
        problem, remedy = find_problem(info, offers)
        if problem:
            yield Finding("plugins", "fail", f"{info.name}: {problem}", remedy)
        else:
            yield Finding("plugins", "ok", f"{info.name}: {len(info.entries)} tools, unchanged since it was enabled")


def check_embedding(settings: Settings) -> Iterator[Finding]:
    """Check that the model returns a vector."""
    access = build_provider_access(settings)
    embedder = build_embedder(build_model_config(settings), access)
    if embedder is None:
        remedy = "To also search by meaning, set embed_provider = builtin, or another provider and its embed_model."
        yield Finding("embedding", "ok", "no model: search by words only", remedy)
        return
    for endpoint in access.endpoints:
        parts = urlsplit(endpoint.url)
        if endpoint.key and parts.scheme == "http" and not is_loopback(parts.hostname or ""):
            yield Finding("embedding", "warn", f"The key of {endpoint.display_url} is sent unencrypted.", "Use https.")
    try:
        size = embedder.embed([PROBE], "document", _TIMEOUT).shape[1]
    except Refusal as error:
        remedy = "Records are stored and found by words; they are embedded when the model answers."
        yield Finding("embedding", "warn", error.message, remedy)
    else:
        where = " inside this program" if isinstance(embedder, BuiltinEmbedder) else ""
        yield Finding("embedding", "ok", f"{embedder.model} answers{where} with {size} numbers per vector")
    finally:
        embedder.close()


def check_readings() -> Iterator[Finding]:
    """Check whether Japanese words are also found by their reading."""
    if is_installed():
        yield Finding("readings", "ok", "Sudachi: words in manuals are also found by reading (見積 as みつもり)")
    else:
        remedy = f"To also find Japanese words in manuals by their reading: pip install 'tokonoma[{EXTRA}]' (200 MB)."
        yield Finding("readings", "ok", "Sudachi is not installed: spelling variants are found by rules", remedy)


def check_vectors(database: Database, settings: Settings) -> Iterator[Finding]:
    """Which model makes the vectors of this database, whether this process can use it, and what is still to be made."""
    config = build_model_config(settings)
    with database.reading() as rows:
        if not _has_table(database, rows, "embedding_queue"):
            return
        waiting, failed = queue.count_waiting(rows), queue.count_failed(rows)
        stuck = rows.rows("select problem, count(*) from embedding_queue where problem <> '' group by problem limit 3")
        models = count_by_model(rows)
    active = next((model for model, _, _ in models if model.current), None)
    if config.provider == "none":
        if active is not None:
            yield Finding("vectors", "ok", f"those of {active.name} are not used here: embed_provider is none")
        return
    if active is not None and active.name != config.name and not is_update(config, active):
        yield _compare_models(config, active, settings)
    for model, made, unqueued in models:
        if not model.current:
            yield Finding("vectors", "ok", f"{model.name}: {made} made; used until those of the new model are complete")
            continue
        says = f"{model.name}: {made} made, {waiting - failed + unqueued} waiting, {failed} failed"
        yield Finding("vectors", "warn" if stuck else "ok", "; ".join([says, *(row[0] for row in stuck)]))
    if active is None:
        yield Finding("vectors", "ok", f"none yet; {waiting} records are waiting to be embedded")
    if database.kind == "postgresql":
        yield from _check_pgvector(database)


def _compare_models(config: ModelConfig, active: StoredModel, settings: Settings) -> Finding:
    says = explain_difference(config, active)
    try:
        embedder = build_embedder(parse_config(active), build_provider_access(settings))
    except Refusal as error:
        return Finding("vectors", "warn", f"{says} Search here is by words alone: {error.message}", ADVICE)
    if embedder is not None:
        embedder.close()
    return Finding("vectors", "warn", f"{says} That of the database is used.", ADVICE)


def check_clock(database: Database) -> Iterator[Finding]:
    """The server's time never goes back: see core/clock.py."""
    with database.reading() as rows:
        if not _has_table(database, rows, "journal"):
            return
        row = rows.row("select max(at) from journal")
    ahead = 0 if row is None or row[0] is None else row[0] - clock.read_nanoseconds() // 1_000_000
    newest = "" if row is None or row[0] is None else clock.format_time(row[0])
    if ahead <= _SAME_TIME:
        yield Finding("clock", "ok", "not behind the newest entry of the journal")
    elif ahead <= clock.MOST_BEHIND:
        says = f"is {ahead // 1000} s behind the newest entry of the journal ({newest})."
        remedy = (
            "Check the machine's clock. Servers go on from the later time at half speed until the clock has caught up:"
            " what has expired stays expired."
        )
        yield Finding("clock", "warn", says, remedy)
    else:
        says = f"is {ahead // 86_400_000} days behind the newest entry of the journal ({newest})."
        remedy = (
            "If the clock is wrong now, set it: keys and memos that have expired are valid again until then. If it was"
            " wrong when that entry was written, nothing needs to be done."
        )
        yield Finding("clock", "warn", says, remedy)


def _check_pgvector(database: Database) -> Iterator[Finding]:
    with database.reading() as rows:
        found = find_extension(rows)
    if isinstance(found, PgvectorExtension):
        yield Finding("pgvector", "ok", f"version {found.version // 1000}.{found.version % 1000}")
    elif found == "offered":
        remedy = "Run as a user with the right to do so: create extension vector"
        yield Finding("pgvector", "warn", "is installed on the server, but not in this database.", remedy)
    else:
        remedy = "Install pgvector on the server. Until then search compares every vector, which is slow."
        yield Finding("pgvector", "warn", "is not installed on the server.", remedy)
