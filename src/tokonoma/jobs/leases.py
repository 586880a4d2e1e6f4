"""Leases: of several processes on one database, one runs a job. If it is killed, another takes over when it ends."""

import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager

from tokonoma.core.clock import now
from tokonoma.core.desk import Statements
from tokonoma.core.errors import Refusal
from tokonoma.core.log import log
from tokonoma.core.module import Migration

TABLES = (
    Migration(
        "001_job_lease",
        ("create table job_lease (name {text} not null primary key, holder text not null, until {big} not null)",),
    ),
)

_NEW = "insert into job_lease (name, holder, until) values (:name, '', 0) on conflict (name) do nothing"
_TAKE = """update job_lease set holder = :me, until = :until
where name = :name and (holder = :me or until < :now)"""
# Further ahead than a lease can be: it was written by another clock, and nobody must wait for that one's time.
_SHORTEN = "update job_lease set until = :until where name = :name and until > :until"
_RELEASE = "update job_lease set until = 0 where holder = :me and name = :name"


class Leases:
    """The leases of one process; `writing` opens a transaction."""

    def __init__(
        self, writing: Callable[[], AbstractContextManager[Statements]], clock: Callable[[], int] = now
    ) -> None:
        self._writing, self._clock = writing, clock
        self._me = secrets.token_hex(8)
        self._held: set[str] = set()

    def take(self, name: str, seconds: float) -> bool:
        """Take or renew; False while another process holds it."""
        at = self._clock()
        until = at + int(seconds * 1000)
        with self._writing() as statements:
            statements.run(_NEW, name=name)
            statements.run(_SHORTEN, name=name, until=until)
            taken = statements.run(_TAKE, name=name, me=self._me, until=until, now=at) == 1
        if taken:
            self._held.add(name)
        return taken

    def release(self, name: str) -> None:
        self._held.discard(name)
        try:
            with self._writing() as statements:
                statements.run(_RELEASE, me=self._me, name=name)
        except Refusal as error:  # it ends by itself
            log("warning", "job.release", job=name, reason=error.reason or error.kind)

    def release_all(self) -> None:
        for name in list(self._held):
            self.release(name)
