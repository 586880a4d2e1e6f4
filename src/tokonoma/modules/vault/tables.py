"""What the vault remembers beside its files: what searches found, and figures."""

from tokonoma.core.module import Migration

TABLES = (
    Migration(
        "001_vault",
        (
            """create table vault_ledger (
                principal text not null,
                path {text} not null,
                version text not null,
                has_read text not null,
                has_cited text not null,
                tokens {big} not null,
                told_tokens {big} not null,
                at {big} not null,
                primary key (principal, path, version)
            )""",
            # What a search found: places and figures, no text of a file.
            """create table vault_trail (
                id {text} not null primary key,
                principal text not null,
                at {big} not null,
                found text not null,
                unscanned text not null
            )""",
            "create index vault_trail_at on vault_trail (at)",
            """create table vault_gain (
                at {big} not null,
                tool text not null,
                evidence {big} not null,
                tokens {big} not null,
                gain {real} not null
            )""",
            "create index vault_gain_at on vault_gain (at)",
        ),
    ),
    Migration("002_trails", ("delete from vault_trail",)),  # stored in another form; they expire in half an hour
    # The log of the vault and of manuals is one: see files/ledger.py.
    Migration(
        "003_ledgers",
        (
            """insert into file_ledger select principal, 'vault', path, version, '', has_read, has_cited, '[]', '[]',
                tokens, told_tokens, at from vault_ledger""",
            "drop table vault_ledger",
        ),
    ),
    # The figures that vault_find returned.
    Migration("004_summaries", ("alter table vault_trail add column summary text not null default 'null'",)),
)
