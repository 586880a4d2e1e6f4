"""What a home remembers of its records and of other homes, so that it can tell which side has changed what."""

from tokonoma.core.module import Migration

TABLES = (
    Migration(
        "001_sync",
        (
            # The record as it was when this home last looked: its version, a hash of its fields, its revision here.
            # `gone`: it was removed for good.
            """create table sync_record (
                kind {text} not null,
                name {text} not null,
                version text not null,
                digest text not null,
                revision {big} not null,
                at {big} not null,
                boundary text not null,
                gone {big} not null,
                primary key (kind, name)
            )""",
            # Bodies of versions that may be the base of a merge to come.
            """create table sync_base (
                kind {text} not null,
                name {text} not null,
                version {text} not null,
                at {big} not null,
                body {blob} not null,
                primary key (kind, name, version)
            )""",
            # What could not be merged, until it is settled.
            """create table sync_conflict (
                kind {text} not null,
                name {text} not null,
                copy {text} not null,
                at {big} not null,
                clashes text not null,
                body {blob} not null,
                primary key (kind, name, copy)
            )""",
            # The id of this home, and the marks of the files that it has written.
            "create table sync_mark (name {text} not null primary key, at {big} not null)",
        ),
    ),
)
