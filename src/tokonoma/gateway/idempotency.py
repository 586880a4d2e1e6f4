"""Idempotency keys: a batch that is sent twice with one key runs once, across restarts and processes, for a day.

The claim is committed before the first step runs and the result after the last, so a batch never runs twice. If the
process dies in between, the claim remains: a repeated request fails with the message that the outcome is unknown.

A stored result was made under one policy, for one reach. If either has changed since, or if records were purged, a
repetition only says how each step ended.
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
from tokonoma.gateway.results import BatchResult, leave_out_texts

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
    Migration("002_seen_under", ("alter table batch_key add column seen_under text not null default ''",)),
)

_CLAIM = """
    insert into batch_key (scope, name, digest, request_id, seen_under, claimed_at, over_at)
    values (:scope, :name, :digest, :request_id, :seen_under, :at, :over_at) on conflict (scope, name) do nothing
"""
_READ = """select digest, request_id, claimed_at, over_at, answer, seen_under from batch_key
where scope = :scope and name = :name"""
_RELEASE = "delete from batch_key where request_id = :request_id and scope = :scope and name = :name"
_ANSWERS = "select scope, name, request_id, answer from batch_key where answer is not null"
_SAVE = "update batch_key set answer = :answer where scope = :scope and name = :name and request_id = :request_id"


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """A key of one principal, for one text, claimed by one request. `seen_under` stands for what decides what this
    principal may see: the policy and its reach."""

    scope: str
    name: str
    digest: str
    request_id: str
    seen_under: str


def build_key(principal: Principal, name: str, text: str, request_id: str, policy_state: str) -> IdempotencyKey:
    """The scope includes the namespaces: if they change, the same text means something else."""
    reach = principal.reach
    modules = None if reach.modules is None else sorted(reach.modules)
    allowed = (modules, sorted(reach.mask), sorted(reach.extras), reach.accounts_from)
    scope = orjson.dumps([principal.kind, principal.name, principal.root, principal.default]).decode()
    name = orjson.dumps(name).decode()  # PostgreSQL holds no NUL in a text
    seen_under = _digest(orjson.dumps([policy_state, allowed]))
    return IdempotencyKey(scope, name, _digest(text.encode()), request_id, seen_under)


def claim_key(writing: OpenTransaction, key: IdempotencyKey, seconds: float, stop: CancelToken) -> BatchResult | None:
    """None: this request has the key and runs the batch. Else the first result; Conflict if there is none."""
    at = now()
    with writing(stop) as statements:
        statements.run("delete from batch_key where claimed_at < :before", before=at - RETENTION)
        claimed = statements.run(_CLAIM, **asdict(key), at=at, over_at=at + int(seconds * 1000))
        found = None if claimed else statements.row(_READ, scope=key.scope, name=key.name)
    return None if found is None else _replay_or_refuse(key, at, *found)


def release_key(writing: OpenTransaction, key: IdempotencyKey) -> None:
    """Give a key back that was claimed for a batch which has not begun."""
    with writing(None) as statements:
        statements.run(_RELEASE, scope=key.scope, name=key.name, request_id=key.request_id)


def save_result(writing: OpenTransaction, key: IdempotencyKey, result: BatchResult) -> None:
    """Store the result, also if the call was cancelled: the steps have run, and that must be known."""
    with writing(None) as statements:
        values = {"scope": key.scope, "name": key.name, "request_id": key.request_id}
        statements.run(_SAVE, **values, answer=orjson.dumps(result).decode())


def shorten_answers(statements: Statements) -> None:
    """Remove all texts from the stored results: they may show records that were purged."""
    for scope, name, request_id, answer in statements.rows(_ANSWERS):
        short = orjson.dumps(leave_out_texts(orjson.loads(answer), "records were purged")).decode()
        statements.run(_SAVE, scope=scope, name=name, request_id=request_id, answer=short)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _replay_or_refuse(
    key: IdempotencyKey,
    at: int,
    digest: str,
    request_id: str,
    claimed_at: int,
    over_at: int,
    answer: str | None,
    seen_under: str,
) -> Any:
    if digest != key.digest:
        reason = "other_text"
        message = f"The idempotency key {key.name} was used for another batch in the last 24 hours. Use a new key."
    elif answer is not None:
        result = orjson.loads(answer)
        if seen_under != key.seen_under:
            result = leave_out_texts(result, "the policy, or what this credential may use, has changed")
        return {**result, "repeated": True}
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
