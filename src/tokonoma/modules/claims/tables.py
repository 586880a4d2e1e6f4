"""The truth about claims: what was said, from where it is known, whether it helped, and what was made of it."""

from tokonoma.core.module import Migration

TABLES = (
    Migration(
        "001_claims",
        (
            """create table claim (
                id text not null primary key,
                space text not null,
                label text not null,
                class text not null,
                scope text not null,
                kind text not null,
                text text not null,
                hash text not null,
                provenance text not null,
                created_at {big} not null,
                updated_at {big} not null,
                anchor_at {big} not null,
                expires_at {big},
                utility {real} not null,
                confidence {real} not null,
                quality {real} not null,
                superseded_by text,
                forgotten_at {big},
                revision {big} not null
            )""",
            # The same text in another scope or class is another claim; a forgotten one may be said again.
            "create unique index claim_hash on claim (hash, space, scope, class) where forgotten_at is null",
            "create index claim_space on claim (space, created_at)",
            "create index claim_created on claim (created_at, id)",
            """create table claim_evidence (
                id text not null primary key,
                claim text not null references claim (id) on delete cascade,
                space text not null,
                label text not null,
                source_type text not null,
                source_id text not null,
                snippet text not null,
                at {big} not null
            )""",
            "create unique index claim_evidence_source on claim_evidence (claim, source_type, source_id)",
            """create table claim_entity (
                claim text not null references claim (id) on delete cascade,
                id text not null,
                space text not null,
                label text not null,
                type text not null,
                name text not null,
                canonical_key text not null,
                attrs text not null,
                primary key (claim, id)
            )""",
            "create index claim_entity_key on claim_entity (space, canonical_key)",
            """create table claim_relation (
                claim text not null references claim (id) on delete cascade,
                id text not null,
                space text not null,
                label text not null,
                src_id text not null,
                dst_id text not null,
                type text not null,
                props text not null,
                evidence_claim_id text not null,
                primary key (claim, id)
            )""",
            """create table claim_event (
                claim text not null references claim (id) on delete cascade,
                revision {big} not null,
                space text not null,
                label text not null,
                at {big} not null,
                what text not null,
                by text not null,
                details text not null,
                primary key (claim, revision)
            )""",
            """create table claim_feedback (
                claim text not null references claim (id) on delete cascade,
                caller text not null,
                signal text not null,
                bucket {big} not null,
                primary key (claim, caller, signal, bucket)
            )""",
            """create table active_context (
                id text not null primary key,
                caller text not null,
                created_at {big} not null,
                expires_at {big},
                policy_version text not null,
                scopes text not null,
                tags text not null,
                claims text not null
            )""",
            "create index active_context_expires on active_context (expires_at)",
        ),
    ),
    Migration(
        "002_use",
        (
            "alter table claim_feedback add column score {real} not null default 1",
            # `node`: the same thing in all claims that name it; `folded`: what a search compares.
            "alter table claim_entity add column node {text} not null default ''",
            "alter table claim_entity add column folded text not null default ''",
            """update claim_entity set folded = lower(name || ' ' || canonical_key || ' ' || id),
                node = case when canonical_key <> '' then canonical_key else type || ':' || lower(name) end""",
            "create index claim_entity_node on claim_entity (node)",
            "create index claim_entity_id on claim_entity (space, id)",
            "create index claim_relation_src on claim_relation (space, src_id)",
            "create index claim_relation_dst on claim_relation (space, dst_id)",
        ),
        rewrites=True,
        # A claim's age counts from when it was known, unless feedback has moved it.
        sqlite=(
            """update claim set anchor_at
                = min(created_at, cast(strftime('%s', json_extract(provenance, '$.at')) as integer) * 1000)
            where anchor_at = created_at and strftime('%s', json_extract(provenance, '$.at')) is not null""",
        ),
        postgresql=(
            """update claim set anchor_at = least(created_at, cast(extract(epoch from
                cast(cast(provenance as json) ->> 'at' as timestamptz)) * 1000 as bigint))
            where anchor_at = created_at and cast(provenance as json) ->> 'at' is not null""",
        ),
    ),
)

RECORDS = frozenset({"claim", "claim_evidence", "claim_entity", "claim_relation", "claim_event"})

COLUMNS = (
    "id, space, label, class, scope, kind, text, hash, provenance, created_at, updated_at, anchor_at, expires_at,"
    " utility, confidence, quality, superseded_by, forgotten_at, revision"
)

ALIVE = "forgotten_at is null and (expires_at is null or expires_at > :now)"
