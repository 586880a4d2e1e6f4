"""Claims: list and search, what an agent would get for a task, one claim with its sources and feedback, entities."""

from starlette.routing import BaseRoute, Route

from tokonoma.server.web.page_parts import PageParts
from tokonoma.server.web.pages.addresses import MODULE_PAGES
from tokonoma.server.web.pages.claims import contexts, detail, entities, lists, new
from tokonoma.server.web.pages.claims.view import CLAIMS
from tokonoma.server.web.pages.handler import PageHandler
from tokonoma.server.web.pages.request import Respond

MODULE_PAGES["claims"] = f"{CLAIMS}/"

# The fixed names stand before `{name}`, which would take them, too.
_PAGES: dict[str, tuple[Respond, Respond | None]] = {
    "": (lists.show_claims, None),
    "/activate": (contexts.show_activate, None),
    "/context": (contexts.show_context, None),
    "/entities": (entities.show_entities, None),
    "/entity": (entities.show_entity, None),
    "/new": (new.show_new, new.create),
    "/{name}": (detail.show_claim, detail.change_claim),
    "/{name}/forget": (detail.show_forget, detail.forget),
}


def list_routes(pages: PageParts) -> list[BaseRoute]:
    return [
        Route(f"{CLAIMS}{path}", PageHandler(pages, get, post, needs_session=True))
        for path, (get, post) in _PAGES.items()
    ]
