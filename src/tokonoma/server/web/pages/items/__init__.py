"""Items: board, table, ready ones, tags, changes of many, and one item with its history and links."""

from starlette.routing import BaseRoute, Route

from tokonoma.server.web.page_parts import PageParts
from tokonoma.server.web.pages.addresses import MODULE_PAGES
from tokonoma.server.web.pages.handler import PageHandler
from tokonoma.server.web.pages.items import board, bulk, detail, editor, history, links, ready, state, table, tags
from tokonoma.server.web.pages.items.view import ITEMS
from tokonoma.server.web.pages.request import Respond

MODULE_PAGES["items"] = f"{ITEMS}/"

# The fixed names stand before `{name}`, which would take them, too.
_PAGES: dict[str, tuple[Respond, Respond | None]] = {
    "": (board.show_board, board.move_card),
    "/table": (table.show_table, table.restore_from_table),
    "/new": (editor.show_new, editor.create),
    "/ready": (ready.show_ready, ready.take_ready),
    "/tags": (tags.show_tags, tags.rename),
    "/bulk": (bulk.show_bulk, bulk.change_many),
    "/state": (state.show_state, state.save_state),
    "/{name}": (detail.show_item, detail.change_item),
    "/{name}/edit": (editor.show_editor, editor.save),
    "/{name}/links": (links.show_links, links.change_links),
    "/{name}/history": (history.show_history, history.revert),
    "/{name}/delete": (detail.show_delete, detail.delete),
}


def list_routes(pages: PageParts) -> list[BaseRoute]:
    return [
        Route(f"{ITEMS}{path}", PageHandler(pages, get, post, needs_session=True))
        for path, (get, post) in _PAGES.items()
    ]
