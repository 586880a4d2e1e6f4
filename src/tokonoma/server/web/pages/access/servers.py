"""`/admin/servers`: MCP servers as modules: add, review what they offer, approve, restart, remove, and their log."""

import shlex
from collections.abc import Mapping
from functools import partial
from typing import Any, cast

from starlette.routing import BaseRoute, Route

from tokonoma.core.errors import Invalid, Refusal
from tokonoma.core.module import Effect
from tokonoma.server.web.access_parts import ServerFields, ServerParts
from tokonoma.server.web.page_parts import PageParts
from tokonoma.server.web.pages.handler import PageHandler
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path, redirect
from tokonoma.upstream.pins import PinnedTool, describe_change, find_effect
from tokonoma.upstream.texts import clean_text, find_warnings

SERVERS = "/admin/servers"
ADD = f"{SERVERS}/add-server"  # no server can have this name
_ROWS = 5  # of variables or headers
_LOG = 8_000  # characters that the page shows
_EFFECTS: Mapping[str, Effect] = {"read": "read", "write": "write", "destroy": "destroy"}


def list_routes(pages: PageParts) -> list[BaseRoute]:
    parts = pages.access.servers
    show, change = partial(show_server, parts), partial(change_server, parts)
    ask, remove = partial(ask_remove, parts), partial(remove_server, parts)
    return [
        Route(SERVERS, PageHandler(pages, partial(show_servers, parts), owner_only=True)),
        Route(ADD, PageHandler(pages, show_add, partial(add_server, parts), owner_only=True)),
        Route(f"{SERVERS}/{{name}}", PageHandler(pages, show, change, owner_only=True)),
        Route(f"{SERVERS}/{{name}}/remove", PageHandler(pages, ask, remove, owner_only=True)),
    ]


def show_servers(parts: ServerParts, request: PageRequest) -> PageResponse:
    found = [(each, each.to_response()["tools"]) for each in parts.list_servers()]
    return PageResponse("access/servers.html", {"servers": found})


def show_add(request: PageRequest, problem: str = "") -> PageResponse:
    names = ("name", "target", "namespace", "folder", "summary")
    typed = {name: request.get_field(name) for name in names} if request.form else dict.fromkeys(names, "")
    # Secret values are typed again after a mistake: a page never holds them.
    rows = [request.get_field(f"key{number}") for number in range(1, _ROWS + 1)]
    return PageResponse("access/add_server.html", {"typed": typed, "rows": rows, "problem": problem}, _status(problem))


def add_server(parts: ServerParts, request: PageRequest) -> PageResponse:
    try:
        server = parts.add(request.owner_caller, _read_server(request))
    except Refusal as error:
        return show_add(request, error.message)
    return redirect(build_path(f"{SERVERS}/{server.name}", notice="server_added"))


def show_server(parts: ServerParts, request: PageRequest, problem: str = "") -> PageResponse:
    server = parts.find_server(request.names["name"])
    logs = {name: text[-_LOG:] for name, text in parts.read_logs(server).items()}
    values = {
        "server": server,
        "tools": [_describe(tool) for tool in server.tools],
        "waiting": [tool.short for tool in server.tools if tool.state != "approved"],
        "logs": logs,
        "problem": problem,
    }
    return PageResponse("access/server.html", values, _status(problem))


def change_server(parts: ServerParts, request: PageRequest) -> PageResponse:
    name, caller, chosen = request.names["name"], request.owner_caller, request.get_field("do")
    notice = "saved"
    try:
        if chosen == "review":
            parts.review(caller, name)
            notice = "reviewed"
        elif chosen == "restart":
            parts.restart(caller, name)
            notice = "restarted"
        elif chosen in ("approve", "approve_all"):
            _approve(parts, request, every=chosen == "approve_all")
            notice = "tools_approved"
    except Refusal as error:
        return show_server(parts, request, error.message)
    return redirect(build_path(f"{SERVERS}/{name}", notice=notice))


def ask_remove(parts: ServerParts, request: PageRequest) -> PageResponse:
    return PageResponse("access/remove_server.html", {"server": parts.find_server(request.names["name"])})


def remove_server(parts: ServerParts, request: PageRequest) -> PageResponse:
    parts.remove(request.owner_caller, request.names["name"])
    return redirect(build_path(SERVERS, notice="deleted"))


def _approve(parts: ServerParts, request: PageRequest, *, every: bool) -> None:
    tools = request.list_field("tool")
    if not tools and not every:
        raise Invalid("Tick the tools that you approve.")
    known = [tool.short for tool in parts.find_server(request.names["name"]).tools]
    said = {short: request.get_field(f"effect.{short}") for short in known}
    chosen = known if every else tools
    effects: dict[str, Effect] = {
        each: _EFFECTS[effect] for each, effect in said.items() if effect in _EFFECTS and each in chosen
    }
    parts.approve(request.owner_caller, request.names["name"], () if every else tools, effects)


def _read_server(request: PageRequest) -> ServerFields:
    get = request.get_field
    try:
        target = shlex.split(get("target"))
    except ValueError:
        raise Invalid("The command has a quotation mark that is not closed.") from None
    if not target:
        raise Invalid("Give an address or a command.")
    rows = [(get(f"key{number}").strip(), get(f"value{number}")) for number in range(1, _ROWS + 1)]
    values = {name: value.strip() for name, value in rows if name}
    return ServerFields(
        get("name").strip(), target, get("namespace").strip(), get("folder").strip(), get("summary").strip(), values
    )


def _describe(tool: PinnedTool) -> dict[str, object]:
    """A tool as the owner reviews it: the server's own words, what looks odd in them, and what has changed."""
    shown = tool.seen or tool.approved
    return {
        "short": tool.short,
        "state": tool.state,
        "effect": tool.effect or find_effect(shown),
        "set_effect": tool.effect or "",
        "says_effect": isinstance(shown.get("annotations"), dict),
        "words": clean_text(shown.get("description"), 1_000),
        "warnings": find_warnings(shown.get("description")),
        "parameters": _list_parameters(shown.get("inputSchema")),
        "diff": [(line[:1], line) for line in describe_change(tool)] if tool.state == "changed" else [],
    }


def _list_parameters(schema: Any) -> list[str]:
    """A server may say anything: what is no schema has no parameters."""
    properties: Any = cast("dict[str, Any]", schema).get("properties") if isinstance(schema, dict) else None
    return [str(name) for name in cast("dict[str, Any]", properties)] if isinstance(properties, dict) else []


def _status(problem: str) -> int:
    return 400 if problem else 200
