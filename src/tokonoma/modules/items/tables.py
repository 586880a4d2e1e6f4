"""The tables of items, their tags, links and history, and of the current state."""

from tokonoma.core.module import Migration

TABLES = (
    Migration(
        "001_items",
        (
            # `uid` identifies an item across servers, whose numbers may be equal. `tags` is their list in order;
            # item_tag leads from a tag to its items. `priority` counts from the most urgent.
            """create table item (
                id {identity},
                uid {text} not null unique,
                space text not null,
                label text not null,
                type {text} not null,
                title {text} not null,
                description text not null,
                content text not null,
                status text not null,
                priority integer not null,
                state integer not null,
                category {text} not null,
                start_at {big},
                end_at {big},
                version text not null,
                tags text not null,
                created_at {big} not null,
                updated_at {big} not null,
                deleted_at {big},
                created_by text not null,
                updated_by text not null,
                revision {big} not null
            )""",
            "create index item_state on item (state, type, updated_at, id)",
            "create index item_recent on item (updated_at, id)",
            "create index item_type on item (type, updated_at, id)",
            # Addresses in the order of their letters: a reindex reads them so.
            "create index item_name on item ((cast(id as text)))",
            """create table item_tag (
                tag {text} not null,
                item_id {big} not null references item (id) on delete cascade,
                primary key (tag, item_id)
            )""",
            "create index item_tag_item on item_tag (item_id)",
            # Both ends have a row: all links of an item are found by its id alone.
            """create table item_link (
                item_id {big} not null references item (id) on delete cascade,
                other_id {big} not null references item (id) on delete cascade,
                kind text not null,
                primary key (item_id, other_id, kind)
            )""",
            # Links to other modules' records. Whether those still exist is checked when they are read.
            """create table item_reference (
                item_id {big} not null references item (id) on delete cascade,
                address {text} not null,
                primary key (item_id, address)
            )""",
            # An item that changed its type is still found under the old one.
            """create table item_alias (
                item_id {big} not null references item (id) on delete cascade,
                type {text} not null,
                primary key (item_id, type)
            )""",
            """create table item_change (
                id {identity},
                item_id {big} not null references item (id) on delete cascade,
                revision {big} not null,
                at {big} not null,
                action text not null,
                principal text not null,
                transport text not null,
                tool text not null,
                request_id text not null,
                changes text not null
            )""",
            "create index item_change_item on item_change (item_id, id)",
            # Completions: each place where a word begins, normalized.
            """create table item_hint (
                folded {text} not null,
                item_id {big} not null references item (id) on delete cascade,
                kind text not null,
                shown text not null
            )""",
            "create index item_hint_folded on item_hint (folded, item_id)",
            "create index item_hint_item on item_hint (item_id)",
            """create table current_state (
                id {identity},
                space text not null,
                label text not null,
                revision {big} not null,
                content text not null,
                updated_by text not null,
                related text not null,
                tags text not null,
                at {big} not null,
                unique (space, revision)
            )""",
        ),
    ),
    Migration(
        "002_numbers",
        (
            # A call that changes links locks its one row first: then the items that the change touches stay the same,
            # and can be locked in one order.
            "create table item_gate (id integer primary key)",
            "insert into item_gate (id) values (1)",
        ),
        # Imported items keep their numbers. SQLite continues after the greatest one without help.
        postgresql=(
            """create function item_number() returns trigger language plpgsql as $body$
            declare counter regclass := pg_get_serial_sequence('item', 'id')::regclass;
            begin
                if new.id > coalesce(pg_sequence_last_value(counter), 0) then
                    perform setval(counter, new.id);
                end if;
                return null;
            end $body$""",
            "create trigger item_number after insert on item for each row execute function item_number()",
        ),
    ),
    Migration(
        "003_tracker",
        (
            "alter table item add column assignee {text} not null default ''",
            # Until then nobody else can claim it; null: until it is released.
            "alter table item add column claimed_until {big}",
            # A list of {at, by, text}, oldest first: in the row, so that they have the item's class and are searched.
            "alter table item add column comments text not null default '[]'",
            "create index item_assignee on item (assignee, state) where assignee <> ''",
            # Tags are the same whatever their case. Old rows of other alphabets are found as they are written.
            "alter table item_tag add column folded {text} not null default ''",
            "update item_tag set folded = lower(tag)",
            "create index item_tag_folded on item_tag (folded, item_id)",
            # Which short sequences of characters a text may hold (see exact.py). No row: any.
            """create table item_gram (
                item_id {big} primary key references item (id) on delete cascade,
                grams {blob} not null
            )""",
            # What a text names: an address, or a title in [[brackets]]. An item that comes later is linked then.
            """create table item_mention (
                item_id {big} not null references item (id) on delete cascade,
                name {text} not null,
                primary key (item_id, name)
            )""",
            "create index item_mention_name on item_mention (name)",
        ),
        rewrites=True,
    ),
)

RECORDS = frozenset({"item", "current_state"})

COLUMNS = (
    "tags, id, uid, space, label, type, title, description, content, status, priority, state, category, start_at,"
    " end_at, version, created_at, updated_at, deleted_at, created_by, updated_by, revision, assignee, claimed_until,"
    " comments"
)
COLUMN_NAMES = COLUMNS.split(", ")
# A list shows no texts, which are most of an item.
SUMMARY_COLUMNS = COLUMNS.replace("description, content,", "'' as description, '' as content,").replace(
    "comments", "'[]' as comments"
)
