"""bulk_update: many items in one transaction, listed or found by a query."""

from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.clock import format_time
from tokonoma.core.desk import Desk, Tx
from tokonoma.core.errors import Invalid
from tokonoma.modules.items import errors, relations, rows
from tokonoma.modules.items.alternatives import QueryReader
from tokonoma.modules.items.errors import ItemProblems
from tokonoma.modules.items.fields import UpdateFields, select_given
from tokonoma.modules.items.model import Item, Revision, Type
from tokonoma.modules.items.pages import ItemOrder
from tokonoma.modules.items.scan import find_exact
from tokonoma.modules.items.tables import COLUMNS
from tokonoma.modules.items.write import PlannedUpdate, apply_update, lock_updates, plan_update

MAX_BULK = 100
MAX_BY_QUERY = 500


class BulkUpdate(TypedDict):
    type: Type
    id: int
    data: UpdateFields
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


def bulk_update(
    desk: Desk,
    updates: Annotated[list[BulkUpdate] | None, Field(min_length=1, max_length=MAX_BULK)] = None,
    query: Annotated[
        str | None, Field(max_length=2000, description="instead of updates: as in search_items; all words must occur")
    ] = None,
    data: UpdateFields | None = None,
    dry_run: Annotated[bool, Field(description="only list the items of the query")] = False,
) -> BulkUpdateResponse:
    """Update many items, all or none: those of a list, or with query and data up to 500."""
    if (updates is None) == (query is None) or (query is None) != (data is None):
        raise Invalid("Give either updates, or query and data.", allowed=["updates", "query and data"])
    if updates is not None:
        return _update_listed(desk, updates)
    assert query is not None
    assert data is not None
    return _update_found(desk, query, select_given(**data), dry_run)


def _update_listed(desk: Desk, updates: list[BulkUpdate]) -> BulkUpdateResponse:
    problems = ItemProblems()
    places = [problems.at_place(f"updates[{number}].data.") for number in range(len(updates))]
    given = [select_given(**update["data"]) for update in updates]
    for update, fields, place in zip(updates, given, places, strict=True):
        if fields.get("related"):
            relations.check_references(desk, fields["related"], place, relations.list_references(desk, update["id"]))
    with desk.write() as tx:
        planned: list[PlannedUpdate] = []
        for number, (fields, place) in enumerate(zip(given, places, strict=True)):
            old = _check_update(tx, updates, number, problems.at_place(f"updates[{number}]."))
            if old is not None:
                planned.append(plan_update(tx, old, fields, place))
        problems.raise_if_any()
        return _apply_all(tx, desk, planned)


def _update_found(desk: Desk, query: str, fields: dict[str, Any], dry_run: bool) -> BulkUpdateResponse:
    """The items are found before the transaction, and compared with the query once more inside it."""
    alternatives = QueryReader(query, desk.now(), strict=True).read_alternatives()
    ids = find_exact(desk, alternatives, ItemOrder("id"), MAX_BY_QUERY + 1)
    if len(ids) > MAX_BY_QUERY:
        raise Invalid(
            f"The query finds more than {MAX_BY_QUERY} items. Narrow it, for example by type: or created:. Nothing was"
            " changed.",
            reason="constraint", field="query", value=query[:200], constraint=f"At most {MAX_BY_QUERY} items",
        )  # fmt: skip
    problems = ItemProblems("data.")
    if fields.get("related"):
        relations.check_references(desk, fields["related"], problems)
    if dry_run:
        errors.parse_fields(fields, problems)
        problems.raise_if_any()
        found = rows.fetch_items(desk, ids)
        return {"updated": 0, "items": [_describe(number, found[id], False) for number, id in enumerate(ids)]}
    with desk.write() as tx:
        rows.lock_items(tx, ids)
        current, shown = rows.fetch_items(tx, ids, COLUMNS), rows.fetch_items(tx, ids, COLUMNS, desk.call.record_masks)
        found = [id for id in ids if id in shown and any(each.matches(shown[id]) for each in alternatives)]
        planned = [plan_update(tx, item, fields, problems) for item in map(current.__getitem__, found)]
        problems.raise_if_any()
        return _apply_all(tx, desk, planned)


def _apply_all(tx: Tx, desk: Desk, planned: list[PlannedUpdate]) -> BulkUpdateResponse:
    lock_updates(tx, planned)
    results: list[BulkUpdateResult] = []
    for number, update in enumerate(planned):
        # An earlier update may have linked this item and so changed its revision: the expected one was checked.
        item = apply_update(tx, desk, update)
        results.append(_describe(number, item, item.revision != update.old.revision))
    return {"updated": sum(each["changed"] for each in results), "items": results}


def _describe(number: int, item: Item, changed: bool) -> BulkUpdateResult:
    return {
        "index": number,
        "id": item.id,
        "type": item.type,
        "address": item.address,
        "changed": changed,
        "revision": item.revision,
        "updated_at": format_time(item.updated_at),
    }


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
