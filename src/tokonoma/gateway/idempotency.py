"""An idempotency key: the same batch asked for twice runs once, across restarts and processes, for a day.

The claim is committed before the first step runs and the answer after the last, so a batch never runs twice. Where the
process dies in between, the claim outlives it: who asks again is told that the outcome is not known.
"""

import hashlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import orjson

from tokonoma.core.call import Principal
from tokonoma.core.cancellation import CancelToken
from tokonoma.core.clock import format_time, now
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

_FORGET = "delete from batch_key where claimed_at < :before"
_CLAIM = """
    insert into batch_key (scope, name, digest, request_id, claimed_at, over_at)
    values (:scope, :name, :digest, :request_id, :at, :over_at) on conflict (scope, name) do nothing
"""
_READ = "select digest, request_id, claimed_at, over_at, answer from batch_key where scope = :scope and name = :name"
_KEEP = "update batch_key set answer = :answer where scope = :scope and name = :name and request_id = :request_id"


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """Whose key it is, for which text, claimed by which request."""

    scope: str
    name: str
    digest: str
    request_id: str


def build_key(who: Principal, name: str, text: str, request_id: str) -> IdempotencyKey:
    """The namespaces belong to the scope: after they change, the same text means something else."""
    scope = orjson.dumps([who.kind, who.name, who.root, who.default]).decode()
    name = orjson.dumps(name).decode()  # PostgreSQL holds no NUL in a text
    return IdempotencyKey(scope, name, hashlib.sha256(text.encode()).hexdigest(), request_id)


def claim_key(writing: OpenTransaction, key: IdempotencyKey, seconds: float, stop: CancelToken) -> BatchResult | None:
    """None: the key is ours, run it. Else the answer of the first time; Conflict if there is none to give."""
    at = now()
    with writing(stop) as statements:
        statements.run(_FORGET, before=at - RETENTION)
        claimed = statements.run(
            _CLAIM,
            scope=key.scope,
            name=key.name,
            digest=key.digest,
            request_id=key.request_id,
            at=at,
            over_at=at + int(seconds * 1000),
        )
        found = None if claimed else statements.row(_READ, scope=key.scope, name=key.name)
    if found is None:
        return None
    return _replay_or_refuse(key, at, *found)


def save_result(writing: OpenTransaction, key: IdempotencyKey, answer: BatchResult) -> None:
    """Store the answer. No stop is given: the steps have run, and that must be known even if nobody waits any more."""
    with writing(None) as statements:
        statements.run(
            _KEEP, scope=key.scope, name=key.name, request_id=key.request_id, answer=orjson.dumps(answer).decode()
        )


def _replay_or_refuse(
    key: IdempotencyKey, at: int, digest: str, request_id: str, claimed_at: int, over_at: int, answer: str | None
) -> Any:
    told = {"request_id": request_id, "started_at": format_time(claimed_at)}
    if digest != key.digest:
        message = f"The idempotency key {key.name} belongs to another batch of the last 24 hours. Use a new key."
        raise Conflict(message, reason="other_text", **told)
    if answer is not None:
        return {**orjson.loads(answer), "repeated": True}
    if at <= over_at:
        message = "The batch with this idempotency key is still running. Ask again later with the same key."
        raise Conflict(message, reason="running", **told)
    message = (
        "The batch with this idempotency key was interrupted, so which of its steps took effect is not known here: "
        "the journal lists them under its request_id. Use a new key to run it again."
    )
    raise Conflict(message, reason="interrupted", **told)
