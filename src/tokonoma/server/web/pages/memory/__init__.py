"""Memos: list and search, one memo, its editor and history, duplicates, trash."""

from functools import partial

from starlette.routing import BaseRoute, Route

from tokonoma.server.web.page_parts import PageParts
from tokonoma.server.web.pages.handler import PageHandler
from tokonoma.server.web.pages.memory.bulk import change_memos
from tokonoma.server.web.pages.memory.duplicates import merge_group, show_duplicates, show_merge
from tokonoma.server.web.pages.memory.editor import edit_memo, save_edited, save_new, show_new
from tokonoma.server.web.pages.memory.history import restore_version, show_history
from tokonoma.server.web.pages.memory.listing import show_memos
from tokonoma.server.web.pages.memory.memo import show_memo
from tokonoma.server.web.pages.memory.relations import change_relations
from tokonoma.server.web.pages.memory.threads import show_threads
from tokonoma.server.web.pages.memory.trash import purge_trash, show_purge, show_trash
from tokonoma.server.web.pages.memory.view import PATH


def list_routes(pages: PageParts) -> list[BaseRoute]:
    handle = partial(PageHandler, pages, needs_session=True)
    return [
        Route(PATH, handle(show_memos)),
        Route(f"{PATH}/new", handle(show_new, save_new)),
        Route(f"{PATH}/bulk", handle(None, change_memos)),
        Route(f"{PATH}/duplicates", handle(show_duplicates)),
        Route(f"{PATH}/merge", handle(show_merge, merge_group)),
        Route(f"{PATH}/threads", handle(show_threads)),
        Route(f"{PATH}/trash", handle(show_trash)),
        Route(f"{PATH}/purge", handle(partial(show_purge, pages), partial(purge_trash, pages), owner_only=True)),
        Route(f"{PATH}/{{name}}", handle(show_memo)),
        Route(f"{PATH}/{{name}}/edit", handle(edit_memo, save_edited)),
        Route(f"{PATH}/{{name}}/history", handle(show_history, restore_version)),
        Route(f"{PATH}/{{name}}/relations", handle(None, change_relations)),
    ]
