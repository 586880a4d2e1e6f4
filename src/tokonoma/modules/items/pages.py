"""Lists of items: their order, conditions that are joined by and, and one page after another."""

import json
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal, NamedTuple, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk
from tokonoma.core.ids import Opaque
from tokonoma.modules.items.model import MODULE_NAME, Item, ItemSummary, fold_tag, to_item, to_summary
from tokonoma.modules.items.tables import SUMMARY_COLUMNS

Sort = Literal["updated", "created", "priority", "due", "title", "id"]
Order = Literal["asc", "desc"]
Limit = Annotated[int, Field(ge=1, le=100)]

_COLUMNS: dict[Sort, tuple[str, ...]] = {
    "updated": ("updated_at",),
    "created": ("created_at",),
    "priority": ("priority", "end_at"),  # of equally urgent items, the one that is due first
    "due": ("end_at",),
    "title": ("title",),
    "id": (),
}
_NEVER = 2**62
_ALL = 2**62
# An open item is not ready while an item that blocks it is open, too.
NOT_BLOCKED = """not exists (select 1 from item_link l join item b on b.id = l.other_id
    where l.item_id = item.id and l.kind = 'blocked_by' and b.state = 1 and {visible:b})"""
SELECT_TAGS = "select t.tag, i.id, i.state from item_tag t join item i on i.id = t.item_id where {visible:i}"
UNCLAIMED = "(assignee = '' or claimed_until <= :now)"


class ItemPage(TypedDict):
    items: list[ItemSummary]
    has_more: bool
    next_cursor: NotRequired[Opaque]


class ItemOrder(NamedTuple):
    """By a field, equal ones by number. Items without a due date come last in both directions."""

    sort: Sort = "updated"
    order: Order | None = None

    @property
    def direction(self) -> Order:
        return self.order or ("desc" if self.sort in ("updated", "created") else "asc")

    @property
    def keys(self) -> list[str]:
        """What is compared, one after the other, as SQL over `item`."""
        named = (
            f"coalesce(item.{each}, {self._never})" if each == "end_at" else f"item.{each}" for each in self._columns
        )
        return [*named, "item.id"]

    @property
    def sql(self) -> str:
        return ", ".join(f"{key} {self.direction}" for key in self.keys)

    def read_keys(self, item: Item) -> list[Any]:
        """The same of an item."""
        values = [getattr(item, column) for column in self._columns]
        return [*(self._never if value is None else value for value in values), item.id]

    def continue_after(self, values: Sequence[Any]) -> tuple[str, dict[str, Any]]:
        """A condition, with its parameters, that only the items after these keys pass."""
        names = {f"key{number}": value for number, value in enumerate(values)}
        sign = ">" if self.direction == "asc" else "<"
        return f"({', '.join(self.keys)}) {sign} ({', '.join(f':{name}' for name in names)})", names

    def is_masked(self, desk: Desk) -> bool:
        """Whether the database must not sort: a title may be masked for this caller, and its place would tell of it."""
        return self.sort == "title" and desk.call.record_masks.covers(MODULE_NAME)

    def sort_items(self, items: Iterable[Item], last: Sequence[Any] = ()) -> list[Item]:
        """Those after the last keys, by what the caller sees."""
        found = sorted(items, key=self.read_keys, reverse=self.direction == "desc")
        if not last:
            return found
        if self.direction == "desc":
            return [item for item in found if self.read_keys(item) < list(last)]
        return [item for item in found if self.read_keys(item) > list(last)]

    @property
    def _columns(self) -> tuple[str, ...]:
        return _COLUMNS[self.sort]

    @property
    def _never(self) -> int:
        return _NEVER if self.direction == "asc" else -_NEVER


def require_tag(desk: Desk, tag: str) -> tuple[str, dict[str, Any]]:
    """A condition, with its parameters, that only items with this tag pass: as the caller sees their tags."""
    folded = fold_tag(tag)
    if desk.call.record_masks.covers(MODULE_NAME):  # the database must not compare what is masked
        numbers = sorted({item_id for shown, item_id, _ in desk.rows(SELECT_TAGS) if fold_tag(shown) == folded})
        return "id in ({numbers})", {"numbers": json.dumps(numbers)}
    # As it is written, too: a tag of an older version may not be folded.
    tagged = "id in (select item_id from item_tag where folded in (:folded, :written))"
    return tagged, {"folded": folded, "written": tag}


class ItemQuery:
    """Conditions of a select on items, and their parameters. Without a state, the trash is left out."""

    def __init__(self, desk: Desk, state: int | None = None, *, tag: str | None = None, **equal: Any) -> None:
        self.parts = ["state >= 0" if state is None else "state = :state"]
        self.params: dict[str, Any] = {"state": state}
        if tag is not None:
            condition, params = require_tag(desk, tag)
            self.add(condition, **params)
        for column, value in equal.items():
            self.add(f"{column} = :{column}", **{column: value})

    def add(self, sql: str, **params: Any) -> None:
        """Without effect where a parameter is None."""
        if None not in params.values():
            self.parts.append(sql)
            self.params |= params

    def add_in(self, column: str, values: Sequence[Any]) -> None:
        names = {f"{column}{number}": value for number, value in enumerate(values)}
        if names:
            self.add(f"{column} in ({', '.join(f':{name}' for name in names)})", **names)

    def fetch_page(self, desk: Desk, order: ItemOrder, limit: int, cursor: str | None) -> ItemPage:
        kind = f"items:{order.sort}:{order.direction}"
        last: list[Any] = desk.open_cursor(kind, cursor) if cursor else []
        is_masked = order.is_masked(desk)
        if last and not is_masked:
            after, keys = order.continue_after(last)
            self.add(after, **keys)
        sql = f"""select {SUMMARY_COLUMNS} from item where {" and ".join(self.parts)} and {{visible:item}}
            order by {order.sql} limit :most"""  # noqa: S608 - names of ours
        found = desk.rows(sql, most=_ALL if is_masked else limit + 1, **self.params)
        items = [to_item(row) for row in found]
        if is_masked:
            items = order.sort_items(items, last)
        page: ItemPage = {"items": [to_summary(desk, item) for item in items[:limit]], "has_more": len(items) > limit}
        if len(items) > limit:
            page["next_cursor"] = desk.seal_cursor(kind, *order.read_keys(items[limit - 1]))
        return page
