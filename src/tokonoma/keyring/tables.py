"""The tables of the keyring and of the accounts."""

from tokonoma.core.module import Migration

TABLES = (
    Migration(
        "001_keyring",
        (
            # One row, which a transaction locks: shared to seal something, alone to change keys.
            "create table keyring_lock (id integer not null primary key)",
            "insert into keyring_lock (id) values (1)",
            """create table keyring_key (
                id {text} not null primary key, wrapped {blob} not null, master text not null,
                created_at {big} not null, retired_at {big}
            )""",
            """create table account (
                id {text} not null primary key, provider text not null, name text not null, space text not null,
                kind text not null, who text not null, details text not null, scopes text not null,
                state text not null, problem text not null, expires_at {big}, generation {big} not null,
                lease text, lease_until {big}, created_at {big} not null, refreshed_at {big},
                unique (provider, space, name)
            )""",
            """create table account_secret (
                account {text} not null references account (id), field {text} not null,
                key_id {text} not null references keyring_key (id), sealed {blob} not null,
                primary key (account, field)
            )""",
            "create index account_secret_key on account_secret (key_id)",
            """create table account_default (
                space {text} not null, module {text} not null, account {text} not null references account (id),
                primary key (space, module)
            )""",
            "create index account_default_account on account_default (account)",
        ),
    ),
    Migration(
        "002_sign_in",
        (
            # Consents under way through a server. `id` is a hash: the state itself is stored nowhere.
            """create table sign_in (
                id {text} not null primary key, provider text not null, expires_at {big} not null, answer {blob}
            )""",
        ),
    ),
    # What a page needs to finish a consent: no process waits for it.
    Migration("003_sign_in_draft", ("alter table sign_in add column draft {blob}",)),
    Migration("004_use", ("alter table account add column used_at {big}",)),
)
