"""get_item_detail, and how other modules and a reindex read items."""

from tokonoma.core.desk import Desk, Document, Record, Rows, parse_address
from tokonoma.modules.items.find import require_item
from tokonoma.modules.items.item import ItemDetail, to_document, to_item, to_record
from tokonoma.modules.items.tables import COLUMNS
from tokonoma.modules.items.write import Type, build_detail

_ONE = f"select {COLUMNS} from item where id = :id and state >= 0"  # noqa: S608 - our own columns
_PAGE = f"""select {COLUMNS} from item where cast(id as text) > :after and state >= 0
order by cast(id as text) limit :most"""  # noqa: S608


def get_item_detail(desk: Desk, type: Type, id: int) -> ItemDetail:
    """One item with its content and its links; `vanished` are addresses that lead nowhere any more."""
    return build_detail(desk, require_item(desk, type, id))


def read_record(rows: Rows, address: str) -> Record | None:
    """For the directory: any living item by its address. The desk guards it."""
    name = parse_address(address)[1]
    row = rows.row(_ONE, id=int(name)) if name.isascii() and name.isdigit() and len(name) < 19 else None
    return to_record(to_item(row)) if row else None


def list_documents(rows: Rows, after: str | None, limit: int) -> list[Document]:
    """For a reindex: the living items in order of address, a page at a time."""
    found = rows.rows(_PAGE, after=parse_address(after)[1] if after else "", most=limit)
    return [to_document(to_item(row)) for row in found]
