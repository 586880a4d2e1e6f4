"""Home: whether the server is well, what was stored lately, what waits, how to connect, and where else the person is
signed in."""

import re
from collections.abc import Callable
from typing import Any

from tokonoma.core.errors import Denied, Missing
from tokonoma.server.web.page_parts import PageParts
from tokonoma.server.web.pages.connect_lines import list_connect_lines
from tokonoma.server.web.pages.handler import lead_to_sign_in
from tokonoma.server.web.pages.request import PageRequest, PageResponse

# Many call themselves Chrome and Safari, too: the first that is found is the right one.
_BROWSERS = {
    "Firefox": re.compile(r"Firefox/([0-9]{1,6})"),
    "Edge": re.compile(r"Edg/([0-9]{1,6})"),
    "Opera": re.compile(r"OPR/([0-9]{1,6})"),
    "Chrome": re.compile(r"Chrome/([0-9]{1,6})"),
    "Safari": re.compile(r"Version/([0-9]{1,6})"),
}
_RECENT = 8
_SYSTEMS = ("Android", "iPhone", "iPad", "Windows", "Macintosh", "Linux")


def show_home(parts: PageParts, offers_oauth: Callable[[str], bool], request: PageRequest) -> PageResponse:
    if request.session is None:
        return lead_to_sign_in(request)
    person = request.session.person
    modules = parts.list_modules(person.principal)
    has_oauth = offers_oauth(request.origin)
    return PageResponse(
        "home.html",
        {
            "modules": modules,
            "status": _ask(request, "status"),
            "recent": (_ask(request, "timeline", since="2000-01-01", limit=_RECENT) or {"items": []})["items"],
            "sees_system": any(each.name == "system" for each in modules),
            "waiting": parts.count_approvals() if person.is_owner else None,
            "lines": list_connect_lines(request.origin, oauth=has_oauth),
            "sessions": [(each, describe_agent(each.agent or "")) for each in parts.list_sessions(person.id)],
            "endpoint": f"{request.origin}/mcp" if has_oauth else "",
        },
    )


def _ask(request: PageRequest, tool: str, **params: Any) -> Any:
    """None for a person who may not use this tool: the rest of the page is still there."""
    try:
        return request.call("system", tool, **params)
    except (Missing, Denied):
        return None


def describe_agent(agent: str) -> str:
    """`Chrome 153, Linux`, for a browser that says so; else the first word of what it says."""
    system = next((each for each in _SYSTEMS if each in agent), "")
    for name, pattern in _BROWSERS.items():
        if found := pattern.search(agent):
            return f"{name} {found[1]}" + (f", {system}" if system else "")
    return agent.partition(" ")[0]
