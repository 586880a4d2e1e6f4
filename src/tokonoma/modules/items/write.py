"""create_item, update_item and bulk_update."""

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.clock import format_time
from tokonoma.core.desk import Desk, Tx
from tokonoma.core.ids import uuid7
from tokonoma.modules.items import errors, model, relations, rows
from tokonoma.modules.items.errors import ItemProblems
from tokonoma.modules.items.model import Item, ItemDetail, Revision, Tags, Type

MAX_BULK = 100

Title = Annotated[str | None, Field(description="up to 200 characters")]
Text = Annotated[str | None, Field(description="up to 100 KB")]
Markdown = Annotated[str | None, Field(description="Markdown, up to 100 KB")]
Status = Annotated[str | None, Field(json_schema_extra={"enum": list(model.STATUSES)})]
Priority = Annotated[str | None, Field(json_schema_extra={"enum": list(model.PRIORITIES)})]
Time = Annotated[str | None, Field(description="RFC 3339 time or date; empty: none")]
Related = Annotated[
    list[str] | None,
    Field(description="addresses: docs-12, tokonoma://memory/<id>; linked both ways; replaces existing links"),
]

_TEXTS = frozenset({"title", "description", "content", "tags", "category", "version"})  # what people write
_COMPARED = (
    "title", "description", "content", "status", "priority", "category", "start_date", "end_date", "version", "tags",
)  # fmt: skip


class BulkFields(TypedDict, total=False):
    title: Title
    description: Text
    content: Markdown
    status: Status
    priority: Priority
    category: str | None
    start_date: Time
    end_date: Time
    version: str | None
    related: Related
    tags: Tags


class BulkUpdate(TypedDict):
    type: Type
    id: int
    data: BulkFields
    expected_revision: NotRequired[Revision]


class BulkUpdateResult(TypedDict):
    index: int
    id: int
    type: str
    address: str
    changed: bool
    revision: int
    updated_at: str


class BulkUpdateResponse(TypedDict):
    updated: int
    items: list[BulkUpdateResult]


class _PlannedUpdate(NamedTuple):
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
    end_date: Time = None,
    version: Annotated[str | None, Field(description="any text; `revision` is what expected_revision compares")] = None,
    related: Related = None,
    tags: Tags = None,
) -> ItemDetail:
    """Create an item. Default status: Open; default priority: MEDIUM. All errors are reported together."""
    given = _select_given(
        title=title, description=description, content=content, status=status, priority=priority, category=category,
        start_date=start_date, end_date=end_date, version=version, tags=tags,
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
        item = rows.insert_item(tx, _apply_columns(build_blank(desk, type), columns))
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
    end_date: Time = None,
    version: str | None = None,
    related: Related = None,
    tags: Tags = None,
    expected_revision: Revision = None,
) -> ItemDetail:
    """Change the given fields of an item; the others stay. An empty text clears a field."""
    given = _select_given(
        title=title, description=description, content=content, status=status, priority=priority, category=category,
        start_date=start_date, end_date=end_date, version=version, tags=tags, related=related,
    )  # fmt: skip
    problems = ItemProblems()
    if related is not None:
        relations.check_references(desk, related, problems, relations.list_references(desk, id))
    with desk.write() as tx:
        update = _plan_update(tx, rows.require_item(tx, type, id), given, problems)
        problems.raise_if_any()
        _lock_updates(tx, [update])
        item = _apply_update(tx, desk, update, expected_revision)
    return relations.build_detail(desk, item)


def bulk_update(
    desk: Desk,
    updates: Annotated[
        list[BulkUpdate], Field(min_length=1, max_length=MAX_BULK, description="data: as in update_item")
    ],
) -> BulkUpdateResponse:
    """Update up to 100 items, all or none. Errors name the index and the field; results are in request order."""
    problems = ItemProblems()
    places = [problems.at_place(f"updates[{number}].data.") for number in range(len(updates))]
    given = [_select_given(**update["data"]) for update in updates]
    for update, fields, place in zip(updates, given, places, strict=True):
        if fields.get("related"):
            relations.check_references(desk, fields["related"], place, relations.list_references(desk, update["id"]))
    results: list[BulkUpdateResult] = []
    with desk.write() as tx:
        planned: list[_PlannedUpdate] = []
        for number, (fields, place) in enumerate(zip(given, places, strict=True)):
            old = _check_update(tx, updates, number, problems.at_place(f"updates[{number}]."))
            if old is not None:
                planned.append(_plan_update(tx, old, fields, place))
        problems.raise_if_any()
        _lock_updates(tx, planned)
        for number, update in enumerate(planned):
            # An earlier update may have linked this item and so changed its revision: the expected one was checked.
            item = _apply_update(tx, desk, update)
            results.append({
                "index": number,
                "id": item.id,
                "type": item.type,
                "address": item.address,
                "changed": item.revision != update.old.revision,
                "revision": item.revision,
                "updated_at": format_time(item.updated_at),
            })  # fmt: skip
    return {"updated": sum(each["changed"] for each in results), "items": results}


