"""The records of this home for `tokonoma sync URL` of another one: read in pages, and merged as they come."""

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tokonoma.core.call import OWNER, Call, Caller
from tokonoma.transfer.sync.bookkeeping import Bookkeeping
from tokonoma.transfer.sync.engine import SyncEngine
from tokonoma.transfer.sync.every_kind import list_kinds
from tokonoma.transfer.sync.exchange import pack_page, unpack_page
from tokonoma.transfer.sync.run import hold_sync_lock

if TYPE_CHECKING:
    from tokonoma.app import App


class RecordExchange:
    """Runs the owner's tools on the thread of the call that asks: it must not wait for another one of the pool."""

    def __init__(self, app: "App") -> None:
        self._app = app
        self._turn = threading.Lock()

    def read(self, after: str) -> tuple[str, str, str]:
        """The id of this home, a page of its records, and where the next page begins, if there is one."""
        with self._turn, hold_sync_lock(self._app.home):
            books = self._open_books()
            if not after:
                self._build_engine(books).scan()
            return (books.home, *pack_page(books, after))

    def write(self, packed: str) -> Mapping[str, Any]:
        with self._turn, hold_sync_lock(self._app.home):
            books = self._open_books()
            engine = self._build_engine(books)
            engine.receive(unpack_page(packed))
        tally = engine.tally
        skipped = [(f"{kind} {name}", why) for (kind, name), why in sorted(tally.skipped.items())]
        stored = sum(tally.counts.values())
        return {"stored": stored, "conflicts": len(tally.conflicts), "moved": len(tally.moved), "skipped": skipped}

    def _open_books(self) -> Bookkeeping:
        return Bookkeeping(self._app.database.reading, self._app.database.writing)

    def _build_engine(self, books: Bookkeeping) -> SyncEngine:
        return SyncEngine(list_kinds(self._app.settings.get_names("modules_off")), self._call, books)

    def _call(self, module: str, tool: str, params: Mapping[str, Any]) -> Any:
        info = self._app.registry.find_owner_tool(module, tool)
        call = Call(module, tool, params, Caller("cli", principal=OWNER), tool_info=info)
        errors: list[BaseException | None] = []
        self._app.calls.run_here(call, lambda _, error: errors.append(error))
        if errors[0] is not None:
            raise errors[0]
        return call.value
