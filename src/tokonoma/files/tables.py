"""What the store knows of the vault's files: what they were when last looked at, and what was done to them."""

from tokonoma.core.module import Migration

TABLES = (
    Migration(
        "001_vault_files",
        (
            # Derived: what a file was when it was last looked at.
            """create table vault_file (
                path {text} not null primary key,
                size {big} not null,
                mtime {big} not null,
                ctime {big} not null,
                inode {big} not null,
                version text not null,
                lines {big} not null,
                looked_at {big} not null
            )""",
            # Derived: the pieces of it that the index holds, each with its class.
            """create table vault_part (
                address {text} not null primary key,
                path {text} not null,
                space text not null,
                label text not null
            )""",
            "create index vault_part_path on vault_part (path)",
            # Canonical: every change, before it is made. `before` names the version that is kept.
            """create table vault_change (
                id {text} not null primary key,
                at {big} not null,
                principal text not null,
                action text not null,
                path {text} not null,
                origin text not null,
                before text not null,
                before_size {big} not null,
                after text not null,
                after_size {big} not null,
                state text not null
            )""",
            "create index vault_change_path on vault_change (path, id)",
            "create index vault_change_state on vault_change (state)",
        ),
    ),
    Migration(
        "002_vault_class",
        (
            # Canonical: what was copied from a record of a stricter class is of that class, whatever is found in it.
            """create table vault_class (
                path {text} not null primary key,
                label text not null
            )""",
        ),
    ),
    # The `masks_key` of the policy that a file was indexed with.
    Migration("003_masks", ("alter table vault_file add column masks {text} not null default ''",)),
)

RECORDS = frozenset({"vault_part"})
