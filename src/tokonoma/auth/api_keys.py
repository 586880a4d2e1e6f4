"""API keys: shown once, stored as a hash. A key carries a `Reach`: namespaces, modules, mask."""

import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tokonoma.auth.reaches import from_columns, to_columns, to_response
from tokonoma.core.call import Principal
from tokonoma.core.clock import format_time, now, parse_time
from tokonoma.core.desk import Row, Rows, Statements
from tokonoma.core.errors import Conflict, Invalid, Missing, Unauthenticated
from tokonoma.core.module import Migration
from tokonoma.core.namespaces import is_inside, normalize_namespace
from tokonoma.core.reach import UNLIMITED, Reach, parse_mask

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
    Migration("002_extras", ("alter table api_key add column extras text not null default '[]'",)),
    # One row, once a key was created: before it, whether a key is required was told by the rows of api_key.
    Migration(
        "003_http_access",
        (
            "create table http_access (id integer not null primary key, key_required integer not null)",
            "insert into http_access select 1, 1 where exists (select 1 from api_key)",
        ),
    ),
)

_PREFIX = "tkn"
_UNIT_MS = {"m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_COLUMNS = "id, name, hash, root, start, modules, mask, extras, created_at, expires_at, revoked_at"
_NAMED = f"select {_COLUMNS} from api_key where (name = :name or id = :name) and revoked_at is null"  # noqa: S608
_REQUIRE = """insert into http_access values (1, :required)
on conflict (id) do update set key_required = excluded.key_required"""
_UPDATE = """update api_key set root = :root, start = :start, modules = :modules, mask = :mask, extras = :extras,
expires_at = :expires_at where id = :id"""


@dataclass(frozen=True, slots=True)
class StoredKey:
    id: str
    name: str
    hash: bytes
    reach: Reach
    created_at: int
    expires_at: int | None
    revoked_at: int | None

    @property
    def state(self) -> str:
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= now() else "active"

    @property
    def principal(self) -> Principal:
        return Principal(f"key:{self.name}", "key", self.reach)

    def to_response(self) -> dict[str, Any]:
        """Everything but the hash."""
        return {
            "id": self.id,
            "name": self.name,
            **to_response(self.reach),
            "created_at": format_time(self.created_at),
            "expires_at": None if self.expires_at is None else format_time(self.expires_at),
            "state": self.state,
        }


def build_reach(
    root: str = "/",
    default: str | None = None,
    modules: Sequence[str] | None = None,
    mask: Sequence[str] = (),
    extras: Sequence[str] = (),
) -> Reach:
    """A checked reach. Conflict if the default lies outside the root, Invalid for a mask that is none."""
    root = normalize_namespace(root)
    start = normalize_namespace(default) if default else root
    if not is_inside(start, root):
        raise Conflict(f"The default namespace {start} is not inside the root {root}.", reason="default")
    for rule in mask:
        parse_mask(rule)
    return Reach(root, start, None if modules is None else frozenset(modules), frozenset(mask), frozenset(extras))


def parse_expiry(text: str) -> int:
    """Parse `90d`, `12h`, a date or a time into milliseconds since the epoch; it must be in the future."""
    length = re.fullmatch(r"([0-9]{1,6})([mhdw])", text)
    try:
        time = now() + int(length[1]) * _UNIT_MS[length[2]] if length else parse_time(text)
    except (ValueError, OverflowError):
        message = "Use a duration like 90d, 12h, 30m or 4w, or a date like 2027-01-31."
        raise Invalid(message, field="expires") from None
    if time <= now():
        raise Invalid(f"{format_time(time)} has already passed.", field="expires")
    return time


def create_key(
    statements: Statements, name: str, reach: Reach = UNLIMITED, expires_at: int | None = None
) -> str:  # fmt: skip
    """Store a new key and return it. Only its hash is stored, so it cannot be shown again."""
    if statements.row("select 1 from api_key where name = :name and revoked_at is null", name=name):
        raise Conflict(f"There is already a key called {name!r}. Revoke it first or choose another name.")
    # Names are free again after a revocation; the old row stays for the journal's sake under its id.
    statements.run("update api_key set name = name || ' ' || id where name = :name", name=name)
    key_id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    statements.run(
        """insert into api_key (id, name, hash, root, start, modules, mask, extras, created_at, expires_at)
        values (:id, :name, :hash, :root, :start, :modules, :mask, :extras, :created_at, :expires_at)""",
        id=key_id,
        name=name,
        hash=_hash(secret),
        created_at=now(),
        expires_at=expires_at,
        **to_columns(reach),
    )
    statements.run(_REQUIRE, required=1)
    return f"{_PREFIX}_{key_id}_{secret}"


def update_key(statements: Statements, name: str, reach: Reach, expires_at: int | None) -> StoredKey:
    """Replace what a key may use. The secret stays the same; requests follow the new reach within a second."""
    key = find_key(statements, name)
    statements.run(_UPDATE, id=key.id, expires_at=expires_at, **to_columns(reach))
    return replace(key, reach=reach, expires_at=expires_at)


def revoke_key(statements: Statements, name: str) -> None:
    """By name or by id."""
    changed = statements.run(
        "update api_key set revoked_at = :at where (name = :name or id = :name) and revoked_at is null",
        at=now(),
        name=name,
    )
    if not changed:
        raise Missing(f"There is no key called {name!r} to revoke. `tokonoma keys list` lists them.")


def list_keys(rows: Rows) -> list[StoredKey]:
    """All keys, newest first."""
    found = rows.rows(f"select {_COLUMNS} from api_key order by created_at desc, id")  # noqa: S608
    return [_to_key(row) for row in found]


def is_key_required(rows: Rows) -> bool:
    """Whether HTTP callers on this machine need a key, too: from the first key on, until `open_access`."""
    row = rows.row("select key_required from http_access where id = 1")
    return row is not None and bool(row[0])


def open_access(statements: Statements) -> bool:
    """Let HTTP callers on this machine be the owner again; False if they are already. Conflict while a key is active:
    whoever has one would have fewer rights than a caller without any."""
    active = [key.name for key in list_keys(statements) if key.state == "active"]
    if active:
        raise Conflict(f"Keys are in use: {', '.join(active)}. Revoke them first with `tokonoma keys revoke NAME`.")
    was_required = is_key_required(statements)
    statements.run(_REQUIRE, required=0)
    return was_required


def find_key(rows: Rows, name: str) -> StoredKey:
    """The key with this name or id, for the owner, who needs no secret. Missing if it is unknown or revoked."""
    row = rows.row(_NAMED, name=name)
    if row is None:
        message = f"There is no key called {name!r}. `tokonoma keys list` lists them."
        raise Missing(message, reason="unknown_key")
    return _to_key(row)


def find_active(rows: Rows, name: str) -> Principal:
    """The principal of a key by its name. Unauthenticated once it is revoked or expired."""
    key = find_key(rows, name)
    if key.state != "active":
        raise Unauthenticated(f"The key {key.name!r} has expired.", reason="expired_key")
    return key.principal


def verify_token(rows: Rows, token: str) -> Principal:
    """The principal of this key. Unauthenticated if it is unknown, revoked or expired. The message is always the same;
    the reason is for the owner's journal."""
    message = "This API key is not valid. Create one with `tokonoma keys create`."
    refused = Unauthenticated(message, reason="unknown_key")
    prefix, _, rest = token.partition("_")
    key_id, _, secret = rest.partition("_")
    if prefix != _PREFIX or not secret or not token.isascii():
        raise refused
    row = rows.row(f"select {_COLUMNS} from api_key where id = :id", id=key_id)  # noqa: S608
    if row is None:
        raise refused
    key = _to_key(row)
    if not hmac.compare_digest(key.hash, _hash(secret)):
        raise refused
    if key.revoked_at is not None:
        raise Unauthenticated(message, reason="revoked_key")
    if key.state != "active":
        raise Unauthenticated(message, reason="expired_key")
    return key.principal


def _hash(secret: str) -> bytes:
    # 256 random bits: nothing to guess, so a slow hash would only slow down every request.
    return hashlib.sha256(secret.encode()).digest()


def _to_key(row: Row) -> StoredKey:
    key_id, name, digest, *rest = row
    reach, times = rest[:5], rest[5:]
    return StoredKey(key_id, name, bytes(digest), from_columns(reach), *times)
