"""Approvals: calls that wait until a person allows them, because a rule of the policy says `ask`.

An approval is for one call: the digest binds the caller, the tool, the account and all parameters. It is used up by the
first call with this digest, in the transaction that reads it, so it never runs twice. What a person has refused, or not
answered yet, is not asked again while it lasts.
"""

import hashlib
import hmac
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import orjson

from tokonoma.core.call import Principal
from tokonoma.core.desk import Row, Rows, Statements
from tokonoma.core.errors import Conflict, Expired, Invalid, Limited, Missing, Unavailable
from tokonoma.core.module import Migration

ApprovalState = Literal["pending", "approved", "denied", "used", "expired"]

LIFETIME = 10 * 60 * 1000  # milliseconds, from the question to the call
MAX_PENDING = 20  # of one principal
MAX_PARAMS = 2**20  # bytes: a person does not read more than that before deciding
_HISTORY = 7 * 86_400_000  # milliseconds that an approval stays listed, without its parameters
_PURPOSE = b"tokonoma approval"
_NONCE = 12
_LETTERS = "bcdfghjkmnpqrstvwxz"  # no digits: no detector takes an id for a number; no vowels: nor is it a word

TABLE = Migration(
    "005_approvals",
    (
        # One row, which a transaction locks that asks or decides: so the bound holds, and nothing is asked twice.
        "create table approval_lock (id integer not null primary key)",
        "insert into approval_lock (id) values (1)",
        """create table approval (
            id {text} not null primary key, digest {text} not null, principal {text} not null, tool text not null,
            account text not null, params {blob} not null, state {text} not null, created_at {big} not null,
            expires_at {big} not null, decided_by text not null, decided_at {big}
        )""",
        "create index approval_digest on approval (digest)",
        "create index approval_state on approval (state, expires_at)",
    ),
)
_COLUMNS = "id, digest, principal, tool, account, state, created_at, expires_at, decided_by, decided_at"
_OPEN = "state in ('pending', 'approved', 'denied') and expires_at > :at"
_EXPIRE = """update approval set state = 'expired', params = :none
where state in ('pending', 'approved') and expires_at <= :at"""


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """A call that needs an approval."""

    who: Principal
    tool: str  # its path
    account: str  # of a service; else empty
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Approval:
    id: str
    digest: str
    principal: str
    tool: str
    account: str
    state: ApprovalState
    created_at: int
    expires_at: int
    decided_by: str = ""
    decided_at: int | None = None
    params: Mapping[str, Any] = field(default_factory=dict[str, Any])  # where they were asked for, and are still kept


def make_digest(request: ApprovalRequest) -> str:
    """Equal only for the same call by the same caller. Its namespaces count: relative names mean something else when
    they have changed. The order of keys does not."""
    who = request.who
    caller = [who.kind, who.name, who.person, who.root, who.default]
    parts = [caller, request.tool, request.account, request.params]
    return hashlib.sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)).hexdigest()


# What a call does


def use_or_ask(statements: Statements, request: ApprovalRequest, salt: bytes, at: int) -> Approval:
    """Use up the approval for this call: its state is then `used`, and the call runs once the transaction is committed.
    Else the question that is open for it, or a new one."""
    approval = find_or_ask(statements, request, salt, at)
    if approval.state != "approved":
        return approval
    statements.run("update approval set state = 'used', params = :none where id = :id", none=b"", id=approval.id)
    return replace(approval, state="used")


def find_or_ask(statements: Statements, request: ApprovalRequest, salt: bytes, at: int) -> Approval:
    """The approval that is open for this call, in whatever state; if there is none, a new question."""
    _lock(statements, at)
    digest = make_digest(request)
    sql = f"select {_COLUMNS} from approval where digest = :digest and {_OPEN}"  # noqa: S608
    row = statements.row(sql, digest=digest, at=at)
    return _to_approval(row) if row is not None else _ask(statements, request, digest, salt, at)


