"""The rows of items: finding and locking them, and writing one together with its history, tags, hints and document."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from tokonoma.core.desk import Desk, Rows, Tx
from tokonoma.core.errors import Missing
from tokonoma.core.masks import NO_MASKS, RecordMasks
from tokonoma.modules.items.exact import build_grams
from tokonoma.modules.items.hints import build_hints
from tokonoma.modules.items.mentions import link_mentions, link_waiting
from tokonoma.modules.items.model import CLOSED, MODULE_NAME, TRASH, Item, fold_tag, to_document, to_item, to_row
from tokonoma.modules.items.tables import COLUMN_NAMES, COLUMNS, SUMMARY_COLUMNS

_MAX_ID = 2**63

_ITEM = f"select {COLUMNS} from item where id = :id and state >= :least and {{visible}}"  # noqa: S608 - our own columns
_LIVING = "select {columns} from item where id in ({{numbers}}) and state >= 0 and {{visible}}"
_ALIAS = "select 1 from item_alias where item_id = :id and type = :type"
_LOCK = "select id from item where id in ({numbers}) and {visible} order by id {for_update}"
_NEW = [name for name in COLUMN_NAMES if name != "id"]
_INSERT = f"""insert into item ({", ".join(_NEW)}) values ({", ".join(f":{name}" for name in _NEW)})
returning id"""  # noqa: S608 - our own columns
_MUTABLE = [name for name in _NEW if name not in ("uid", "space", "label", "created_at", "created_by")]
_UPDATE = f"""update item set {", ".join(f"{name} = :{name}" for name in _MUTABLE)}
where id = :id and {{visible}}"""  # noqa: S608 - our own columns
_GRAMS = """insert into item_gram (item_id, grams) values (:id, :grams)
on conflict (item_id) do update set grams = excluded.grams"""
_INCREMENT = """update item set revision = revision + 1 where id in ({numbers}) and {visible}
returning id, revision"""
_REPLACED = ", ".join(f"{name} = excluded.{name}" for name in _NEW if name != "uid")
_PUT = f"""insert into item ({COLUMNS}) values ({", ".join(f":{name}" for name in COLUMN_NAMES)})
on conflict (uid) do update set {_REPLACED}"""  # noqa: S608 - our own columns
_CHANGE = """insert into item_change (item_id, revision, at, action, principal, transport, tool, request_id, changes)
values (:id, :revision, :at, :action, :principal, :transport, :tool, :request_id, :changes)"""


def find_item(rows: Rows, type: str, id: int, *, lock: bool = False, least: int = CLOSED) -> Item | None:
    """The item, if it has this type or once had it; `items` is any type. `least` TRASH finds deleted ones, too."""
    row = rows.row(_ITEM + (" {for_update}" if lock else ""), id=id, least=least) if 0 < id < _MAX_ID else None
    item = to_item(row) if row else None
    if item is None or item.type == type or type == MODULE_NAME:
        return item
    return item if "\0" not in type and rows.row(_ALIAS, id=id, type=type) else None


def require_item(rows: Rows, type: str, id: int, *, lock: bool = False, least: int = CLOSED) -> Item:
    item = find_item(rows, type, id, lock=lock, least=least)
    if item is None:
        requested = f"{type}-{id}"
        raise Missing(f"Item {requested[:80]} not found.", type=type, id=id, requested_id=requested)
    return item


def fetch_items(
    rows: Rows, ids: Iterable[int], columns: str = SUMMARY_COLUMNS, masks: RecordMasks = NO_MASKS
) -> dict[int, Item]:
    """The living ones of these by number. With `masks`: as their caller sees them, also in a transaction."""
    found = rows.rows(_LIVING.format(columns=columns), numbers=json.dumps(sorted(ids)))
    found = masks.mask_rows(found, MODULE_NAME)
    return {item.id: item for item in map(to_item, found)}


def fetch_number(rows: Rows, sql: str, **params: Any) -> int:
    """The first column of the one row that the statement always returns."""
    row = rows.row(sql, **params)
    assert row is not None
    return row[0]


def lock_links(tx: Tx) -> None:
    """Before links are read to be changed: no other call changes links until this transaction ends."""
    tx.rows("select id from item_gate {for_update}")


def lock_items(tx: Tx, ids: Iterable[int]) -> None:
    """In order of id: two calls that link the same items must not deadlock."""
    tx.rows(_LOCK, numbers=json.dumps(sorted(ids)))


def insert_item(tx: Tx, item: Item) -> Item:
    """A new row; its number is the next one."""
    item = item._replace(id=fetch_number(tx, _INSERT, **to_row(item)))
    update_derived(tx, item, None, is_new=True)
    return item


def put_item(tx: Tx, desk: Desk, item: Item, aliases: Iterable[str]) -> None:
    """Write an imported item under its own number, over the one with the same uid if there is one."""
    tx.run(_PUT, **to_row(item))
    for type in aliases:
        add_alias(tx, item.id, type)
    record_change(tx, desk, item.id, item.revision, desk.now(), "imported")
    update_derived(tx, item, None, author=item.updated_by)
    if item.state == TRASH:
        drop_derived(tx, item)


def add_alias(tx: Tx, id: int, type: str) -> None:
    """The item is also found under this type."""
    tx.run("insert into item_alias (item_id, type) values (:id, :type) on conflict do nothing", id=id, type=type)


def save_change(tx: Tx, desk: Desk, item: Item, action: str, changes: Mapping[str, Any] | None = None) -> Item:
    """Write a changed item as its next revision, with the change in its history."""
    item = item._replace(
        updated_at=max(desk.now(), item.updated_at), updated_by=desk.principal.name, revision=item.revision + 1
    )
    tx.run(_UPDATE, **to_row(item))
    record_change(tx, desk, item.id, item.revision, item.updated_at, action, changes)
    return item


def record_change(
    tx: Tx, desk: Desk, id: int, revision: int, at: int, action: str, changes: Mapping[str, Any] | None = None
) -> None:
    call = desk.call
    tx.run(
        _CHANGE,
        id=id,
        revision=revision,
        at=at,
        action=action,
        principal=desk.principal.name,
        transport=call.caller.transport,
        tool=call.tool,
        request_id=call.request_id,
        changes=json.dumps(changes or {}, ensure_ascii=False, separators=(",", ":")),
    )


def increment_revisions(tx: Tx, desk: Desk, ids: Iterable[int], at: int, changes: Mapping[str, Any]) -> None:
    """The other ends of links: what they are related to has changed, so they count a revision."""
    numbers = json.dumps(sorted(ids))
    for id, revision in sorted(tx.rows(_INCREMENT, numbers=numbers)) if numbers != "[]" else ():
        record_change(tx, desk, id, revision, at, "linked", changes)


def update_derived(
    tx: Tx, new: Item, old: Item | None, *, is_new: bool = False, author: str | None = None, same_text: bool = False
) -> None:
    """What is derived from an item's row: the index of tags, the hints, the filter of its text, the links that texts
    mean, and its document."""
    if old is None or old.tags != new.tags:
        write_tags(tx, new, is_new=is_new)
    if old is None or (old.title, old.description, old.tags) != (new.title, new.description, new.tags):
        if not is_new:
            tx.run("delete from item_hint where item_id = :id", id=new.id)
        hints = [{"id": new.id, **hint._asdict()} for hint in build_hints(new.title, new.description, new.tags)]
        tx.run_many("insert into item_hint (folded, item_id, kind, shown) values (:folded, :id, :kind, :shown)", hints)
    document = to_document(new)
    before = to_document(old) if old is not None else None
    if before is None or (before.title, before.text) != (document.title, document.text):
        tx.run(_GRAMS, id=new.id, grams=build_grams(new))
        link_mentions(tx, new, is_new=is_new)
    if old is None or (old.title, old.type) != (new.title, new.type):
        link_waiting(tx, new)
    tx.put(replace(document, author=author), same_text=same_text)


def write_tags(tx: Tx, item: Item, *, is_new: bool = False) -> None:
    if not is_new:
        tx.run("delete from item_tag where item_id = :id", id=item.id)
    if item.tags:
        tags = [{"tag": tag, "folded": fold_tag(tag), "id": item.id} for tag in item.tags]
        tx.run_many("insert into item_tag (tag, folded, item_id) values (:tag, :folded, :id)", tags)


def drop_derived(tx: Tx, item: Item) -> None:
    """An item in the trash is neither found nor suggested; its tags stay with it."""
    tx.drop(item.uri)
    tx.run("delete from item_hint where item_id = :id", id=item.id)
