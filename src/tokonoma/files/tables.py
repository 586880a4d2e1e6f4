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
    # Whether something in the file is hidden from any caller: most files need not be searched for it again.
    Migration("004_is_masked", ("alter table vault_file add column is_masked integer not null default 1",)),
    Migration(
        "006_ledger",
        (
            # Canonical: which lines of a file a caller has read and cited, by its content.
            """create table file_ledger (
                principal text not null,
                module text not null,
                path {text} not null,
                version text not null,
                lines text not null,
                has_read text not null,
                has_cited text not null,
                has_changed text not null,
                parts text not null,
                tokens {big} not null,
                told_tokens {big} not null,
                at {big} not null,
                primary key (principal, module, path, version)
            )""",
            "create index file_ledger_lines on file_ledger (lines)",
            # The hashes of a content's lines, which tell after an edit what stayed.
            "create table file_lines (id text not null primary key, hashes {blob} not null)",
        ),
    ),
    # A front matter belongs to the first passage: every file is indexed again.
    Migration("006_front_matter", ("update vault_file set masks = ''",)),
    # Files that were not read are looked at again: some are text in another encoding, others have another reason.
    Migration("006_account", ("delete from vault_file where lines < 0",)),
    Migration(
        "007_prefixes",
        (
            # Canonical: versions that are the first bytes of a longer file, which the appends to a file share.
            """create table vault_prefix (
                version {text} not null primary key,
                stem {text} not null,
                size {big} not null
            )""",
            "create index vault_prefix_stem on vault_prefix (stem)",
        ),
    ),
)

RECORDS = frozenset({"vault_part"})
