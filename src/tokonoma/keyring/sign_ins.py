"""Consents under way through a server: the browser comes back to another process than the one that waits for it.

The state is the key: the database holds a hash of it, and what the browser has brought, sealed with a key that is made
from it. So nobody but who began the consent can finish it, and nobody can read the code in the database.
"""

import hashlib

from tokonoma.core.clock import now
from tokonoma.core.desk import Rows, Statements
from tokonoma.core.errors import Conflict, Missing
from tokonoma.keyring.seal import SecretPlace, open_sealed, seal

_BEGIN = """insert into sign_in (id, provider, expires_at, answer, draft)
values (:id, :provider, :until, null, :draft)"""
_STORE = "update sign_in set answer = :answer where id = :id and answer is null and expires_at > :now"


def begin_sign_in(statements: Statements, provider: str, state: str, seconds: float, draft: str = "") -> None:
    """`draft`: what is necessary to finish a consent that began on a page; it is sealed like the answer."""
    statements.run("delete from sign_in where expires_at <= :now", now=now())
    id, until = _hash(state, "id").hex(), now() + int(seconds * 1000)
    sealed = seal(_hash(state, "key"), _place(provider, id), "draft", draft.encode()) if draft else None
    statements.run(_BEGIN, id=id, provider=provider, until=until, draft=sealed)


def read_draft(rows: Rows, state: str) -> str:
    """The draft of a consent that began on a page; empty if it did not. Missing once its time is over."""
    id = _hash(state, "id").hex()
    row = rows.row("select provider, draft, expires_at from sign_in where id = :id", id=id)
    if row is None or row[2] <= now():
        raise Missing("The time for this consent is over. Begin it again.", reason="sign_in")
    if row[1] is None:
        return ""
    return open_sealed(_hash(state, "key"), _place(row[0], id), "draft", bytes(row[1])).decode()


def is_awaited(rows: Rows, state: str) -> bool:
    """Whether somebody waits for the answer with this state. Conflict if it has come already."""
    sql = "select answer is null from sign_in where id = :id and expires_at > :now"
    row = rows.row(sql, id=_hash(state, "id").hex(), now=now())
    if row is not None and not row[0]:
        raise Conflict("This answer has already been used.", reason="used")
    return row is not None


def deliver_answer(statements: Statements, state: str, answer: str) -> None:
    """Store what the browser has brought, once. Conflict for a second time, Missing if nobody waits for it."""
    if not is_awaited(statements, state):
        raise Missing("Nobody waits for this answer, or its time is over.", reason="sign_in")
    id = _hash(state, "id").hex()
    ((provider,),) = statements.rows("select provider from sign_in where id = :id", id=id)
    sealed = seal(_hash(state, "key"), _place(provider, id), "state", answer.encode())
    if statements.run(_STORE, id=id, answer=sealed, now=now()) != 1:  # another has delivered at the same time
        raise Conflict("This answer has already been used.", reason="used")


def take_answer(rows: Rows, state: str) -> str | None:
    """What was delivered; None if nothing has come yet. Missing once its time is over."""
    id = _hash(state, "id").hex()
    row = rows.row("select provider, answer, expires_at from sign_in where id = :id", id=id)
    if row is None or row[2] <= now():
        raise Missing("The time for this consent is over. Run the command again.", reason="sign_in")
    if row[1] is None:
        return None
    return open_sealed(_hash(state, "key"), _place(row[0], id), "state", bytes(row[1])).decode()


def end_sign_in(statements: Statements, state: str) -> None:
    statements.run("delete from sign_in where id = :id", id=_hash(state, "id").hex())


def _hash(state: str, use: str) -> bytes:
    return hashlib.sha256(f"tokonoma sign-in {use}\0{state}".encode()).digest()


def _place(provider: str, id: str) -> SecretPlace:
    return SecretPlace(provider, id, "answer", "a consent")
