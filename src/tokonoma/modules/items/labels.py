"""The class of items and of the current state, as the policy wants it."""

from collections.abc import Mapping

from tokonoma.core.desk import Classification, Document, Rows, Statements, format_address, parse_address
from tokonoma.modules.items.item import MODULE_NAME, to_document, to_item
from tokonoma.modules.items.tables import COLUMNS

_STATE = "state-"  # a current state has no address that leads to it; this one is for its class alone
_TRASH = f"""select {COLUMNS} from item where deleted_at is not null and cast(id as text) > :after
order by cast(id as text) limit :most"""  # noqa: S608 - the columns are our own
_STATES = """select id, space, label, content, updated_by, related, tags from current_state
where cast(id as text) > :after order by cast(id as text) limit :most"""


def reclassify(statements: Statements, labels: Mapping[str, Classification]) -> None:
    """Address → class."""
    named = {parse_address(address)[1]: label for address, label in labels.items()}
    items = [{"id": int(name), "label": label} for name, label in named.items() if not name.startswith(_STATE)]
    states = [
        {"id": int(name.removeprefix(_STATE)), "label": label}
        for name, label in named.items()
        if name.startswith(_STATE)
    ]
    if items:
        statements.run_many("update item set label = :label where id = :id", items)
    if states:
        statements.run_many("update current_state set label = :label where id = :id", states)


def list_unindexed(rows: Rows, after: str | None, limit: int) -> list[Document]:
    """What the index does not hold: the trash, then every revision of the current state."""
    name = parse_address(after)[1] if after else ""
    trash: list[Document] = []
    if not name.startswith(_STATE):
        trash = [to_document(to_item(row)) for row in rows.rows(_TRASH, after=name, most=limit)]
        name = ""
    left = limit - len(trash)
    states = rows.rows(_STATES, after=name.removeprefix(_STATE), most=left) if left else []
    return [*trash, *(_to_state_document(*row) for row in states)]


def _to_state_document(number: int, space: str, label: Classification, *texts: str) -> Document:
    return Document(format_address(MODULE_NAME, f"{_STATE}{number}"), space, "\n".join(texts), classification=label)
