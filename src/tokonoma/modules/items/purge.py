"""items.purge: what has lain in the trash for long is forgotten for good. For the owner's `tokonoma purge`; it stands
in no catalogue, since no agent should be able to empty the trash.
"""

from typing_extensions import TypedDict

from tokonoma.core.clock import now
from tokonoma.core.desk import Desk
from tokonoma.modules.items.write import lock_links

_PAGE = 500  # items in one transaction: others wait for no longer than that takes
_DAY = 86_400_000

GONE = "deleted_at is not null and deleted_at <= :before and {visible}"


class ItemPurge(TypedDict):
    deleted: int


def purge_items(desk: Desk, days: int, dry_run: bool = False) -> ItemPurge:
    """Remove a page of the items that were deleted so many days ago, with their links, tags and history. With `dry_run`
    say how many there are in all."""
    before = now() - days * _DAY
    if dry_run:
        row = desk.row(f"select count(*) from item where {GONE}", before=before)  # noqa: S608 - our own
        assert row is not None
        return {"deleted": row[0]}
    with desk.write() as tx:
        lock_links(tx)  # links go with their items
        # Locked: one that is restored at this moment stays.
        found = tx.rows(
            f"select id from item where {GONE} order by id limit {_PAGE} {{for_update}}",  # noqa: S608
            before=before,
        )
        tx.run_many("delete from item where id = :id and {visible}", [{"id": number} for (number,) in found])
    return {"deleted": len(found)}
