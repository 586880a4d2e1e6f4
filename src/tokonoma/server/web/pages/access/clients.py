"""`/admin/clients`: keys, clients, people and profiles, and what each of them sees."""

from functools import partial

from starlette.routing import BaseRoute, Route

from tokonoma.catalogue.explain import list_usable_accounts
from tokonoma.core.errors import Refusal
from tokonoma.server.web.access_parts import CredentialParts
from tokonoma.server.web.page_parts import PageParts
from tokonoma.server.web.pages.access import keys, people, profiles
from tokonoma.server.web.pages.access.editor import CLIENTS
from tokonoma.server.web.pages.handler import PageHandler
from tokonoma.server.web.pages.request import PageRequest, PageResponse

SEE = f"{CLIENTS}/see"


def list_routes(pages: PageParts) -> list[BaseRoute]:
    parts = pages.access.credentials
    return [
        Route(CLIENTS, PageHandler(pages, partial(show_clients, parts), owner_only=True)),
        Route(SEE, PageHandler(pages, partial(show_seen, parts), owner_only=True)),
        *keys.list_routes(pages),
        *people.list_routes(pages),
        *profiles.list_routes(pages),
    ]


def show_clients(parts: CredentialParts, request: PageRequest) -> PageResponse:
    keys, grants, all_people = parts.list_keys(), parts.list_grants(), parts.list_people()
    ended = "1" if request.get_parameter("ended") else ""
    return PageResponse(
        "access/clients.html",
        {
            "keys": [each for each in keys if ended or each.state == "active"],
            "grants": [each for each in grants if ended or each.state == "active"],
            "people": [(each, count) for each, count in all_people if ended or each.revoked_at is None],
            "profiles": parts.list_profiles(),
            "ended": ended,
            "has_ended": any(each.state != "active" for each in (*keys, *grants))
            or any(each.revoked_at is not None for each, _ in all_people),
        },
    )


def show_seen(parts: CredentialParts, request: PageRequest) -> PageResponse:
    """What exactly a credential sees, and whether it may use one tool."""
    credential = request.get_parameter("credential")
    asked = {name: request.get_parameter(name).strip() for name in ("tool", "account", "namespace")}
    principal, verdict, problem = parts.find_principal(credential), None, ""
    if asked["tool"]:
        try:
            verdict = parts.try_tool(principal, asked["tool"], asked["account"], asked["namespace"])
        except Refusal as error:
            problem = error.message
    modules = [
        (info, [(tool, list_usable_accounts(info, principal.reach, [tool])) for tool in info.entries])
        for info in parts.list_seen(principal)
    ]
    values = {"credential": credential, "principal": principal, "modules": modules, "asked": asked}
    status = 400 if problem else 200
    return PageResponse("access/seen.html", {**values, "verdict": verdict, "problem": problem}, status)
