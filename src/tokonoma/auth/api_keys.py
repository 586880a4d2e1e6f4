"""API keys: shown once, kept as a hash. A key carries its namespace root and default, its modules and its mask."""

import hashlib
import hmac
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tokonoma.core.call import Principal
from tokonoma.core.clock import format_time, now
from tokonoma.core.desk import Rows, Statements
from tokonoma.core.errors import Conflict, Missing, Unauthenticated
from tokonoma.core.module import Migration
from tokonoma.core.namespaces import is_inside, normalize_namespace

TABLES = (
    Migration(
        "001_api_key",
        (
            """create table api_key (
                id text not null primary key,
                name text not null unique,
                hash {blob} not null,
                root text not null,
                start text not null,
                modules text,
                mask text not null,
                created_at {big} not null,
                expires_at {big},
                revoked_at {big}
            )""",
        ),
    ),
)

_PREFIX = "tkn"


@dataclass(frozen=True, slots=True)
class KeyGrant:
    """What a new key may reach."""

    name: str
    root: str = "/"
    default: str | None = None
    modules: Sequence[str] | None = None
    mask: Sequence[str] = ()
    expires_at: int | None = None


def create_key(statements: Statements, grant: KeyGrant) -> str:
    """Store a new key and return it: the only time that anybody sees it."""
    root = normalize_namespace(grant.root)
    start = normalize_namespace(grant.default) if grant.default else root
    if not is_inside(start, root):
        raise Conflict(f"The default namespace {start} does not lie inside the root {root}.", reason="default")
    if statements.row("select 1 from api_key where name = :name and revoked_at is null", name=grant.name):
        raise Conflict(f"There is already a key called {grant.name!r}. Revoke it first or choose another name.")
    # Names are free again after a revocation; the old row stays for the journal's sake under its id.
    statements.run("update api_key set name = name || ' ' || id where name = :name", name=grant.name)
    key_id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    statements.run(
        """insert into api_key (id, name, hash, root, start, modules, mask, created_at, expires_at)
        values (:id, :name, :hash, :root, :start, :modules, :mask, :created_at, :expires_at)""",
        id=key_id,
        name=grant.name,
        hash=_hash(secret),
        root=root,
        start=start,
        modules=None if grant.modules is None else json.dumps(sorted(grant.modules)),
        mask=json.dumps(sorted(grant.mask)),
        created_at=now(),
        expires_at=grant.expires_at,
    )
    return f"{_PREFIX}_{key_id}_{secret}"


def revoke_key(statements: Statements, name: str) -> None:
    """By name or by id."""
    changed = statements.run(
        "update api_key set revoked_at = :at where (name = :name or id = :name) and revoked_at is null",
        at=now(),
        name=name,
    )
    if not changed:
        raise Missing(f"There is no key called {name!r} that could be revoked.")


def list_keys(rows: Rows) -> list[dict[str, Any]]:
    """All keys, newest first, without anything that could be used."""
    found = rows.rows(
        """select id, name, root, start, modules, mask, created_at, expires_at, revoked_at
        from api_key order by created_at desc, id"""
    )
    return [_to_response(row) for row in found]


def keys_exist(rows: Rows) -> bool:
    """Whether any key was ever made: from then on a key is required over HTTP, even if all are revoked."""
    return rows.row("select 1 from api_key limit 1") is not None


def find_principal(rows: Rows, token: str) -> Principal:
    """Who this key belongs to; Unauthenticated if it is unknown, revoked or over, without saying which."""
    refused = Unauthenticated("This API key is not valid. Make one with `tokonoma keys create`.")
    prefix, _, rest = token.partition("_")
    key_id, _, secret = rest.partition("_")
    if prefix != _PREFIX or not secret or not token.isascii():
        raise refused
    row = rows.row(
        "select name, hash, root, start, modules, mask, expires_at, revoked_at from api_key where id = :id", id=key_id
    )
    if row is None or not hmac.compare_digest(bytes(row[1]), _hash(secret)):
        raise refused
    name, _, root, start, modules, mask, expires_at, revoked_at = row
    if revoked_at is not None or (expires_at is not None and expires_at <= now()):
        raise refused
    seen = None if modules is None else frozenset(json.loads(modules))
    return Principal(f"key:{name}", "key", root, start, seen, frozenset(json.loads(mask)))


def _hash(secret: str) -> bytes:
    # 256 random bits: nothing to guess, so a slow hash would only slow down every request.
    return hashlib.sha256(secret.encode()).digest()


def _to_response(row: tuple[Any, ...]) -> dict[str, Any]:
    key_id, name, root, start, modules, mask, created_at, expires_at, revoked_at = row
    over = expires_at is not None and expires_at <= now()
    return {
        "id": key_id,
        "name": name,
        "root": root,
        "default": start,
        "modules": "all" if modules is None else json.loads(modules),
        "mask": json.loads(mask),
        "created_at": format_time(created_at),
        "expires_at": None if expires_at is None else format_time(expires_at),
        "state": "revoked" if revoked_at is not None else "expired" if over else "active",
    }
