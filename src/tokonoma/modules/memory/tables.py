"""The tables of memos and their relations, and the parts of SQL that several tools share."""

from collections.abc import Iterable

from tokonoma.core.module import Migration

# How many memos of each class lie directly in a namespace and stay there until somebody removes them. Those that expire
# are counted when it is asked for: time changes their number without a write. On SQLite triggers keep the numbers, so
# that no way of changing a memo can forget it; to count a million rows would take a second. On PostgreSQL, where savers
# would wait for each other at such a row, it is a view over an index.
_STAYS = "{0}.deleted_at is null and {0}.expires_at is null"
_ADD = """insert into memo_count (space, label, memos) values (new.space, new.label, 1)
        on conflict (space, label) do update set memos = memos + 1;"""
_SUBTRACT = """update memo_count set memos = memos - 1 where space = old.space and label = old.label;
        delete from memo_count where space = old.space and label = old.label and memos = 0;"""
_COUNT = """select space, label, count(*) as memos from memo
    where deleted_at is null and expires_at is null group by space, label"""
_COUNT_ON_SQLITE = (
    """create table memo_count (
        space text not null,
        label text not null,
        memos integer not null,
        primary key (space, label)
    )""",
    f"insert into memo_count (space, label, memos) {_COUNT}",
    f"create trigger memo_came after insert on memo when {_STAYS.format('new')} begin {_ADD} end",
    f"create trigger memo_went after delete on memo when {_STAYS.format('old')} begin {_SUBTRACT} end",
    # Two for a change, since a memo may begin or cease to be counted by it.
    f"""create trigger memo_left after update of space, label, deleted_at, expires_at on memo
    when {_STAYS.format("old")} begin {_SUBTRACT} end""",
    f"""create trigger memo_entered after update of space, label, deleted_at, expires_at on memo
    when {_STAYS.format("new")} begin {_ADD} end""",
)
_COUNT_ON_POSTGRESQL = (
    "create index memo_staying on memo (space, label) where deleted_at is null and expires_at is null",
    f"create view memo_count as {_COUNT}",
)

TABLES = (
    Migration(
        "001_memory",
        (
            """create table memo (
                id text not null primary key,
                space text not null,
                label text not null,
                title text not null,
                content text not null,
                metadata text not null,
                thread text not null,
                created_at {big} not null,
                updated_at {big} not null,
                expires_at {big},
                deleted_at {big},
                revision {big} not null
            )""",
            "create index memo_space on memo (space, updated_at)",
            "create index memo_recent on memo (updated_at)",
            """create table memo_relation (
                space text not null,
                source text not null references memo (id) on delete cascade,
                target text not null references memo (id) on delete cascade,
                tag text not null,
                label text not null,
                weight {real} not null,
                reason text not null,
                created_at {big} not null,
                updated_at {big} not null,
                revision {big} not null,
                primary key (space, source, target, tag)
            )""",
            "create index memo_relation_source on memo_relation (source, tag)",
            "create index memo_relation_target on memo_relation (target, tag)",
        ),
    ),
    Migration(
        "002_versions",
        (
            # Of the present version: when and by whom it was made, by which change, and what belongs to that change.
            "alter table memo add column version_at {big} not null default 0",
            "alter table memo add column author {text} not null default ''",
            "alter table memo add column change {text} not null default ''",
            "alter table memo add column detail {text} not null default ''",
            # Earlier versions. `space` follows the memo, for it decides who sees them; `place` is where it was then.
            """create table memo_version (
                id text not null references memo (id) on delete cascade,
                revision {big} not null,
                size {big} not null,
                space text not null,
                label text not null,
                place text not null,
                title text not null,
                content text not null,
                metadata text not null,
                thread text not null,
                created_at {big} not null,
                updated_at {big} not null,
                expires_at {big},
                deleted_at {big},
                version_at {big} not null,
                author {text} not null,
                change {text} not null,
                detail {text} not null,
                primary key (id, revision)
            )""",
        ),
    ),
    Migration(
        "003_relation_lists",
        ("create index memo_relation_tag on memo_relation (tag, space)",),
        # SQLite has this order in its primary key.
        postgresql=(
            """create index memo_relation_space on memo_relation
            (space {by_code_point}, source {by_code_point}, target {by_code_point}, tag {by_code_point})""",
        ),
    ),
    Migration(
        "004_validity",
        # When it happened, and from when until when it holds: as `normalize_date` writes it; empty: nobody said.
        # Which memos it replaces: their ids, joined by spaces.
        tuple(
            f"alter table {table} add column {column} {{text}} not null default ''"
            for table in ("memo", "memo_version")
            for column in ("date", "valid_from", "valid_until", "supersedes")
        ),
    ),
    Migration(
        "005_counts",
        (
            """create index memo_expiring on memo (space, label, expires_at)
            where deleted_at is null and expires_at is not null""",
            "create index memo_thread on memo (thread, created_at) where thread <> ''",
        ),
        sqlite=_COUNT_ON_SQLITE,
        postgresql=_COUNT_ON_POSTGRESQL,
    ),
)

RECORDS = frozenset({"memo", "memo_count", "memo_relation", "memo_version"})

COLUMNS = (
    "id, space, label, title, content, metadata, thread, created_at, updated_at, expires_at, deleted_at, revision, "
    "version_at, author, change, detail, date, valid_from, valid_until, supersedes"
)
RELATION_COLUMNS = "space, source, target, tag, label, weight, reason, created_at, updated_at, revision"

ALIVE = "deleted_at is null and (expires_at is null or expires_at > :now)"

# What holds at a moment; a last day is over when it ends, so it counts as the latest text that begins like it.
VALID = "(valid_from <= :valid_at and (valid_until = '' or valid_until || '~' >= :valid_at))"

# A namespace and those below it, compared letter by letter; its parameters come from `bind_namespace`.
INSIDE = "(:space = '/' or space = :space or substr(space, 1, cast(:length as integer)) = :below)"


def bind_namespace(namespace: str) -> dict[str, str | int]:
    return {"space": namespace, "below": f"{namespace}/", "length": len(namespace) + 1}


def bind_range(namespace: str) -> dict[str, str]:
    """Between these, by code point, are a namespace and those below it, with few others: what an index can find."""
    return {"first": namespace, "beyond": f"{namespace}0"}  # 0 is the letter after /


def bind_ids(ids: Iterable[str]) -> tuple[str, dict[str, str]]:
    """The inside of `in (…)` for these ids, and its parameters."""
    params = {f"id{number}": each for number, each in enumerate(ids)}
    return ", ".join(f":{name}" for name in params), params


def _build_upsert(table: str, columns: str, key: str) -> str:
    """A statement that inserts a row, or replaces all columns of the row that has the same key."""
    names = columns.split(", ")
    changed = ", ".join(f"{name} = excluded.{name}" for name in names if name not in key.split(", "))
    return f"""insert into {table} ({columns}) values ({", ".join(f":{name}" for name in names)})
    on conflict ({key}) do update set {changed}"""  # noqa: S608 - names of our own columns


PUT_MEMO = _build_upsert("memo", COLUMNS, "id")
PUT_RELATION = _build_upsert("memo_relation", RELATION_COLUMNS, "space, source, target, tag")
