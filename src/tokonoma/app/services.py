"""The client for other services, opened by the first call that needs it; and the job that keeps idle accounts alive."""

from typing import TYPE_CHECKING

from tokonoma.core.concurrency import Job
from tokonoma.core.errors import Refusal
from tokonoma.core.log import log

if TYPE_CHECKING:
    from tokonoma.app import App
    from tokonoma.services.connect import ServiceConnector

_LOOK_PAUSE = 6 * 3600.0  # seconds between two looks at the accounts
_LOOK_LEASE = 120.0
_IDLE = 7 * 86_400_000  # milliseconds: providers forget a grant that was not used for 90 days


def open_services(app: "App") -> "ServiceConnector":
    from tokonoma.app.keyring import open_keyring
    from tokonoma.services.connect import ServiceConnector
    from tokonoma.services.uses import AccountUses

    uses = AccountUses(app.database, app.jobs.start, app.clock)
    return ServiceConnector(app.database, open_keyring(app), uses=uses)


def build_refresh_job(app: "App") -> Job:
    """Renews the tokens of accounts that were not used for a week, in one process at a time."""
    return Job("service_tokens", lambda: refresh_idle(app), lease=_LOOK_LEASE)


def refresh_idle(app: "App") -> float:
    """A step of that job. Without such an account it loads nothing."""
    before = app.clock() - _IDLE
    sql = """select id from account where kind = 'oauth' and state = 'ready' and expires_at is not null
    and coalesce(refreshed_at, created_at) < :before order by id"""
    with app.database.reading() as rows:
        idle = [account_id for (account_id,) in rows.rows(sql, before=before)]
    if idle:
        import asyncio

        asyncio.run(_renew_all(open_services(app), idle))
    return _LOOK_PAUSE


async def _renew_all(services: "ServiceConnector", accounts: list[str]) -> None:
    for account_id in accounts:
        try:
            await services.refresher.renew_idle(account_id)
        except Refusal as error:  # the next look tries again, unless the account is broken
            log("warning", "service.refresh", account=account_id, reason=error.reason)
