"""memory.delete; memory.purge and memory.forget for the owner's commands."""

from dataclasses import replace

from typing_extensions import TypedDict

from tokonoma.core.desk import Desk, Tx, format_address, parse_address
from tokonoma.core.errors import Missing
from tokonoma.modules.memory import model
from tokonoma.modules.memory.model import Memo, Namespace, Version
from tokonoma.modules.memory.read import require_memo
from tokonoma.modules.memory.versions import FORGET, check_version, parse_name, write_version

_DAY = 86_400_000
_PURGE_PAGE = 500  # memos in one transaction: other writers wait no longer than that takes
_PURGEABLE = "(deleted_at <= :before or (expires_at is not null and expires_at <= :before)) and {visible}"


class DeletedMemo(TypedDict):
    deleted: bool
    memo_id: str
    version: int


def delete_memo(
    desk: Desk,
    memo_id: str,
    namespace: Namespace = None,
    expected_version: Version = None,
) -> DeletedMemo:
    """Move a memo to the trash: no longer found, its relations hidden. memory.restore brings both back."""
    with desk.write() as tx:
        memo = require_memo(tx, desk, memo_id, namespace, lock=True)
        check_version(memo, expected_version, "Nothing was deleted.")
        memo = _delete(desk, tx, memo)
    return {"deleted": True, "memo_id": memo_id, "version": memo.revision}


def forget_memo(desk: Desk, address: str) -> DeletedMemo:
    """The owner's own command, also for a memo that the policy hides: delete it with its earlier versions, or only the
    earlier version at `<memo>@<version>`."""
    memo_id, version = parse_name(parse_address(address)[1])
    with desk.write() as tx:
        if version:
            if not tx.run(f"{FORGET} and revision = :version", id=memo_id, version=version):
                raise Missing(f"There is no record at {address}.", address=address)
        else:
            version = _delete(desk, tx, require_memo(tx, desk, memo_id, lock=True)).revision
            tx.run(FORGET, id=memo_id)
    return {"deleted": True, "memo_id": memo_id, "version": version}


def _delete(desk: Desk, tx: Tx, memo: Memo) -> Memo:
    memo = write_version(tx, desk, memo, replace(memo, deleted_at=desk.now()), "deleted")
    tx.drop(memo.address)
    return memo


def purge_memos(desk: Desk, days: int, dry_run: bool = False) -> dict[str, int]:
    """Delete permanently a page of the memos that were deleted or expired at least `days` days ago, with their
    relations. With `dry_run` only count all of them."""
    before = desk.now() - days * _DAY
    if dry_run:
        row = desk.row(
            f"select count(deleted_at), count(*) - count(deleted_at) from memo where {_PURGEABLE}",  # noqa: S608 - our own
            before=before,
        )
        assert row is not None
        return {"deleted": row[0], "expired": row[1]}
    with desk.write() as tx:
        # Locked: a memo that is restored at this moment stays.
        found = tx.rows(
            f"select id, deleted_at from memo where {_PURGEABLE} order by id limit {_PURGE_PAGE} {{for_update}}",  # noqa: S608
            before=before,
        )
        for memo_id, _ in found:
            tx.drop(format_address(model.MODULE_NAME, memo_id))
            tx.run("delete from memo where id = :id and {visible}", id=memo_id)  # relations go with it
    deleted = sum(at is not None for _, at in found)
    return {"deleted": deleted, "expired": len(found) - deleted}
