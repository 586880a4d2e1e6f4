"""How the server reads, indexes and reclassifies memos."""

from collections.abc import Mapping
from dataclasses import replace

from tokonoma.core.clock import now
from tokonoma.core.desk import (
    CLASSIFICATIONS,
    Classification,
    Document,
    Record,
    Rows,
    Statements,
    format_address,
    parse_address,
)
from tokonoma.modules.memory.model import MODULE_NAME, Memo, to_document, to_memo, to_record
from tokonoma.modules.memory.tables import ALIVE, COLUMNS
from tokonoma.modules.memory.versions import format_name, parse_name

_RANK = "case label " + " ".join(f"when '{each}' then {rank}" for rank, each in enumerate(CLASSIFICATIONS)) + " end"
# A relation's own reason may have made it stricter than its ends: it is never made less strict than it was.
_RELATIONS = f"""update memo_relation set label = :label where (source = :id or target = :id)
and {_RANK} < :rank"""  # noqa: S608 - our own words
_UNINDEXED = f"""select {COLUMNS}, 0 as earlier from memo where deleted_at is not null and id > :after
union all
select {COLUMNS}, revision from memo_version where (id, revision) > (:after, :version)
order by id, earlier limit :most"""  # noqa: S608 - our own columns


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
    sql = f"select {COLUMNS} from memo where {ALIVE} and id > :after order by id limit :most"  # noqa: S608 - our own
    found = rows.rows(sql, now=now(), after=parse_address(after)[1] if after else "", most=limit)
    return [to_document(to_memo(row)) for row in found]


def count_documents(rows: Rows) -> int:
    return rows.rows(f"select count(*) from memo where {ALIVE}", now=now())[0][0]  # noqa: S608 - our own


def list_unindexed(rows: Rows, after: str | None, limit: int) -> list[Document]:
    """A page of the trash and of earlier versions: by memo, the trash first."""
    memo_id, version = parse_name(parse_address(after)[1]) if after else ("", 0)
    found = rows.rows(_UNINDEXED, after=memo_id, version=version, most=limit)
    return [_to_unindexed(to_memo(row[:-1]), row[-1] > 0) for row in found]


def _to_unindexed(memo: Memo, is_earlier: bool) -> Document:
    document = to_document(memo)
    return replace(document, address=format_address(MODULE_NAME, format_name(memo))) if is_earlier else document


def reclassify(statements: Statements, classifications: Mapping[str, Classification]) -> None:
    """Set the classes of memos and earlier versions by address; relations become at least as strict as their memos."""
    memos: list[dict[str, str | int]] = []
    versions: list[dict[str, str | int]] = []
    for address, label in classifications.items():
        memo_id, version = parse_name(parse_address(address)[1])
        row = {"id": memo_id, "label": label, "rank": CLASSIFICATIONS.index(label), "version": version}
        (versions if version else memos).append(row)
    statements.run_many("update memo set label = :label where id = :id", memos)
    statements.run_many(_RELATIONS, memos)
    statements.run_many("update memo_version set label = :label where id = :id and revision = :version", versions)
