"""The tables of keys, people, sessions and OAuth."""

from tokonoma.auth import api_keys
from tokonoma.core.module import Migration

_REACH = "root text not null, start text not null, modules text, mask text not null, extras text not null"

TABLES = (
    *api_keys.TABLES,
    Migration(
        "004_people",
        (
            # The owner is a person with the id `owner`, created when first needed.
            f"""create table person (
                id {{text}} not null primary key, name {{text}} not null unique, password {{blob}}, {_REACH},
                created_at {{big}} not null, revoked_at {{big}}
            )""",
            # Sessions, links and codes are stored as hashes: what is in the database opens nothing.
            """create table web_session (
                hash {blob} not null primary key, person {text} not null references person (id), csrf text not null,
                created_at {big} not null, used_at {big} not null, expires_at {big} not null,
                remote text, agent text
            )""",
            "create index web_session_person on web_session (person)",
            """create table web_ticket (
                hash {blob} not null primary key, person {text} not null references person (id),
                leads_to text not null, expires_at {big} not null, used_at {big}
            )""",
            f"create table profile (name {{text}} not null primary key, {_REACH}, created_at {{big}} not null)",
        ),
    ),
    Migration(
        "005_oauth",
        (
            # `kind`: registered (by itself), document (its id is the URL of its metadata) or known (shipped copy).
            """create table oauth_client (
                id {text} not null primary key, kind text not null, name text not null, secret {blob},
                document text not null, created_at {big} not null, used_at {big}, fetched_at {big}
            )""",
            # `name` is stable and unique, like `claude-code-2`: policy and journal know the grant as `client:NAME`.
            f"""create table oauth_grant (
                id {{text}} not null primary key, name {{text}} not null unique,
                client {{text}} not null, person {{text}} not null references person (id),
                resource text not null, scope text not null, {_REACH}, created_at {{big}} not null, used_at {{big}},
                remote text, reused {{big}} not null default 0, reused_at {{big}}, reused_remote text,
                revoked_at {{big}}
            )""",
            "create index oauth_grant_client on oauth_grant (client)",
            "create index oauth_grant_person on oauth_grant (person)",
            # `grant_id` is set when the code is used.
            f"""create table oauth_code (
                hash {{blob}} not null primary key, client {{text}} not null, redirect text not null,
                challenge text not null, resource text not null, scope text not null, person {{text}} not null,
                {_REACH}, expires_at {{big}} not null, grant_id {{text}}
            )""",
            """create table oauth_refresh (
                hash {blob} not null primary key, grant_id {text} not null references oauth_grant (id),
                expires_at {big} not null, used_at {big}, next {blob}
            )""",
            "create index oauth_refresh_grant on oauth_refresh (grant_id)",
            # The private key is sealed by the keyring.
            """create table signing_key (
                kid {text} not null primary key, key_id {text} not null, sealed {blob} not null, public text not null,
                created_at {big} not null, retired_at {big}
            )""",
        ),
    ),
    # What the session of a client watches, for all servers of this database: session_watches.py.
    Migration(
        "006_session_watch",
        (
            """create table session_watch (
                session {text} not null, uri {text} not null, mark text not null, expires_at {big} not null,
                primary key (session, uri)
            )""",
            "create index session_watch_expires on session_watch (expires_at)",
        ),
    ),
)
