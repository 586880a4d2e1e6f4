"""Migrations: named sets of ordered steps, each applied with its record in one transaction.

The table `migration(module, name, applied_at)` holds the records. Within a set `applied_at` increases strictly, so that
it is also the order.
"""

from collections.abc import Callable, Mapping, Sequence

from tokonoma.core.clock import now
from tokonoma.core.desk import Row, Rows, Statements
from tokonoma.core.errors import Unready
from tokonoma.core.log import log
from tokonoma.core.module import Migration
from tokonoma.store.database import Database

MIGRATION_TABLE = "migration"
MigrationSets = Mapping[str, Sequence[Migration]]

CREATE_TABLE = (
    "create table if not exists migration"
    " (module {text} not null, name {text} not null, applied_at {big} not null, primary key (module, name))"
)


def migrate(database: Database, name: str, steps: Sequence[Migration], backup: Callable[[str], None]) -> list[str]:
    """Apply the missing steps of the set `name`; their names. `backup(reason)` is called before the first step that
    rewrites rows. Several processes may do this in parallel: each step is done by one of them."""
    with database.reading() as tx:
        done = read_applied(database, tx).get(name, [])
    check_order(name, steps, done)
    saved = False
    applied: list[str] = []
    for step in steps[len(done) :]:
        with database.writing() as tx:
            if not _claim_step(database, tx, name, steps, step):
                continue
            # Inside the transaction, so that on SQLite no other process writes between the backup and the change.
            # Tables that are made now hold no rows yet.
            if step.rewrites and done and not saved and not _is_empty(database, tx):
                backup(f"{name}-{step.name}")
                saved = True
            _apply_step(database, tx, name, step)
        applied.append(step.name)
        # Tables of a new database are no news; a change of tables that were there is.
        log("info" if done else "debug", "store.migrated", set=name, step=step.name)
    return applied


def read_applied(database: Database, tx: Rows) -> dict[str, list[str]]:
    """What was applied to a database: the names of each set, in their order."""
    return group_migrations(tx.rows) if (MIGRATION_TABLE,) in tx.rows(database.dialect.tables) else {}


def group_migrations(rows: Callable[[str], Sequence[Row]]) -> dict[str, list[str]]:
    """The rows of the table `migration`: the names of each set, in their order."""
    found: dict[str, list[str]] = {}
    for module, name in rows("select module, name from migration order by module, applied_at, name"):
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
    """Check again with the lock: another process may have applied the step."""
    if database.dialect.migration_lock:
        tx.rows(database.dialect.migration_lock)
    tx.run(CREATE_TABLE)
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
    """Whether there are no rows except the records of migrations."""
    tables = [row[0] for row in tx.rows(database.dialect.tables) if row[0] != MIGRATION_TABLE]
    return not any(tx.row(f"select 1 from {quote_name(table)} limit 1") for table in tables)  # noqa: S608 - our own names


def quote_name(name: str) -> str:
    """An SQL identifier, for any name."""
    return '"' + name.replace('"', '""') + '"'
