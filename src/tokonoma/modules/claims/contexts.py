"""pce.memory.context.list: the active contexts of a caller that have not expired."""

import json
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.clock import format_time
from tokonoma.core.desk import Desk
from tokonoma.core.ids import Opaque
from tokonoma.modules.claims import model
from tokonoma.modules.claims.model import PageCursor

_KIND = "contexts"
_LATEST = 2**62
_CONTEXTS = """select id, created_at, expires_at, policy_version, scopes, claims from active_context
    where caller = :caller and (expires_at is null or expires_at > :now)
    and (created_at < :created or (created_at = :created and id < :last))
    order by created_at desc, id desc limit :most"""


class ContextEntry(TypedDict):
    active_context_id: str
    created_at: str
    expires_at: NotRequired[str]
    policy_version: str
    scopes: list[model.Scope]
    claims_count: int


class ContextList(TypedDict):
    items: list[ContextEntry]
    has_more: bool
    next_cursor: NotRequired[Opaque]
    policy_version: str


def list_contexts(
    desk: Desk,
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
    cursor: PageCursor = None,
) -> ContextList:
    """List your active contexts, newest first, with the number of claims that each had when it was made."""
    created, last = desk.open_cursor(_KIND, cursor) if cursor else (_LATEST, "")
    rows = desk.rows(_CONTEXTS, caller=desk.principal.name, now=desk.now(), created=created, last=last, most=limit + 1)
    page: ContextList = {
        "items": [_to_context_entry(*row) for row in rows[:limit]],
        "has_more": len(rows) > limit,
        "policy_version": desk.policy.version,
    }
    if len(rows) > limit:
        page["next_cursor"] = desk.seal_cursor(_KIND, rows[limit - 1][1], rows[limit - 1][0])
    return page


def _to_context_entry(
    id: str, created: int, expires: int | None, version: str, scopes: str, claims: str
) -> ContextEntry:
    kept: list[Any] = json.loads(claims)
    entry: ContextEntry = {
        "active_context_id": id,
        "created_at": format_time(created),
        "policy_version": version,
        "scopes": scopes.split(),
        "claims_count": len(kept),
    }
    if expires is not None:
        entry["expires_at"] = format_time(expires)
    return entry
