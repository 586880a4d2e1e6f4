"""Home: what is there for the person who is signed in, and where else that person is."""

import re
from collections.abc import Callable

from tokonoma.server.web.page_parts import PageParts
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
_SYSTEMS = ("Android", "iPhone", "iPad", "Windows", "Macintosh", "Linux")


def show_home(parts: PageParts, offers_oauth: Callable[[str], bool], request: PageRequest) -> PageResponse:
    if request.session is None:
        return lead_to_sign_in(request)
    person = request.session.person
    return PageResponse(
        "home.html",
        {
            "modules": parts.list_modules(person.principal),
            "sessions": [(each, describe_agent(each.agent or "")) for each in parts.list_sessions(person.id)],
            "endpoint": f"{request.origin}/mcp" if offers_oauth(request.origin) else "",
        },
    )


def describe_agent(agent: str) -> str:
    """`Chrome 153, Linux`, for a browser that says so; else the first word of what it says."""
    system = next((each for each in _SYSTEMS if each in agent), "")
    for name, pattern in _BROWSERS.items():
        if found := pattern.search(agent):
            return f"{name} {found[1]}" + (f", {system}" if system else "")
    return agent.partition(" ")[0]
