"""The tables of memos and their relations, and the parts of SQL that several tools share."""

from collections.abc import Iterable

from tokonoma.core.module import Migration

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
)

RECORDS = frozenset({"memo", "memo_relation"})

COLUMNS = "id, space, label, title, content, metadata, thread, created_at, updated_at, expires_at, deleted_at, revision"
RELATION_COLUMNS = "space, source, target, tag, label, weight, reason, created_at, updated_at, revision"

ALIVE = "deleted_at is null and (expires_at is null or expires_at > :now)"

# A namespace and those below it, compared letter by letter; its parameters come from `bind_namespace`.
INSIDE = "(:space = '/' or space = :space or substr(space, 1, cast(:length as integer)) = :below)"


def bind_namespace(namespace: str) -> dict[str, str | int]:
    return {"space": namespace, "below": f"{namespace}/", "length": len(namespace) + 1}


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
