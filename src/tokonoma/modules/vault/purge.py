"""vault.purge: earlier contents of files that were replaced long ago are forgotten for good. For the owner's `tokonoma
purge`; it stands in no catalogue. The last content before the present one stays, however old, and so does the history.
"""

from typing_extensions import TypedDict

from tokonoma.core.clock import now
from tokonoma.core.desk import Desk
from tokonoma.files import versions
from tokonoma.files.atomic import write_lock
from tokonoma.modules.vault.paths import open_vault

_VERSIONS_PER_CALL = 500  # contents while which no file is changed
_DAY_MS = 86_400_000

# A content is kept once, whoever had it: it goes when nobody needs it any more.
_SELECT_OLD = """select distinct c.before from vault_change c where c.before <> '' and c.at <= :limit
and not exists (select 1 from vault_change n where n.before = c.before and (n.at > :limit or n.id =
    (select max(m.id) from vault_change m where m.path = n.path and m.state <> 'undone')))
order by c.before"""


class VaultPurge(TypedDict):
    replaced: int


def purge(desk: Desk, days: int, dry_run: bool = False) -> VaultPurge:
    """Remove a page of the contents that were replaced so many days ago. With `dry_run` say how many there are."""
    limit = now() - days * _DAY_MS
    with open_vault(desk) as folder, write_lock(folder, desk.check):
        old = [version for (version,) in desk.rows(_SELECT_OLD, limit=limit) if versions.has_version(folder, version)]
        page = [] if dry_run else old[:_VERSIONS_PER_CALL]
        for version in page:
            versions.delete_version(folder, version)
    return {"replaced": len(old if dry_run else page)}