def build_blank(desk: Desk, type: str) -> Item:
    """A new item with defaults."""
    who, at = desk.principal, desk.now()
    return Item(
        id=0, uid=uuid7(), namespace=who.default, classification="internal", type=type, title="", description="",
        content="", status="Open", priority=model.PRIORITIES.index("MEDIUM"), state=1, category="", start_at=None,
        end_at=None, version="", tags=(), created_at=at, updated_at=at, deleted_at=None, created_by=who.name,
        updated_by=who.name, revision=1,
    )  # fmt: skip


def _select_given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _check_update(tx: Tx, updates: list[BulkUpdate], number: int, problems: ItemProblems) -> Item | None:
    """The item of one update of many."""
    type, id = updates[number]["type"], updates[number]["id"]
    first = next(place for place, update in enumerate(updates) if update["id"] == id)
    if first != number:
        problems.add("id", id, f"Same item as updates[{first}]; list it once")
        return None
    requested = f"{type}-{id}"
    old = rows.find_item(tx, type, id)
    if old is None:
        problems.add("id", id, f"Item {requested[:80]} not found", "missing", requested_id=requested)
        return None
    expected = updates[number].get("expected_revision")
    if expected is not None and expected != old.revision:
        problem = f"{requested} is at revision {old.revision}"
        problems.add("expected_revision", expected, problem, "constraint", current_revision=old.revision)
    return old


def _plan_update(tx: Tx, old: Item, given: Mapping[str, Any], problems: ItemProblems) -> _PlannedUpdate:
    """The columns and the ends of links that these fields mean."""
    columns = errors.parse_fields(given, problems)
    if columns.keys() & {"start_at", "end_at"}:
        start, end = (columns.get(name, getattr(old, name)) for name in ("start_at", "end_at"))
        errors.check_dates(start, end, given.get("end_date"), problems)
    if "related" not in given:
        return _PlannedUpdate(old, columns, None)
    addresses = errors.check_related("related", given["related"], problems)
    return _PlannedUpdate(old, columns, relations.resolve_links(tx, addresses, problems, itself=old.id))


def _lock_updates(tx: Tx, updates: list[_PlannedUpdate]) -> None:
    """Lock the items that these change: each item itself and the other ends of links."""
    touched = {update.old.id for update in updates}
    relinked = [(update.old.id, update.ends) for update in updates if update.ends is not None]
    if relinked:
        rows.lock_links(tx)
    for id, ends in relinked:
        change = relations.plan_link_change(tx, id, ends)
        touched.update(change.added.items, change.removed.items)
    rows.lock_items(tx, touched)


def _apply_update(tx: Tx, desk: Desk, update: _PlannedUpdate, expected: int | None = None) -> Item:
    """The change itself, its rows locked. An update that changes nothing writes nothing, and counts no revision."""
    current = rows.require_item(tx, update.old.type, update.old.id)
    errors.check_revision(current, expected)
    change = None if update.ends is None else relations.plan_link_change(tx, current.id, update.ends)
    new = _apply_columns(current, update.columns)
    changes = _diff_items(desk, current, new)
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


def _apply_columns(old: Item, columns: Mapping[str, Any]) -> Item:
    new = old._replace(**{**columns, "tags": tuple(columns.get("tags", old.tags))})
    return new._replace(state=model.compute_state(new.status))


def _diff_items(desk: Desk, old: Item, new: Item) -> dict[str, Any]:
    """Fields that differ, under the names of the response, each with its old and its new value."""
    before, after = (
        {**model.to_summary(desk, item), "description": item.description, "content": item.content}
        for item in (old, new)
    )
    return {name: {"from": before[name], "to": after[name]} for name in _COMPARED if before[name] != after[name]}
