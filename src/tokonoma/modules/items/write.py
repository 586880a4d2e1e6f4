"""create_item and update_item; and how a change is planned, locked and applied."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from tokonoma.core.desk import Desk, Tx
from tokonoma.modules.items import errors, relations, rows
from tokonoma.modules.items.errors import ItemProblems
from tokonoma.modules.items.fields import (
    Assignee,
    Comment,
    DueTime,
    Markdown,
    Priority,
    Related,
    Status,
    Text,
    Time,
    Title,
    apply_columns,
    build_blank,
    check_sums,
    diff_items,
    select_given,
)
from tokonoma.modules.items.model import Item, ItemDetail, Revision, Tags, Type

_TEXTS = frozenset({"title", "description", "content", "tags", "category", "version"})  # what people write


class PlannedUpdate(NamedTuple):
    """An update whose fields have been checked: what to write to which item."""

    old: Item
    columns: dict[str, Any]
    ends: relations.LinkSet | None  # None: the links stay


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
    end_date: DueTime = None,
    version: str | None = None,
    related: Related = None,
    tags: Tags = None,
    assignee: Assignee = None,
) -> ItemDetail:
    """Create an item, for what has a status (issue, decision, docs); by default Open and MEDIUM. docs-12 and [[a
    title]] in its texts become links."""
    given = select_given(
        title=title, description=description, content=content, status=status, priority=priority, category=category,
        start_date=start_date, end_date=end_date, version=version, tags=tags,
        assignee=assignee,
    )  # fmt: skip
    problems = ItemProblems()
    errors.check_type("type", type, problems)
    columns = errors.parse_fields(given, problems)
    errors.check_dates(columns.get("start_at"), columns.get("end_at"), end_date, problems)
    addresses = errors.check_related("related", related or (), problems)
    relations.check_references(desk, addresses, problems)
    with desk.write() as tx:
        ends = relations.resolve_links(tx, addresses, problems)
        problems.raise_if_any()
        if ends.items:
            rows.lock_links(tx)
            rows.lock_items(tx, ends.items)
        item = rows.insert_item(tx, apply_columns(desk, build_blank(desk, type), columns))
        change = relations.LinkChange(ends, relations.LinkSet())
        relations.apply_link_change(tx, item.id, change)
        linked = change.describe()
        rows.record_change(tx, desk, item.id, 1, item.created_at, "created", {"related": linked} if linked else None)
        rows.increment_revisions(tx, desk, ends.items, item.created_at, {"related": {"added": [item.address]}})
    return relations.build_detail(desk, item)


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
    end_date: DueTime = None,
    version: str | None = None,
    related: Related = None,
    tags: Tags = None,
    assignee: Assignee = None,
    add_tags: list[str] | None = None,
    remove_tags: list[str] | None = None,
    comment: Comment = None,
    expected_revision: Revision = None,
) -> ItemDetail:
    """Change the given fields; an empty text clears one."""
    given = select_given(
        title=title, description=description, content=content, status=status, priority=priority, category=category,
        start_date=start_date, end_date=end_date, version=version, tags=tags, related=related,
        add_tags=add_tags, remove_tags=remove_tags, assignee=assignee, comment=comment,
    )  # fmt: skip
    problems = ItemProblems()
    if related is not None:
        relations.check_references(desk, related, problems, relations.list_references(desk, id))
    with desk.write() as tx:
        update = plan_update(tx, rows.require_item(tx, type, id), given, problems)
        problems.raise_if_any()
        lock_updates(tx, [update])
        item = apply_update(tx, desk, update, expected_revision)
    return relations.build_detail(desk, item)


def plan_update(tx: Tx, old: Item, given: Mapping[str, Any], problems: ItemProblems) -> PlannedUpdate:
    """The columns and the ends of links that these fields mean."""
    columns = errors.parse_fields(given, problems)
    check_sums(old, columns, problems)
    if columns.keys() & {"start_at", "end_at"}:
        start, end = (columns.get(name, getattr(old, name)) for name in ("start_at", "end_at"))
        errors.check_dates(start, end, given.get("end_date"), problems)
    if "related" not in given:
        return PlannedUpdate(old, columns, None)
    addresses = errors.check_related("related", given["related"], problems)
    return PlannedUpdate(old, columns, relations.resolve_links(tx, addresses, problems, itself=old.id))


def lock_updates(tx: Tx, updates: Sequence[PlannedUpdate]) -> None:
    """Lock the items that these change: each item itself and the other ends of links."""
    touched = {update.old.id for update in updates}
    relinked = [(update.old.id, update.ends) for update in updates if update.ends is not None]
    if relinked:
        rows.lock_links(tx)
    for id, ends in relinked:
        change = relations.plan_link_change(tx, id, ends)
        touched.update(change.added.items, change.removed.items)
    rows.lock_items(tx, touched)


def apply_update(tx: Tx, desk: Desk, update: PlannedUpdate, expected: int | None = None) -> Item:
    """The change itself, its rows locked. An update that changes nothing writes nothing, and counts no revision."""
    current = rows.require_item(tx, update.old.type, update.old.id)
    errors.check_revision(current, expected)
    change = None if update.ends is None else relations.plan_link_change(tx, current.id, update.ends)
    new = apply_columns(desk, current, update.columns)
    changes = diff_items(desk, current, new)
    if change is not None and change.describe():
        changes["related"] = change.describe()
    if not changes:
        return current
    new = rows.save_change(tx, desk, new, "updated", changes)
    if change is not None:
        relations.apply_link_change(tx, new.id, change)
        for word, ends in change._asdict().items():
            rows.increment_revisions(tx, desk, ends.items, new.updated_at, {"related": {word: [new.address]}})
    rows.update_derived(tx, new, current, same_text=_TEXTS.isdisjoint(changes))
    return new
