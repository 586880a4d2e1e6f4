"""create_item and update_item, and how a changed item is written: its row, tags, links, hints, history and document."""

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from tokonoma.core.clock import now
from tokonoma.core.desk import Desk, Tx
from tokonoma.core.errors import Conflict
from tokonoma.core.ids import uuid7
from tokonoma.modules.items import links
from tokonoma.modules.items.checks import check_dates, check_related, check_type, parse_fields
from tokonoma.modules.items.constants import PRIORITIES, STATUSES
from tokonoma.modules.items.find import find_item
from tokonoma.modules.items.hints import build_hints
from tokonoma.modules.items.history import diff_items, increment_revisions, record_change
from tokonoma.modules.items.item import Item, ItemDetail, compute_state, to_detail, to_document
from tokonoma.modules.items.problems import ItemProblems, item_not_found

Type = Annotated[str, Field(description="a-z 0-9 _, any: issue, docs, decision, …")]
Title = Annotated[str | None, Field(description="up to 200 characters")]
Text = Annotated[str | None, Field(description="up to 100 KB")]
Markdown = Annotated[str | None, Field(description="Markdown, up to 100 KB")]
Status = Annotated[str | None, Field(json_schema_extra={"enum": list(STATUSES)})]
Priority = Annotated[str | None, Field(json_schema_extra={"enum": list(PRIORITIES)})]
Time = Annotated[str | None, Field(description="RFC 3339 time or date; empty: none")]
Related = Annotated[
    list[str] | None, Field(description="addresses: docs-12, tokonoma://memory/<id>; linked both ways; replaces")
]
Tags = Annotated[list[str] | None, Field(description="replaces")]
Revision = Annotated[int | None, Field(ge=1, description="refuse if the item is not at this revision any more")]

_INSERT = """insert into item (uid, space, label, type, title, description, content, status, priority, state, category,
    start_at, end_at, version, tags, created_at, updated_at, deleted_at, created_by, updated_by, revision)
values (:uid, :space, :label, :type, :title, :description, :content, :status, :priority, :state, :category,
    :start_at, :end_at, :version, :tags, :created_at, :updated_at, :deleted_at, :created_by, :updated_by, :revision)
returning id"""
_UPDATE = """update item set type = :type, title = :title, description = :description, content = :content,
    status = :status, priority = :priority, state = :state, category = :category, start_at = :start_at,
    end_at = :end_at, version = :version, tags = :tags, updated_at = :updated_at, deleted_at = :deleted_at,
    updated_by = :updated_by, revision = :revision
where id = :id and {visible}"""
_LOCK = "select id from item where id in ({numbers}) and {visible} order by id {for_update}"


def create_item(
    desk: Desk,
    type: Type,
    title: Annotated[str, Field(description="up to 200 characters")],
    description: Text = None,
    content: Markdown = None,
    status: Status = None,
    priority: Priority = None,
    category: str | None = None,
    start_date: Time = None,
    end_date: Time = None,
    version: Annotated[str | None, Field(description="your own text; the lock is `revision`")] = None,
    related: Related = None,
    tags: Tags = None,
) -> ItemDetail:
    """Make an item. Status defaults to Open, priority to MEDIUM. All that is wrong is told at once."""
    given = _select_given(
        title=title, description=description, content=content, status=status, priority=priority, category=category,
        start_date=start_date, end_date=end_date, version=version, tags=tags,
    )  # fmt: skip
    faults = ItemProblems()
    check_type("type", type, faults)
    columns = parse_fields(given, faults)
    check_dates(columns.get("start_at"), columns.get("end_at"), end_date, faults)
    addresses = check_related("related", related or (), faults)
    links.check_references(desk, addresses, faults)
    with desk.write() as tx:
        ends = links.resolve_links(tx, addresses, faults)
        faults.raise_if_any()
        if ends.items:
            lock_links(tx)
            lock_items(tx, ends.items)
        item = _insert_new(tx, desk, type, columns)
        done = links.LinkChange(added=ends.items, added_references=ends.references)
        links.apply_link_change(tx, item.id, done)
        record_change(
            tx, desk, item.id, 1, item.created_at, "created", {"related": done.describe()} if done.describe() else None
        )
        increment_revisions(tx, desk, ends.items, item.created_at, {"related": {"added": [item.address]}})
    return build_detail(desk, item)


def update_item(
    desk: Desk,
    type: Type,
    id: int,
    title: Title = None,
    description: Text = None,
    content: Markdown = None,
    status: Status = None,
    priority: Priority = None,
    category: str | None = None,
    start_date: Time = None,
    end_date: Time = None,
    version: str | None = None,
    related: Related = None,
    tags: Tags = None,
    expected_revision: Revision = None,
) -> ItemDetail:
    """Change the fields that are given and leave the others; an empty text clears one."""
    given = _select_given(
        title=title, description=description, content=content, status=status, priority=priority, category=category,
        start_date=start_date, end_date=end_date, version=version, tags=tags, related=related,
    )  # fmt: skip
    faults = ItemProblems()
    if related is not None:
        links.check_references(desk, related, faults, list_references(desk, id))
    with desk.write() as tx:
        old = find_item(tx, type, id)
        if old is None:
            raise item_not_found(type, id)
        columns, ends = plan_update(tx, old, given, faults)
        faults.raise_if_any()
        if ends is not None:
            lock_links(tx)
        lock_items(tx, {id, *find_touched(tx, id, ends)})
        item = apply_update(tx, desk, old, columns, ends, expected_revision)
    return build_detail(desk, item)


