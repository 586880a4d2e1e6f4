"""memory.delete and memory.restore: a deleted memo lies in the trash, with its relations, until it is wanted back."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core import namespaces as spaces
from tokonoma.core.clock import now
from tokonoma.core.desk import Desk, Document, Rows, parse_address
from tokonoma.core.errors import Conflict, Missing
from tokonoma.modules.memory.memo import MemoSummary, to_document, to_memo, to_summary
from tokonoma.modules.memory.save import Namespace, Version, require_memo
from tokonoma.modules.memory.tables import COLUMNS


class DeletedMemo(TypedDict):
    deleted: bool
    memo_id: str
    version: int


def delete_memo(
    desk: Desk,
    memo_id: str,
    namespace: Namespace = None,
    expected_version: Annotated[Version, Field()] = None,
) -> DeletedMemo:
    """Put a memo into the trash: no longer found, its relations hidden. memory.restore brings both back."""
    with desk.write() as tx:
        memo = require_memo(desk, tx, memo_id, namespace, lock=True)
        if expected_version is not None and expected_version != memo.revision:
            raise Conflict(
                f"The memo is at version {memo.revision}, not {expected_version}. Nothing was deleted.",
                memo_id=memo_id,
                current_version=memo.revision,
            )
        tx.run(
            "update memo set deleted_at = :at, revision = revision + 1 where id = :id and {visible}",
            at=now(),
            id=memo_id,
        )
        tx.drop(memo.address)
    return {"deleted": True, "memo_id": memo_id, "version": memo.revision + 1}


def restore_memo(desk: Desk, memo_id: str, namespace: Namespace = None) -> MemoSummary:
    """Take a memo out of the trash, with its relations."""
    with desk.write() as tx:
        row = tx.row(
            f"select {COLUMNS} from memo where id = :id and deleted_at is not null and {{visible}} {{for_update}}",  # noqa: S608
            id=memo_id,
        )
        memo = to_memo(row) if row else None
        if memo is None or (
            namespace and not spaces.is_inside(memo.space, spaces.resolve_namespace(namespace, desk.principal))
        ):
            raise Missing(f"There is no memo {memo_id!r} in the trash.", memo_id=memo_id)
        # An expired memo would vanish again at once: who wants it back wants it to stay.
        keeps = memo.expires_at if memo.expires_at is None or memo.expires_at > now() else None
        tx.run(
            """update memo set deleted_at = null, expires_at = :expires_at, revision = revision + 1
            where id = :id and {visible}""",
            id=memo_id,
            expires_at=keeps,
        )
        row = tx.row(f"select {COLUMNS} from memo where id = :id and {{visible}}", id=memo_id)  # noqa: S608
        assert row is not None
        memo = to_memo(row)
        tx.put(to_document(memo))
    return to_summary(memo, desk.principal)


def list_unindexed(rows: Rows, after: str | None, limit: int) -> list[Document]:
    """What lies in the trash, in order of address, a page at a time."""
    found = rows.rows(
        f"select {COLUMNS} from memo where deleted_at is not null and id > :after order by id limit :most",  # noqa: S608
        after=parse_address(after)[1] if after else "",
        most=limit,
    )
    return [to_document(to_memo(row)) for row in found]
