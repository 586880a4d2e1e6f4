"""How the server reads, indexes and reclassifies memos."""

from collections.abc import Mapping

from tokonoma.core.clock import now
from tokonoma.core.desk import CLASSIFICATIONS, Classification, Document, Record, Rows, Statements, parse_address
from tokonoma.modules.memory.model import Memo, to_document, to_memo, to_record
from tokonoma.modules.memory.tables import ALIVE, COLUMNS

_RANK = "case label " + " ".join(f"when '{each}' then {rank}" for rank, each in enumerate(CLASSIFICATIONS)) + " end"
# A relation's own reason may have made it stricter than its ends: it is never made less strict than it was.
_RELATIONS = f"""update memo_relation set label = :label where (source = :id or target = :id)
and {_RANK} < :rank"""  # noqa: S608 - our own words


def read_record(rows: Rows, address: str) -> Record | None:
    """Any living memo by its address. The desk checks whether the caller may see it."""
    memo = _read_memo(rows, address)
    return memo and to_record(memo)


def read_document(rows: Rows, address: str) -> Document | None:
    memo = _read_memo(rows, address)
    return memo and to_document(memo)


def _read_memo(rows: Rows, address: str) -> Memo | None:
    row = rows.row(f"select {COLUMNS} from memo where id = :id and {ALIVE}", id=parse_address(address)[1], now=now())  # noqa: S608
    return to_memo(row) if row else None


def list_documents(rows: Rows, after: str | None, limit: int) -> list[Document]:
    """For a reindex: a page of the living memos in order of address."""
    return _list_page(rows, ALIVE, after, limit)


def list_unindexed(rows: Rows, after: str | None, limit: int) -> list[Document]:
    """A page of the trash, in order of address."""
    return _list_page(rows, "deleted_at is not null", after, limit)


def _list_page(rows: Rows, condition: str, after: str | None, limit: int) -> list[Document]:
    sql = f"select {COLUMNS} from memo where {condition} and id > :after order by id limit :most"  # noqa: S608 - our own
    found = rows.rows(sql, now=now(), after=parse_address(after)[1] if after else "", most=limit)
    return [to_document(to_memo(row)) for row in found]


def reclassify(statements: Statements, classifications: Mapping[str, Classification]) -> None:
    """Set the classifications of memos by address; relations that touch them become at least as strict."""
    memos = [
        {"id": parse_address(address)[1], "label": each, "rank": CLASSIFICATIONS.index(each)}
        for address, each in classifications.items()
    ]
    statements.run_many("update memo set label = :label where id = :id", memos)
    statements.run_many(_RELATIONS, memos)
