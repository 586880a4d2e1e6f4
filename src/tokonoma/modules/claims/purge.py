"""claims.purge: what was forgotten, or has faded, long ago goes for good, with what is left of it. For the owner's
`tokonoma purge`; it stands in no catalogue.
"""

from typing_extensions import TypedDict

from tokonoma.core.clock import now
from tokonoma.core.desk import Desk, format_address
from tokonoma.modules.claims.claim import MODULE_NAME

_BATCH_SIZE = 500  # claims in one transaction: others wait for no longer than that takes
_DAY = 86_400_000

PURGEABLE = """((forgotten_at is not null and forgotten_at <= :before)
    or (forgotten_at is null and expires_at is not null and expires_at <= :before)) and {visible}"""


class ClaimPurge(TypedDict):
    forgotten: int
    expired: int


def purge(desk: Desk, days: int, dry_run: bool = False) -> ClaimPurge:
    """Remove a page of the claims that were forgotten, or had expired, so many days ago, with their sources, entities,
    relations and events. With `dry_run` say how many there are in all."""
    before = now() - days * _DAY
    if dry_run:
        row = desk.row(
            f"select count(forgotten_at), count(*) - count(forgotten_at) from claim where {PURGEABLE}",  # noqa: S608 - our own
            before=before,
        )
        assert row is not None
        return {"forgotten": row[0], "expired": row[1]}
    with desk.write() as tx:
        found = tx.rows(
            f"select id, forgotten_at from claim where {PURGEABLE} order by id limit {_BATCH_SIZE} {{for_update}}",  # noqa: S608
            before=before,
        )
        for claim_id, _ in found:
            tx.drop(format_address(MODULE_NAME, claim_id))
            tx.run("delete from claim where id = :id and {visible}", id=claim_id)
    forgotten = sum(at is not None for _, at in found)
    return {"forgotten": forgotten, "expired": len(found) - forgotten}
