"""Migrations: named sets of ordered steps, each applied with its record in one transaction.

`migration(module, name, applied_at)` says what was done. Within a set, `applied_at` counts up strictly, so that it also
says in which order.
"""

from collections.abc import Callable, Mapping, Sequence

from tokonoma.core.clock import now
from tokonoma.core.desk import Rows, Statements
from tokonoma.core.errors import Unready
from tokonoma.core.log import log
from tokonoma.core.module import Migration
from tokonoma.store.database import Database

MIGRATION_TABLE = "migration"
MigrationSets = Mapping[str, Sequence[Migration]]

_CREATE = (
    "create table if not exists migration"
    " (module {text} not null, name {text} not null, applied_at {big} not null, primary key (module, name))"
)


def migrate(database: Database, name: str, steps: Sequence[Migration], backup: Callable[[str], None]) -> list[str]:
    """Apply the steps of the set `name` that are missing; their names. `backup` is called, with a word on why, before
    the first one that rewrites rows. Several processes may do this at once: each step is done by one of them."""
    with database.reading() as tx:
        done = read_applied(database, tx).get(name, [])
    check_order(name, steps, done)
    saved = False
    made: list[str] = []
    for step in steps[len(done) :]:
        with database.writing() as tx:
            if not _claim_step(database, tx, name, steps, step):
                continue
            # Inside the transaction, so that on SQLite nobody writes between the backup and the change.
            if step.rewrites and not saved and not _is_empty(database, tx):
                backup(f"{name}-{step.name}")
                saved = True
            _apply_step(database, tx, name, step)
        made.append(step.name)
        log("info", "store.migrated", set=name, step=step.name)
    return made


def read_applied(database: Database, tx: Rows) -> dict[str, list[str]]:
    """What was applied to a database: the names of each set, in their order."""
    if (MIGRATION_TABLE,) not in tx.rows(database.dialect.tables):
        return {}
    found: dict[str, list[str]] = {}
    for module, name in tx.rows("select module, name from migration order by module, applied_at, name"):
        found.setdefault(module, []).append(name)
    return found


def check_order(name: str, steps: Sequence[Migration], done: Sequence[str]) -> None:
    """Refuse a database that a newer program has changed, or that was changed in another order than ours."""
    known = [step.name for step in steps]
    assert len(set(known)) == len(known), f"the set {name} names a step twice"
    unknown = [each for each in done if each not in known]
    if unknown:
        raise Unready(
            f"The tables of `{name}` were changed by a newer version of Tokonoma (migration `{unknown[-1]}`)."
            " Install that version, or restore a backup that was made before with `tokonoma restore BACKUP`.",
            reason="newer_schema",
            set=name,
            migration=unknown[-1],
        )
    if list(done) != known[: len(done)]:
        first = next(have for have, want in zip(done, known, strict=False) if have != want)
        raise Unready(
            f"The migrations of `{name}` were applied in another order than this program knows: found {list(done)},"
            f" known {known}. If this is a plugin, install the version that made these tables.",
            reason="schema_order",
            set=name,
            migration=first,
        )


def _claim_step(database: Database, tx: Statements, name: str, steps: Sequence[Migration], step: Migration) -> bool:
    """Look again, now that nobody else can migrate: another process may have been quicker."""
    if database.dialect.migration_lock:
        tx.rows(database.dialect.migration_lock)
    tx.run(_CREATE)
    done = read_applied(database, tx).get(name, [])
    check_order(name, steps, done)
    return step.name not in done


def _apply_step(database: Database, tx: Statements, name: str, step: Migration) -> None:
    for statement in (*step.statements, *(step.sqlite if database.kind == "sqlite" else step.postgresql)):
        tx.run(statement)
    last = tx.row("select coalesce(max(applied_at), 0) from migration where module = :module", module=name)
    assert last is not None
    tx.run(
        "insert into migration (module, name, applied_at) values (:module, :name, :at)",
        module=name,
        name=step.name,
        at=max(now(), last[0] + 1),
    )


def _is_empty(database: Database, tx: Rows) -> bool:
    """No rows but the records of migrations."""
    tables = [row[0] for row in tx.rows(database.dialect.tables) if row[0] != MIGRATION_TABLE]
    return not any(tx.row(f"select 1 from {quote_name(table)} limit 1") for table in tables)  # noqa: S608 - our own names


def quote_name(name: str) -> str:
    """A name as SQL wants it, whatever it is made of."""
    return '"' + name.replace('"', '""') + '"'
