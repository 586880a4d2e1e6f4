"""One text is stored by one call at a time, across threads and processes, so that the same text never becomes two
records. The row exists only while a call looks and stores: no hash of what people write is kept."""

import hashlib
import secrets

from tokonoma.core.clock import now
from tokonoma.core.errors import Refusal
from tokonoma.core.log import log
from tokonoma.core.module import Migration
from tokonoma.gateway.idempotency import OpenTransaction

TABLES = (
    Migration(
        "003_remember_lock",
        ("create table remember_lock (name {text} not null primary key, holder text not null, until {big} not null)",),
    ),
)

LEASE = 30_000
"""Milliseconds after which the lock of a process that was killed is free again."""

_SWEEP = "delete from remember_lock where until < :now"
_TAKE = "insert into remember_lock (name, holder, until) values (:name, :holder, :until) on conflict (name) do nothing"
_RELEASE = "delete from remember_lock where name = :name and holder = :holder"


class TextLock:
    def __init__(self, writing: OpenTransaction, *parts: str) -> None:
        """`parts` say what is locked: where it is stored, and the text."""
        self._writing = writing
        self._name = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
        self._holder = secrets.token_hex(8)

    def take(self) -> bool:
        at = now()
        with self._writing(None) as statements:
            statements.run(_SWEEP, now=at)
            return statements.run(_TAKE, name=self._name, holder=self._holder, until=at + LEASE) == 1

    def release(self) -> None:
        try:
            with self._writing(None) as statements:
                statements.run(_RELEASE, name=self._name, holder=self._holder)
        except Refusal as error:  # it ends by itself
            log("warning", "remember.release", reason=error.reason or error.kind)
