"""Idempotency keys: a batch that is sent twice with one key runs once, across restarts and processes, for a day.

The claim is committed before the first step runs and the result after the last, so a batch never runs twice. If the
process dies in between, the claim remains: a repeated request fails with the message that the outcome is unknown.
"""

import hashlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from typing import Any

import orjson

from tokonoma.core.call import Principal
from tokonoma.core.clock import format_time, now
from tokonoma.core.concurrency import CancelToken
from tokonoma.core.desk import Statements
from tokonoma.core.errors import Conflict
from tokonoma.core.module import Migration
from tokonoma.gateway.results import BatchResult

OpenTransaction = Callable[[CancelToken | None], AbstractContextManager[Statements]]

RETENTION = 24 * 3600 * 1000  # milliseconds

TABLES = (
    Migration(
        "001_batch_key",
        (
            """
            create table batch_key (
                scope text not null,
                name text not null,
                digest text not null,
                request_id text not null,
                claimed_at {big} not null,
                over_at {big} not null,
                answer text,
                primary key (scope, name)
            )
            """,
            "create index batch_key_claimed on batch_key (claimed_at)",
        ),
    ),
)

_CLAIM = """
    insert into batch_key (scope, name, digest, request_id, claimed_at, over_at)
    values (:scope, :name, :digest, :request_id, :at, :over_at) on conflict (scope, name) do nothing
"""
_READ = "select digest, request_id, claimed_at, over_at, answer from batch_key where scope = :scope and name = :name"
_SAVE = "update batch_key set answer = :answer where scope = :scope and name = :name and request_id = :request_id"


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """A key of one principal, for one text, claimed by one request."""

    scope: str
    name: str
    digest: str
    request_id: str


def build_key(principal: Principal, name: str, text: str, request_id: str) -> IdempotencyKey:
    """The scope includes the namespaces: if they change, the same text means something else."""
    scope = orjson.dumps([principal.kind, principal.name, principal.root, principal.default]).decode()
    name = orjson.dumps(name).decode()  # PostgreSQL holds no NUL in a text
    return IdempotencyKey(scope, name, hashlib.sha256(text.encode()).hexdigest(), request_id)


def claim_key(writing: OpenTransaction, key: IdempotencyKey, seconds: float, stop: CancelToken) -> BatchResult | None:
    """None: this request has the key and runs the batch. Else the first result; Conflict if there is none."""
    at = now()
    with writing(stop) as statements:
        statements.run("delete from batch_key where claimed_at < :before", before=at - RETENTION)
        claimed = statements.run(_CLAIM, **asdict(key), at=at, over_at=at + int(seconds * 1000))
        found = None if claimed else statements.row(_READ, scope=key.scope, name=key.name)
    return None if found is None else _replay_or_refuse(key, at, *found)


def save_result(writing: OpenTransaction, key: IdempotencyKey, result: BatchResult) -> None:
    """Store the result, also if the call was cancelled: the steps have run, and that must be known."""
    with writing(None) as statements:
        values = {"scope": key.scope, "name": key.name, "request_id": key.request_id}
        statements.run(_SAVE, **values, answer=orjson.dumps(result).decode())


def _replay_or_refuse(
    key: IdempotencyKey, at: int, digest: str, request_id: str, claimed_at: int, over_at: int, answer: str | None
) -> Any:
    if digest != key.digest:
        reason = "other_text"
        message = f"The idempotency key {key.name} was used for another batch in the last 24 hours. Use a new key."
    elif answer is not None:
        return {**orjson.loads(answer), "repeated": True}
    elif at <= over_at:
        reason = "running"
        message = "The batch with this idempotency key is still running. Try again later with the same key."
    else:
        reason = "interrupted"
        message = (
            "The batch with this idempotency key was interrupted: it is not known which of its steps took effect. "
            "The journal lists them under its request_id. Use a new key to run it again."
        )
    raise Conflict(message, reason=reason, request_id=request_id, started_at=format_time(claimed_at))
