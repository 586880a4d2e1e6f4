"""Everything beside `/mcp`: OAuth endpoints and pages. Imported with the first request for one of them."""

from starlette.routing import Router

from tokonoma.server.http.asgi import AsgiApp, Event, Receive, Send
from tokonoma.server.http.security import HttpError
from tokonoma.server.web import oauth, pages
from tokonoma.server.web.parts import WebParts


def build_web(parts: WebParts) -> AsgiApp:
    routes = [*oauth.list_routes(parts), *pages.list_routes(parts)]
    return Router(routes, redirect_slashes=False, default=_answer_unknown)


async def _answer_unknown(scope: Event, receive: Receive, send: Send) -> None:
    raise HttpError(404, "Not found. The MCP endpoint is /mcp.")
