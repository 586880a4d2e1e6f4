"""Pages for the owner about access: services, MCP servers, clients and keys, approvals."""

from starlette.routing import BaseRoute

from tokonoma.server.web.page_parts import PageParts
from tokonoma.server.web.pages.access import approvals, clients, servers, services


def list_routes(pages: PageParts) -> list[BaseRoute]:
    return [
        *services.list_routes(pages),
        *servers.list_routes(pages),
        *clients.list_routes(pages),
        *approvals.list_routes(pages),
    ]
