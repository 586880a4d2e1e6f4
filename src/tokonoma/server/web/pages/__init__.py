"""Pages for people: HTML that works without JavaScript."""

from functools import partial

from starlette.routing import BaseRoute, Route

from tokonoma.server.http.asgi import Event, HttpResponse, Receive, Send
from tokonoma.server.web.page_parts import PageParts
from tokonoma.server.web.pages import (
    access,
    claims,
    graph,
    items,
    look,
    manuals,
    memory,
    record,
    search,
    system,
    timeline,
    try_tools,
    vault,
)
from tokonoma.server.web.pages.consent import ConsentPage
from tokonoma.server.web.pages.handler import PageHandler
from tokonoma.server.web.pages.home import show_home
from tokonoma.server.web.pages.menu import HOME
from tokonoma.server.web.pages.render import read_static
from tokonoma.server.web.pages.request import PageRequest, PageResponse, redirect
from tokonoma.server.web.pages.sign_in import PATH, show_sign_in, sign_in, sign_out
from tokonoma.server.web.parts import WebParts


def list_routes(parts: WebParts) -> list[BaseRoute]:
    pages, consent = parts.pages, ConsentPage(parts.pages, parts.oauth)
    entry = PageHandler(pages, partial(show_sign_in, pages), partial(sign_in, pages), form_needs_session=False)
    return [
        Route("/", PageHandler(pages, lead_home)),
        Route("/admin", PageHandler(pages, lead_home)),
        Route(PATH, entry),
        Route("/sign-out", PageHandler(pages, None, partial(sign_out, pages))),
        Route("/authorize", PageHandler(pages, consent.show, consent.decide)),
        Route("/static/{name}", StaticFiles()),
        Route(look.PATH, PageHandler(pages, None, look.change_look)),
        Route(HOME, PageHandler(pages, partial(show_home, pages, parts.oauth.is_offered), needs_session=True)),
        *list_data_routes(pages),
    ]


def list_data_routes(pages: PageParts) -> list[BaseRoute]:
    """Each group of pages lists its own."""
    return [
        *record.list_routes(pages),
        *system.list_routes(pages),
        *manuals.list_routes(pages),
        *vault.list_routes(pages),
        *search.list_routes(pages),
        *graph.list_routes(pages),
        *timeline.list_routes(pages),
        *try_tools.list_routes(pages),
        *memory.list_routes(pages),
        *items.list_routes(pages),
        *claims.list_routes(pages),
        *access.list_routes(pages),
    ]


def lead_home(request: PageRequest) -> PageResponse:
    return redirect(HOME)


class StaticFiles:
    """A class, because Starlette builds a request object for functions."""

    async def __call__(self, scope: Event, receive: Receive, send: Send) -> None:
        found = read_static().get(scope["path_params"]["name"])
        if found is None or scope["method"] not in ("GET", "HEAD"):
            await HttpResponse(404, b'{"error":"not_found"}').send(send)
            return
        kept = (b"cache-control", b"public, max-age=31536000, immutable")
        await HttpResponse(200, found[1], [kept, (b"x-content-type-options", b"nosniff")], found[0]).send(send)
