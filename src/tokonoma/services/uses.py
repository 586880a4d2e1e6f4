"""When an account was used last. Stored by a job, at most once an hour for each account: no call waits for it."""

import threading
from collections.abc import Callable

from tokonoma.core.concurrency import Job
from tokonoma.keyring.accounts import Account, mark_used
from tokonoma.store.database import Database

PAUSE = 3_600_000  # milliseconds


class AccountUses:
    def __init__(self, database: Database, start: Callable[[Job], None], clock: Callable[[], int]) -> None:
        self._database, self._start, self._clock = database, start, clock
        self._lock = threading.Lock()
        self._noted: dict[str, int] = {}  # of this process; what others have stored is in the account
        self._waiting: dict[str, int] = {}

    def note(self, account: Account) -> None:
        at = self._clock()
        with self._lock:
            if at - max(account.used_at or 0, self._noted.get(account.id, 0)) < PAUSE:
                return
            self._noted[account.id] = self._waiting[account.id] = at
        self._start(Job("account_uses", self._store))

    def _store(self) -> None:
        """The step of the job. What it could not store is lost: the next use an hour later is stored again."""
        with self._lock:
            waiting, self._waiting = self._waiting, {}
        with self._database.writing() as statements:
            for account_id, at in waiting.items():
                mark_used(statements, account_id, at)
