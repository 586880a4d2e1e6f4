"""Grants: what a person has allowed a client. Lists, names, narrowing and revoking; tokens only refer to them."""

import re
import secrets
from dataclasses import dataclass
from typing import Any

from tokonoma.auth.oauth.model import TokenClaims
from tokonoma.auth.people import OWNER_ID, find_person
from tokonoma.auth.reaches import find_excess, from_columns, intersect, to_columns, to_response
from tokonoma.core.call import Principal
from tokonoma.core.clock import format_time, now
from tokonoma.core.desk import Row, Rows, Statements
from tokonoma.core.errors import Denied, Missing, Unauthenticated
from tokonoma.core.reach import Reach

_MAX_SLUG = 40  # characters
_SELECT = """select g.id, g.name, g.client, c.name, g.person, p.name, g.resource, g.scope, g.created_at, g.used_at,
g.remote, g.reused, g.reused_at, g.reused_remote, coalesce(g.revoked_at, p.revoked_at),
(select max(expires_at) from oauth_refresh r where r.grant_id = g.id),
g.root, g.start, g.modules, g.mask, g.extras, p.root, p.start, p.modules, p.mask, p.extras
from oauth_grant g join person p on p.id = g.person left join oauth_client c on c.id = g.client """
_INSERT = """insert into oauth_grant (id, name, client, person, resource, scope, root, start, modules, mask, extras,
created_at, used_at, remote) values (:id, :name, :client, :person, :resource, :scope, :root, :start, :modules, :mask,
:extras, :at, :at, :remote) on conflict (name) do nothing"""


@dataclass(frozen=True, slots=True)
class StoredGrant:
    id: str
    name: str
    client: str  # its id
    client_name: str
    person: str  # its id
    person_name: str
    resource: str
    scope: str
    created_at: int
    used_at: int | None  # when it last got a token
    remote: str | None
    reused: int  # how often a refresh token was used again within the time that this is allowed
    reused_at: int | None
    reused_remote: str | None
    revoked_at: int | None  # of the grant, or of its person
    expires_at: int | None  # of its last refresh token
    reach: Reach  # as the person has chosen
    effective: Reach | None  # and may use; None: nothing is left

    @property
    def state(self) -> str:
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= now() else "active"

    @property
    def principal(self) -> Principal:
        if self.effective is None:
            raise Denied("The person behind this client may not use any of what it was allowed.", reason="reach")
        return Principal(f"client:{self.name}", "client", self.effective, self.person)

    def to_response(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "name": self.name,
            "client": self.client_name,
            "client_id": self.client,
            "person": self.person_name,
            **to_response(self.reach),
            "created_at": format_time(self.created_at),
            "used_at": None if self.used_at is None else format_time(self.used_at),
            "remote": self.remote,
            "reused": self.reused,
            "reused_at": None if self.reused_at is None else format_time(self.reused_at),
            "reused_remote": self.reused_remote,
            "state": self.state,
        }


def create_grant(
    statements: Statements, client_id: str, name: str, claims: TokenClaims, reach: Reach, remote: str | None
) -> TokenClaims:
    """Store a grant under the next free name of its client; the claims with its id. A name is never given twice: rules
    of the policy and entries of the journal mean one grant for ever."""
    grant_id, slug = secrets.token_hex(8), build_slug(name)
    number = 1
    while not statements.run(
        _INSERT,
        id=grant_id,
        name=slug if number == 1 else f"{slug}-{number}",
        client=client_id,
        person=claims.person,
        resource=claims.resource,
        scope=claims.scope,
        remote=remote,
        at=now(),
        **to_columns(reach),
    ):
        number += 1
    return TokenClaims(grant_id, claims.person, client_id, claims.resource, claims.scope)


def build_slug(name: str) -> str:
    """`Claude Code (work)` → `claude-code-work`"""
    words = re.findall(r"[a-z0-9]+", name.lower())
    return "-".join(words)[:_MAX_SLUG].strip("-") or "client"


def list_grants(rows: Rows) -> list[StoredGrant]:
    """All grants, newest first."""
    return [_to_grant(row) for row in rows.rows(f"{_SELECT} order by g.created_at desc, g.id")]


def find_grant(rows: Rows, name: str) -> StoredGrant:
    """By name or id, also with `client:` in front, as policy and journal write it."""
    wanted = name.removeprefix("client:")
    row = rows.row(f"{_SELECT} where g.name = :name or g.id = :name", name=wanted)
    if row is None:
        raise Missing(f"There is no client called {name!r}. `tokonoma clients list` lists them.")
    return _to_grant(row)


def update_grant_reach(statements: Statements, name: str, reach: Reach) -> StoredGrant:
    """Replace what a client may use. It keeps its tokens; requests follow within a second."""
    grant = _find_living(statements, name)
    sql = "update oauth_grant set root = :root, start = :start, modules = :modules, mask = :mask, extras = :extras"
    statements.run(f"{sql} where id = :id", id=grant.id, **to_columns(reach))
    return find_grant(statements, grant.id)


def narrow_grant(statements: Statements, name: str, reach: Reach) -> StoredGrant:
    """The same as the owner does it: Denied for more than the person may use who let the client in."""
    grant = find_grant(statements, name)
    person = find_person(statements, grant.person)
    excess = "" if person.is_owner else find_excess(reach, person.reach)
    if excess:
        raise Denied(f"{person.name!r}, who let this client in, may not use {excess}.", reason="reach")
    return update_grant_reach(statements, name, reach)


def revoke_grant(statements: Statements, name: str) -> StoredGrant:
    """By name or id. Its tokens are worth nothing within a second."""
    grant = _find_living(statements, name)
    end_grant(statements, grant.id)
    return find_grant(statements, grant.id)


def end_grant(statements: Statements, grant_id: str) -> None:
    sql = "update oauth_grant set revoked_at = :at where id = :id and revoked_at is null"
    statements.run(sql, at=now(), id=grant_id)


def find_holder(rows: Rows, claims: TokenClaims) -> Principal:
    """The client that a verified token belongs to, with what it may use at this moment."""
    row = rows.row(f"{_SELECT} where g.id = :id", id=claims.grant)
    grant = None if row is None else _to_grant(row)
    if grant is None or grant.revoked_at is not None:
        raise Unauthenticated("The client's access was revoked. Sign in again.", reason="revoked_grant")
    if (grant.person, grant.client, grant.resource) != (claims.person, claims.client_id, claims.resource):
        raise Unauthenticated("This access token is not one of this server's.", reason="token")
    return grant.principal


def _find_living(statements: Statements, name: str) -> StoredGrant:
    grant = find_grant(statements, name)
    if grant.revoked_at is not None:
        raise Missing(f"The access of {name!r} was revoked before. `tokonoma clients list` lists all clients.")
    return grant


def _to_grant(row: Row) -> StoredGrant:
    own, person = from_columns(row[16:21]), from_columns(row[21:26])
    # The owner may use everything; of others, what both may use.
    effective = own if row[4] == OWNER_ID else intersect(own, person)
    facts = [*row[:3], row[3] or row[1], *row[4:16]]  # a client that was deleted has no name any more
    return StoredGrant(*facts, reach=own, effective=effective)
