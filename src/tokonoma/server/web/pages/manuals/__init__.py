"""`/admin/manuals`: the manuals, their text with an outline, what was read of them, and everything about a topic."""

from functools import partial

from starlette.routing import BaseRoute, Route

from tokonoma.server.web.page_parts import PageParts
from tokonoma.server.web.pages.addresses import MODULE_PAGES
from tokonoma.server.web.pages.handler import PageHandler
from tokonoma.server.web.pages.manuals.finding import copy_found, find_everything, show_found
from tokonoma.server.web.pages.manuals.overview import MANUALS, show_manual, show_manuals, show_search
from tokonoma.server.web.pages.manuals.reader import READER, show_manual_text

MODULE_PAGES["manual"] = READER


def list_routes(pages: PageParts) -> list[BaseRoute]:
    handle = partial(PageHandler, pages, needs_session=True)
    return [
        Route(MANUALS, handle(show_manuals)),
        Route(f"{MANUALS}/in/{{manual}}", handle(partial(show_manual, pages))),
        Route(f"{READER}{{name:path}}", handle(show_manual_text)),
        Route(f"{MANUALS}/search", handle(show_search)),
        Route(f"{MANUALS}/find", handle(find_everything)),
        Route(f"{MANUALS}/found/{{trace}}", handle(show_found, copy_found)),
    ]
