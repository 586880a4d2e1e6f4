"""`/admin/vault`: files that agents and people write together, with their versions, coverage and audits."""

from functools import partial

from starlette.routing import BaseRoute, Route

from tokonoma.server.web.page_parts import PageParts
from tokonoma.server.web.pages.addresses import MODULE_PAGES
from tokonoma.server.web.pages.handler import PageHandler
from tokonoma.server.web.pages.vault import audit, browse, changes, editor, moving, reader, searching
from tokonoma.server.web.pages.vault.common import FILE, VAULT

MODULE_PAGES["vault"] = FILE


def list_routes(pages: PageParts) -> list[BaseRoute]:
    handle = partial(PageHandler, pages, needs_session=True)
    return [
        Route(VAULT, handle(browse.show_folder)),
        Route(f"{VAULT}/coverage", handle(partial(browse.show_coverage, pages))),
        Route(f"{VAULT}/trash", handle(browse.show_trash)),
        Route(f"{VAULT}/search", handle(searching.show_search)),
        Route(f"{VAULT}/find", handle(searching.find_everything)),
        Route(f"{VAULT}/found/{{trace}}", handle(searching.show_found, searching.copy_found)),
        Route(f"{VAULT}/new", handle(editor.show_new_file, editor.create_file)),
        Route(f"{FILE}{{name:path}}", handle(reader.show_file)),
        Route(f"{VAULT}/edit/{{name:path}}", handle(editor.show_editor, editor.save_file)),
        Route(f"{VAULT}/history/{{name:path}}", handle(changes.show_history)),
        Route(f"{VAULT}/restore/{{name:path}}", handle(changes.show_restore, changes.restore_file)),
        Route(f"{VAULT}/move/{{name:path}}", handle(moving.show_move, moving.move_file)),
        Route(f"{VAULT}/delete/{{name:path}}", handle(moving.show_delete, moving.delete_file)),
        Route(f"{VAULT}/audit/{{name:path}}", handle(audit.show_audit)),
    ]