def plan_update(
    tx: Tx, old: Item, given: Mapping[str, Any], faults: ItemProblems
) -> tuple[dict[str, Any], links.LinkEnds | None]:
    """The columns and the ends of links that these fields mean; everything that is wrong goes into `faults`."""
    columns = parse_fields(given, faults)
    if columns.keys() & {"start_at", "end_at"}:
        check_dates(
            columns.get("start_at", old.start_at), columns.get("end_at", old.end_at), given.get("end_date"), faults
        )
    if given.get("related") is None:
        return columns, None
    addresses = check_related("related", given["related"], faults)
    return columns, links.resolve_links(tx, addresses, faults, itself=old.id)


def apply_update(
    tx: Tx,
    desk: Desk,
    old: Item,
    columns: Mapping[str, Any],
    ends: links.LinkEnds | None,
    expected: int | None = None,
    place: str = "",
) -> Item:
    """The change itself, its rows locked. What stays the same is not written, and counts no revision."""
    current = find_item(tx, old.type, old.id)
    if current is None:
        raise item_not_found(old.type, old.id)
    if expected is not None and expected != current.revision:
        raise build_stale_error(current, expected, place)
    shift = links.LinkChange() if ends is None else links.plan_link_change(tx, old.id, ends)
    new = apply_columns(current, columns)
    changes = diff_items(current, new)
    if shift.describe():
        changes["related"] = shift.describe()
    if not changes:
        return current
    at = max(now(), current.updated_at)
    new = new._replace(updated_at=at, updated_by=desk.principal.name, revision=current.revision + 1)
    tx.run(_UPDATE, **to_row(new))
    links.apply_link_change(tx, new.id, shift)
    record_change(tx, desk, new.id, new.revision, at, "updated", changes)
    for ids, word in ((shift.added, "added"), (shift.removed, "removed")):
        if ids:
            increment_revisions(tx, desk, ids, at, {"related": {word: [new.address]}})
    update_derived(tx, new, current)
    return new


def apply_columns(old: Item, columns: Mapping[str, Any]) -> Item:
    new = old._replace(**{**columns, "tags": tuple(columns.get("tags", old.tags))})
    return new._replace(state=compute_state(new.status))


def update_derived(tx: Tx, new: Item, old: Item | None, *, fresh: bool = False) -> None:
    """What is made from an item's row: the index of tags, the hints, and its document. `fresh`: there is none yet."""
    if old is None or old.tags != new.tags:
        if not fresh:
            tx.run("delete from item_tag where item_id = :id", id=new.id)
        if new.tags:
            tx.run_many(
                "insert into item_tag (tag, item_id) values (:tag, :id)", [{"tag": t, "id": new.id} for t in new.tags]
            )
    if old is None or (old.title, old.description, old.tags) != (new.title, new.description, new.tags):
        if not fresh:
            tx.run("delete from item_hint where item_id = :id", id=new.id)
        rows = [{"id": new.id, **hint._asdict()} for hint in build_hints(new.title, new.description, new.tags)]
        if rows:
            tx.run_many(
                "insert into item_hint (folded, item_id, kind, shown) values (:folded, :id, :kind, :shown)", rows
            )
    tx.put(to_document(new))


def build_detail(desk: Desk, item: Item) -> ItemDetail:
    return to_detail(item, *links.list_relations(desk, item))


def find_touched(tx: Tx, id: int, ends: links.LinkEnds | None) -> set[int]:
    return set() if ends is None else links.plan_link_change(tx, id, ends).touched_ids


def lock_links(tx: Tx) -> None:
    """Before links are looked at to be changed: nobody else changes any until we are done."""
    tx.rows("select id from item_gate {for_update}")


def lock_items(tx: Tx, ids: Sequence[int] | set[int] | Mapping[int, Any]) -> None:
    """In one order: two calls that link the same items must not wait for each other in a circle."""
    tx.rows(_LOCK, numbers=json.dumps(sorted(ids)))


def list_references(desk: Desk, id: int) -> list[str]:
    """What an item already refers to may have vanished since, and can still be named."""
    return [row[0] for row in desk.rows("select address from item_reference where item_id = :id", id=id)]


def build_stale_error(item: Item, expected: int, place: str = "") -> Conflict:
    return Conflict(
        f"{item.address} is at revision {item.revision}, not {expected}. Read it again. Nothing was changed.",
        constraint="revision",
        field=f"{place}expected_revision",
        current_revision=item.revision,
        current={"title": item.title, "status": item.status, "updated_by": item.updated_by},
        id=item.id,
        type=item.type,
    )


def to_row(item: Item) -> dict[str, Any]:
    return {**item._asdict(), "tags": json.dumps(item.tags, ensure_ascii=False)}


def _insert_new(tx: Tx, desk: Desk, type: str, columns: Mapping[str, Any]) -> Item:
    who, at = desk.principal, now()
    blank = Item(
        id=0, uid=uuid7(), space=who.default, label="internal", type=type, title="", description="", content="",
        status="Open", priority=PRIORITIES.index("MEDIUM"), state=1, category="", start_at=None, end_at=None,
        version="", tags=(), created_at=at, updated_at=at, deleted_at=None, created_by=who.name, updated_by=who.name,
        revision=1,
    )  # fmt: skip
    return insert_item(tx, apply_columns(blank, columns))


def insert_item(tx: Tx, item: Item) -> Item:
    """A new row; its number is the next one."""
    row = to_row(item)
    del row["id"]
    made = tx.row(_INSERT, **row)
    assert made is not None
    item = item._replace(id=made[0])
    update_derived(tx, item, None, fresh=True)
    return item


def _select_given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
