"""bulk_update: many items in one transaction; one that is wrong stops all, and all that is wrong is told."""

from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.clock import format_time
from tokonoma.core.desk import Desk, Tx
from tokonoma.modules.items import links
from tokonoma.modules.items.constants import MAX_BULK
from tokonoma.modules.items.find import find_item
from tokonoma.modules.items.item import Item
from tokonoma.modules.items.problems import ItemProblems
from tokonoma.modules.items.write import (
    Markdown,
    Priority,
    Related,
    Revision,
    Status,
    Tags,
    Text,
    Time,
    Title,
    Type,
    apply_update,
    find_touched,
    list_references,
    lock_items,
    lock_links,
    plan_update,
)  # fmt: skip


class BulkFields(TypedDict):
    title: NotRequired[Title]
    description: NotRequired[Text]
    content: NotRequired[Markdown]
    status: NotRequired[Status]
    priority: NotRequired[Priority]
    category: NotRequired[str | None]
    start_date: NotRequired[Time]
    end_date: NotRequired[Time]
    version: NotRequired[str | None]
    related: NotRequired[Related]
    tags: NotRequired[Tags]


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


class _PendingUpdate:
    """One update on its way."""

    def __init__(self, number: int, update: BulkUpdate, faults: ItemProblems) -> None:
        self.place = f"updates[{number}]."
        self.update, self.number = update, number
        self.faults = faults.at_place(f"{self.place}data.")
        self.given: dict[str, Any] = {key: value for key, value in update["data"].items() if value is not None}
        self.old: Item | None = None
        self.columns: dict[str, Any] = {}
        self.ends: links.LinkEnds | None = None


def bulk_update(
    desk: Desk,
    updates: Annotated[
        list[BulkUpdate], Field(min_length=1, max_length=MAX_BULK, description="data: as in update_item")
    ],
) -> BulkUpdateResponse:
    """Change up to 100 items, all or none. Errors name each line and field; the answer is in the order asked."""
    faults = ItemProblems()
    lines = [_PendingUpdate(number, update, faults) for number, update in enumerate(updates)]
    for line in lines:
        if line.given.get("related"):
            known = list_references(desk, line.update["id"])
            links.check_references(desk, line.given["related"], line.faults, known)
    with desk.write() as tx:
        _plan_updates(tx, lines, faults)
        faults.raise_if_any()
        if any(line.ends is not None for line in lines):
            lock_links(tx)
        ids = {line.update["id"] for line in lines}
        lock_items(tx, ids.union(*(find_touched(tx, line.update["id"], line.ends) for line in lines)))
        answers = [_apply_one(tx, desk, line) for line in lines]
    return {"updated": sum(each["changed"] for each in answers), "items": answers}


def _plan_updates(tx: Tx, lines: list[_PendingUpdate], faults: ItemProblems) -> None:
    seen: dict[int, int] = {}
    for line in lines:
        update = line.update
        here = faults.at_place(line.place)
        requested = f"{update['type']}-{update['id']}"
        if update["id"] in seen:
            here.add_value("id", update["id"], f"The same item as updates[{seen[update['id']]}]: name it once")
            continue
        seen[update["id"]] = line.number
        line.old = find_item(tx, update["type"], update["id"])
        if line.old is None:
            here.add_missing("id", update["id"], f"There is no item {requested[:80]} here", requested_id=requested)
            continue
        expected = update.get("expected_revision")
        if expected is not None and expected != line.old.revision:
            here.add_constraint(
                "expected_revision", expected, f"{requested} is at revision {line.old.revision}",
                current_revision=line.old.revision,
            )  # fmt: skip
        line.columns, line.ends = plan_update(tx, line.old, line.given, line.faults)


def _apply_one(tx: Tx, desk: Desk, line: _PendingUpdate) -> BulkUpdateResult:
    assert line.old is not None
    before = line.old.revision
    # An earlier line may have linked this item and so moved its revision: what was asked for was checked before.
    item = apply_update(tx, desk, line.old, line.columns, line.ends, None, line.place)
    return {
        "index": line.number,
        "id": item.id,
        "type": item.type,
        "address": item.address,
        "changed": item.revision != before,
        "revision": item.revision,
        "updated_at": format_time(item.updated_at),
    }
