"""memory.purge: what has lain in the trash, or has been expired, for long is forgotten for good. For the owner's
`tokonoma purge`; it stands in no catalogue, since no agent should be able to empty the trash.
"""

from typing_extensions import TypedDict

from tokonoma.core.clock import now
from tokonoma.core.desk import Desk, format_address
from tokonoma.modules.memory.memo import MODULE_NAME

_PAGE = 500  # memos in one transaction: others wait for no longer than that takes
_DAY = 86_400_000

GONE = "(deleted_at <= :before or (expires_at is not null and expires_at <= :before)) and {visible}"


class MemoPurge(TypedDict):
    deleted: int
    expired: int


def purge_memos(desk: Desk, days: int, dry_run: bool = False) -> MemoPurge:
    """Remove a page of the memos that were deleted, or had expired, so many days ago, with their relations. With
    `dry_run` say how many there are in all."""
    before = now() - days * _DAY
    if dry_run:
        row = desk.row(
            f"select count(deleted_at), count(*) - count(deleted_at) from memo where {GONE}",  # noqa: S608 - our own
            before=before,
        )
        assert row is not None
        return {"deleted": row[0], "expired": row[1]}
    with desk.write() as tx:
        # Locked: one that is restored at this moment stays.
        found = tx.rows(
            f"select id, deleted_at from memo where {GONE} order by id limit {_PAGE} {{for_update}}",  # noqa: S608
            before=before,
        )
        for memo_id, _ in found:
            tx.drop(format_address(MODULE_NAME, memo_id))
            tx.run("delete from memo where id = :id and {visible}", id=memo_id)  # relations go with it
    deleted = sum(at is not None for _, at in found)
    return {"deleted": deleted, "expired": len(found) - deleted}
