"""bulk_update: many items in one transaction; one that is wrong stops all, and all that is wrong is told."""

from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.clock import shown
from tokonoma.core.desk import Desk, Tx
from tokonoma.modules.items import links
from tokonoma.modules.items.constants import MOST_BULK
from tokonoma.modules.items.find import sought
from tokonoma.modules.items.item import Item
from tokonoma.modules.items.problems import Faults
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
    applied,
    gate,
    known_references,
    lock,
    planned,
    touched,
)  # fmt: skip


class Data(TypedDict):
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


class Update(TypedDict):
    type: Type
    id: int
    data: Data
    expected_revision: NotRequired[Revision]


class Updated(TypedDict):
    index: int
    id: int
    type: str
    address: str
    changed: bool
    revision: int
    updated_at: str


class BulkAnswer(TypedDict):
    updated: int
    items: list[Updated]


class _Line:
    """One update on its way."""

    def __init__(self, number: int, update: Update, faults: Faults) -> None:
        self.place = f"updates[{number}]."
        self.update, self.number = update, number
        self.faults = faults.at(f"{self.place}data.")
        self.given: dict[str, Any] = {key: value for key, value in update["data"].items() if value is not None}
        self.old: Item | None = None
        self.columns: dict[str, Any] = {}
        self.ends: links.Ends | None = None


def bulk_update(
    desk: Desk,
    updates: Annotated[list[Update], Field(min_length=1, max_length=MOST_BULK, description="data: as in update_item")],
) -> BulkAnswer:
    """Change up to 100 items, all or none. Errors name each line and field; the answer is in the order asked."""
    faults = Faults()
    lines = [_Line(number, update, faults) for number, update in enumerate(updates)]
    for line in lines:
        if line.given.get("related"):
            known = known_references(desk, line.update["id"])
            links.check_references(desk, line.given["related"], line.faults, known)
    with desk.write() as tx:
        _plan(tx, lines, faults)
        faults.settle()
        if any(line.ends is not None for line in lines):
            gate(tx)
        ids = {line.update["id"] for line in lines}
        lock(tx, ids.union(*(touched(tx, line.update["id"], line.ends) for line in lines)))
        answers = [_done(tx, desk, line) for line in lines]
    return {"updated": sum(each["changed"] for each in answers), "items": answers}


def _plan(tx: Tx, lines: list[_Line], faults: Faults) -> None:
    seen: dict[int, int] = {}
    for line in lines:
        update = line.update
        here = faults.at(line.place)
        requested = f"{update['type']}-{update['id']}"
        if update["id"] in seen:
            here.value("id", update["id"], f"The same item as updates[{seen[update['id']]}]: name it once")
            continue
        seen[update["id"]] = line.number
        line.old = sought(tx, update["type"], update["id"])
        if line.old is None:
            here.missing("id", update["id"], f"There is no item {requested[:80]} here", requested_id=requested)
            continue
        expected = update.get("expected_revision")
        if expected is not None and expected != line.old.revision:
            here.constraint(
                "expected_revision", expected, f"{requested} is at revision {line.old.revision}",
                current_revision=line.old.revision,
            )  # fmt: skip
        line.columns, line.ends = planned(tx, line.old, line.given, line.faults)


def _done(tx: Tx, desk: Desk, line: _Line) -> Updated:
    assert line.old is not None
    before = line.old.revision
    # An earlier line may have linked this item and so moved its revision: what was asked for was checked before.
    item = applied(tx, desk, line.old, line.columns, line.ends, None, line.place)
    return {
        "index": line.number,
        "id": item.id,
        "type": item.type,
        "address": item.address,
        "changed": item.revision != before,
        "revision": item.revision,
        "updated_at": shown(item.updated_at),
    }
