"""The house as modules see it (core.house.House): modules, health, places, sizes, recent calls."""

import shutil
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tokonoma import __version__
from tokonoma.core.call import Principal
from tokonoma.core.errors import Refusal
from tokonoma.core.module import Entry, Shelf
from tokonoma.journal import verify
from tokonoma.search import documents

if TYPE_CHECKING:
    from tokonoma.app import App

_LOW_DISK = 200 * 2**20


class TheHouse:
    def __init__(self, app: "App") -> None:
        self._app = app
        self.version = __version__
        self.started_at = app.started_at

    def shelves(self, principal: Principal) -> Sequence[Shelf]:
        return self._app.registry.shelves(principal)

    def entry(self, module: str, tool: str, principal: Principal) -> Entry:
        return self._app.registry.find(module, tool, principal)

    def health(self) -> Mapping[str, Any]:
        return {"database": self._database(), "disk": self._disk()}

    def places(self) -> Mapping[str, str]:
        app, settings = self._app, self._app.settings
        workspace = settings.text("workspace") or str(app.home / "workspace")
        return {
            "home": str(app.home),
            "settings": str(app.home / "tokonoma.toml"),
            "database": app.database.where,
            "backups": str(app.home / "backups"),
            "workspace": workspace,
            "manuals": settings.text("manuals_root") or f"{workspace}/manuals",
            "vault": settings.text("vault_root") or f"{workspace}/vault",
        }

    def sizes(self) -> Mapping[str, int]:
        database = self._app.database
        with database.reading() as rows:
            entries = rows.row("select count(*) from journal")
            records = documents.counts(rows)
        assert entries is not None
        told = {"database_bytes": database.size(), "journal_entries": entries[0]}
        return told | {f"records_{module}": count for module, count in records.items()}

    def recent(self, principal: Principal, limit: int, cursor: str | None) -> tuple[list[dict[str, Any]], str | None]:
        with self._app.database.reading() as rows:
            return verify.recent(rows, principal.name, limit, cursor)

    def _database(self) -> dict[str, Any]:
        try:
            with self._app.database.reading() as rows:
                rows.row("select 1")
        except Refusal as error:
            return {"ok": False, "says": error.message}
        return {"ok": True, "says": self._app.database.kind}

    def _disk(self) -> dict[str, Any]:
        try:
            free = shutil.disk_usage(self._app.home).free
        except OSError:
            return {"ok": False, "says": f"{self._app.home} cannot be reached"}
        room = f"{free // 2**20} MiB free" + ("" if free > _LOW_DISK else ": make room before writes fail")
        return {"ok": free > _LOW_DISK, "says": room}
