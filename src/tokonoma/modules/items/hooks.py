"""How the server reads, indexes and reclassifies items, and versions of the current state."""

from collections.abc import Mapping

from tokonoma.core.desk import Classification, Document, Record, Rows, Statements, format_address, parse_address
from tokonoma.modules.items.model import MODULE_NAME, Item, to_document, to_item, to_record
from tokonoma.modules.items.tables import COLUMNS

_STATE = "state-"  # no address leads to a current state; this name is for its classification only
_ONE = f"select {COLUMNS} from item where id = :id and state >= 0"  # noqa: S608 - our own columns
_PAGE = """select {columns} from {table} where {condition} and cast(id as text) > :after
order by cast(id as text) limit :most"""
_LIVING = _PAGE.format(columns=COLUMNS, table="item", condition="state >= 0")
_TRASH = _PAGE.format(columns=COLUMNS, table="item", condition="deleted_at is not null")
_STATES = _PAGE.format(
    columns="id, space, label, content, updated_by, related, tags", table="current_state", condition="1 = 1"
)


def read_record(rows: Rows, address: str) -> Record | None:
    """Any living item by its address. The desk checks whether the caller may see it."""
    item = _read_item(rows, address)
    return item and to_record(item)


def read_document(rows: Rows, address: str) -> Document | None:
    item = _read_item(rows, address)
    return item and to_document(item)


def _read_item(rows: Rows, address: str) -> Item | None:
    name = parse_address(address)[1]
    row = rows.row(_ONE, id=int(name)) if name.isascii() and name.isdigit() and len(name) < 19 else None
    return to_item(row) if row else None


def list_documents(rows: Rows, after: str | None, limit: int) -> list[Document]:
    """For a reindex: a page of the living items in order of address."""
    found = rows.rows(_LIVING, after=parse_address(after)[1] if after else "", most=limit)
    return [to_document(to_item(row)) for row in found]


def count_documents(rows: Rows) -> int:
    return rows.rows("select count(*) from item where state >= 0")[0][0]


def list_unindexed(rows: Rows, after: str | None, limit: int) -> list[Document]:
    """What the index does not hold: the trash, then every version of the current state."""
    name = parse_address(after)[1] if after else ""
    trash: list[Document] = []
    if not name.startswith(_STATE):
        trash = [to_document(to_item(row)) for row in rows.rows(_TRASH, after=name, most=limit)]
        name = ""
    left = limit - len(trash)
    states = rows.rows(_STATES, after=name.removeprefix(_STATE), most=left) if left else []
    return trash + [
        Document(format_address(MODULE_NAME, f"{_STATE}{id}"), namespace, "\n".join(texts), classification=label)
        for id, namespace, label, *texts in states
    ]


def reclassify(statements: Statements, classifications: Mapping[str, Classification]) -> None:
    """Set the classifications of items and of versions of the current state by address."""
    labels = {parse_address(address)[1]: label for address, label in classifications.items()}
    items = [{"id": int(name), "label": label} for name, label in labels.items() if not name.startswith(_STATE)]
    prefixed = [(name.removeprefix(_STATE), label) for name, label in labels.items() if name.startswith(_STATE)]
    states = [{"id": int(number), "label": label} for number, label in prefixed]
    statements.run_many("update item set label = :label where id = :id", items)
    statements.run_many("update current_state set label = :label where id = :id", states)
