"""get_item_detail, and how other modules and a reindex read items."""

from tokonoma.core.addresses import parts_of
from tokonoma.core.desk import Desk, Document, Record, Rows
from tokonoma.modules.items.find import found
from tokonoma.modules.items.item import Whole, document, item_of, record
from tokonoma.modules.items.tables import COLUMNS
from tokonoma.modules.items.write import Type, told

_ONE = f"select {COLUMNS} from item where id = :id and state >= 0"  # noqa: S608 - our own columns
_PAGE = f"""select {COLUMNS} from item where cast(id as text) > :after and state >= 0
order by cast(id as text) limit :most"""  # noqa: S608


def get_item_detail(desk: Desk, type: Type, id: int) -> Whole:
    """One item with its content and its links; `vanished` are addresses that lead nowhere any more."""
    return told(desk, found(desk, type, id))


def read(rows: Rows, address: str) -> Record | None:
    """For the directory: any living item by its address. The desk guards it."""
    name = parts_of(address)[1]
    row = rows.row(_ONE, id=int(name)) if name.isascii() and name.isdigit() and len(name) < 19 else None
    return record(item_of(row)) if row else None


def documents(rows: Rows, after: str | None, limit: int) -> list[Document]:
    """For a reindex: the living items in order of address, a page at a time."""
    found = rows.rows(_PAGE, after=parts_of(after)[1] if after else "", most=limit)
    return [document(item_of(row)) for row in found]
