"""The tables of the servers behind modules, their accounts and their tools."""

from tokonoma.core.module import Migration

TABLES = (
    Migration(
        "001_upstream",
        (
            # `revision` counts every change: other processes look at nothing else.
            """create table upstream (
                name {text} not null primary key, kind text not null, command text not null, url text not null,
                details text not null, state text not null, problem text not null, output text not null,
                revision {big} not null, launch {big} not null, created_at {big} not null, approved_at {big}
            )""",
            """create table upstream_account (
                upstream {text} not null references upstream (name), name {text} not null, space {text} not null,
                account {text}, primary key (upstream, name, space)
            )""",
            """create table upstream_tool (
                upstream {text} not null references upstream (name), name {text} not null, short text not null,
                hash text not null, state text not null, effect text, entry text not null, seen text not null,
                seen_at {big} not null, primary key (upstream, name)
            )""",
        ),
    ),
)
