"""The truth about memos and their relations."""

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

ALIVE = "deleted_at is null and (expires_at is null or expires_at > :now)"
