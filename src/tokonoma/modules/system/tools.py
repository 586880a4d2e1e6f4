"""The tools of the system module."""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.clock import format_time
from tokonoma.core.desk import Desk
from tokonoma.core.errors import Denied
from tokonoma.core.ids import Opaque


class ModuleStatus(TypedDict):
    name: str
    summary: str
    tools: int


class HealthPart(TypedDict):
    ok: bool
    says: str


class VectorStatus(TypedDict):
    model: str
    made: int
    waiting: int
    failed: int


class ServerStatus(TypedDict):
    version: str
    started_at: str
    modules: list[ModuleStatus]
    health: dict[str, HealthPart]
    sizes: dict[str, int]
    vectors: list[VectorStatus]


class ServerPlaces(TypedDict):
    places: dict[str, str]


class RecentCall(TypedDict):
    at: str
    request_id: str
    module: str
    tool: str
    outcome: str
    code: NotRequired[str]
    duration_us: NotRequired[int]
    principal: str
    transport: str
    remote: NotRequired[str]
    trace_id: str
    parent: NotRequired[str]
    bytes_in: NotRequired[int]
    bytes_out: NotRequired[int]


class RecentCalls(TypedDict):
    items: list[RecentCall]
    has_more: bool
    next_cursor: NotRequired[Opaque]


def status(desk: Desk) -> ServerStatus:
    """Return version, modules, health of each part, sizes of the data that you see, and the vectors of each model."""
    server = desk.server
    return {
        "version": server.version,
        "started_at": format_time(server.started_at),
        "modules": [
            {"name": module.name, "summary": module.summary, "tools": len(module.entries)}
            for module in server.visible_modules(desk.principal)
        ],
        "health": {name: HealthPart(ok=part["ok"], says=part["says"]) for name, part in server.health().items()},
        "sizes": dict(server.sizes(desk.principal, desk.call.granted_view.classifications)),
        "vectors": [VectorStatus(**each) for each in server.vectors()],
    }


def where(desk: Desk) -> ServerPlaces:
    """Return the folders and the database of this server. Only for the owner."""
    if desk.principal.kind != "owner":
        raise Denied("Only the owner of the server can see where its files are.")
    return {"places": dict(desk.server.locations())}


def recent(
    desk: Desk,
    limit: Annotated[int, Field(ge=1, le=200, description="number of calls")] = 20,
    cursor: Annotated[str | None, Field(description="next_cursor of the page before")] = None,
) -> RecentCalls:
    """List your own recent calls (the owner sees all), newest first: time, tool, outcome, duration. Reads appear up to
    0.2 s late."""
    start = desk.open_cursor("journal", cursor) if cursor else None
    items, after = desk.server.recent_entries(desk.principal, limit, start)
    page: RecentCalls = {"items": [RecentCall(**item) for item in items], "has_more": after is not None}
    if after is not None:
        page["next_cursor"] = desk.seal_cursor("journal", *after)
    return page