def _ask(statements: Statements, request: ApprovalRequest, digest: str, salt: bytes, at: int) -> Approval:
    body = orjson.dumps(request.params)
    if len(body) > MAX_PARAMS:
        message = f"{request.tool} needs an approval, and a person cannot look through {len(body)} bytes of parameters."
        raise Invalid(f"{message} At most {MAX_PARAMS} can be approved.", reason="approval_size", limit=MAX_PARAMS)
    name = request.who.name
    sql = "select count(*) from approval where principal = :name and state = 'pending'"
    ((count,),) = statements.rows(sql, name=name)
    if count >= MAX_PENDING:
        raise Limited(
            f"{count} calls of this caller wait for an approval already. A person decides about them with `tokonoma "
            "approvals list`; each expires 10 minutes after it was asked for.",
            reason="approvals",
            limit=MAX_PENDING,
        )
    id = "".join(secrets.choice(_LETTERS) for _ in range(10))
    approval = Approval(id, digest, name, request.tool, request.account, "pending", at, at + LIFETIME)
    statements.run(
        f"""insert into approval ({_COLUMNS}, params) values (:id, :digest, :principal, :tool, :account, :state,
        :created_at, :expires_at, :decided_by, :decided_at, :params)""",  # noqa: S608
        params=_seal(salt, approval, body),
        **{name: getattr(approval, name) for name in _COLUMNS.split(", ")},
    )
    return approval


def _lock(statements: Statements, at: int) -> None:
    statements.row("select id from approval_lock where id = 1 {for_update}")
    statements.run(_EXPIRE, none=b"", at=at)
    statements.run("delete from approval where created_at < :before", before=at - _HISTORY)


# What a person does


def list_approvals(rows: Rows, at: int, *, all_states: bool = False) -> list[Approval]:
    """Those that wait for a decision, oldest first; or all of the last days, newest first."""
    if all_states:
        found = rows.rows(f"select {_COLUMNS} from approval order by created_at desc, id")  # noqa: S608
    else:
        sql = f"select {_COLUMNS} from approval where state = 'pending' and expires_at > :at order by created_at, id"  # noqa: S608
        found = rows.rows(sql, at=at)
    return [_settle(_to_approval(row), at) for row in found]


def find_approval(rows: Rows, id: str, salt: bytes, at: int) -> Approval:
    """One of them with its parameters, as long as it is open."""
    row = rows.row(f"select {_COLUMNS}, params from approval where id = :id", id=id)  # noqa: S608
    if row is None:
        known = [each.id for each in list_approvals(rows, at)]
        listed = f"Waiting are: {', '.join(known)}." if known else "None is waiting."
        raise Missing(f"There is no approval {id[:40]!r}. {listed}", reason="approval", approvals=known)
    approval, sealed = _settle(_to_approval(row[:-1]), at), bytes(row[-1])
    if not sealed or approval.state == "expired":
        return approval
    return replace(approval, params=orjson.loads(_unseal(salt, approval, sealed)))


def decide_approval(
    statements: Statements, id: str, verdict: Literal["approved", "denied"], by: str, salt: bytes, at: int
) -> Approval:
    """Conflict if it is decided already, Expired if its time is over."""
    _lock(statements, at)
    approval = find_approval(statements, id, salt, at)
    if approval.state == "expired":
        message = f"The approval {id} has expired: a call waits 10 minutes. It must be made again."
        raise Expired(message, reason="approval")
    if approval.state != "pending":
        message = f"The approval {id} is {approval.state} already. Nothing was changed."
        raise Conflict(message, reason="approval", state=approval.state)
    statements.run(
        "update approval set state = :state, decided_by = :by, decided_at = :at where id = :id",
        state=verdict, by=by, at=at, id=id,
    )  # fmt: skip
    if verdict == "denied":
        statements.run("update approval set params = :none where id = :id", none=b"", id=id)
    return replace(approval, state=verdict, decided_by=by, decided_at=at)


def _to_approval(row: Row) -> Approval:
    return Approval(*row)


def _settle(approval: Approval, at: int) -> Approval:
    """As it is by now: a row is marked with the next question or decision."""
    is_over = approval.state in ("pending", "approved") and approval.expires_at <= at
    return replace(approval, state="expired") if is_over else approval


# Parameters at rest


def _seal(salt: bytes, approval: Approval, body: bytes) -> bytes:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # 8 MB: not before the first question

    nonce = os.urandom(_NONCE)
    return nonce + AESGCM(_derive_key(salt)).encrypt(nonce, body, _bind(approval))


def _unseal(salt: bytes, approval: Approval, sealed: bytes) -> bytes:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        return AESGCM(_derive_key(salt)).decrypt(sealed[:_NONCE], sealed[_NONCE:], _bind(approval))
    except (InvalidTag, ValueError) as error:
        message = f"The stored parameters of the approval {approval.id} were changed. Do not approve it."
        raise Unavailable(message, reason="damaged") from error


def _derive_key(salt: bytes) -> bytes:
    return hmac.digest(salt, _PURPOSE, hashlib.sha256)


def _bind(approval: Approval) -> bytes:
    """The parameters that are shown belong to this caller, tool and digest, whatever was written into the row since."""
    return orjson.dumps([approval.id, approval.digest, approval.principal, approval.tool, approval.account])
