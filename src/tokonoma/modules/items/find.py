"""Finding one item by type and number, under the types that it had before as well."""

from tokonoma.core.desk import Rows
from tokonoma.modules.items.constants import CLOSED, MODULE_NAME
from tokonoma.modules.items.item import Item, to_item
from tokonoma.modules.items.problems import item_not_found
from tokonoma.modules.items.tables import COLUMNS

_ITEM = f"select {COLUMNS} from item where id = :id and state >= :least and {{visible}}"  # noqa: S608 - our own columns
_ALIAS = "select 1 from item_alias where item_id = :id and type = :type"
_MOST = 2**63


def find_item(rows: Rows, type: str, id: int, *, lock: bool = False, least: int = CLOSED) -> Item | None:
    """The item, if there is one of this type or that once had it; `items` is any type. The trash is least -1."""
    row = rows.row(_ITEM + (" {for_update}" if lock else ""), id=id, least=least) if 0 < id < _MOST else None
    item = to_item(row) if row else None
    if item is None or item.type == type or type == MODULE_NAME:
        return item
    return item if "\0" not in type and rows.row(_ALIAS, id=id, type=type) else None


def require_item(rows: Rows, type: str, id: int, *, lock: bool = False, least: int = CLOSED) -> Item:
    item = find_item(rows, type, id, lock=lock, least=least)
    if item is None:
        raise item_not_found(type, id)
    return item
