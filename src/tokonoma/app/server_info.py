"""The server as modules see it (core.module.ServerInfo): modules, health, locations, sizes, recent calls."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tokonoma import __version__
from tokonoma.app.search import SearchEngine
from tokonoma.catalogue.registry import Registry
from tokonoma.config.settings import Settings
from tokonoma.core.call import Principal
from tokonoma.core.errors import Refusal
from tokonoma.core.module import ModuleInfo, ToolInfo
from tokonoma.journal import verify
from tokonoma.journal.writer import JournalWriter
from tokonoma.policy.current import CurrentPolicy, format_progress
from tokonoma.search.index import count_by_module
from tokonoma.store.database import Database

_LOW_DISK = 200 * 2**20


class ProcessInfo:
    """`database` opens the store on its first use."""

    version = __version__

    def __init__(
        self,
        home: Path,
        settings: Settings,
        registry: Registry,
        database: Callable[[], Database],
        searching: Callable[[], SearchEngine],
        policing: Callable[[], CurrentPolicy],
        journal: Callable[[], JournalWriter],
        started_at: int,
    ) -> None:
        self._home, self._settings, self._registry = home, settings, registry
        self._database, self._searching, self._policing, self._journal = database, searching, policing, journal
        self.started_at = started_at

    def visible_modules(self, principal: Principal) -> Sequence[ModuleInfo]:
        return self._registry.visible_modules(principal)

    def find_tool(self, module: str, tool: str, principal: Principal) -> ToolInfo:
        return self._registry.find_tool(module, tool, principal)

    def health(self) -> Mapping[str, Any]:
        parts = {"database": self._store(), "disk": self._disk(), "search": self._search(), "policy": self._policy()}
        problem = self._journal().describe_problem() if parts["database"]["ok"] else ""
        return {**parts, "journal": {"ok": False, "says": problem}} if problem else parts

    def locations(self) -> Mapping[str, str]:
        home, settings = self._home, self._settings
        workspace = settings.get_text("workspace") or str(home / "workspace")
        return {
            "home": str(home),
            "settings": str(home / "tokonoma.toml"),
            "database": self._database().location,
            "backups": str(home / "backups"),
            "workspace": workspace,
            "manuals": settings.get_text("manuals_root") or f"{workspace}/manuals",
            "vault": settings.get_text("vault_root") or f"{workspace}/vault",
        }

    def sizes(self) -> Mapping[str, int]:
        try:
            database = self._database()
            with database.reading() as rows:
                entries = rows.row("select count(*) from journal")
                records, waiting = count_by_module(rows), self._searching().vectors.count_waiting(rows)
        except Refusal:
            return {}  # the status must be available above all when the store is not
        sizes = {
            "database_bytes": database.size(),
            "journal_entries": entries[0] if entries else 0,
            "embedding_queue": waiting,
        }
        return sizes | {f"records_{module}": count for module, count in records.items()}

    def recent_entries(
        self, principal: Principal, limit: int, cursor: str | None
    ) -> tuple[list[dict[str, Any]], str | None]:
        with self._database().reading() as rows:
            return verify.list_recent(rows, principal.name, limit, cursor)

    def _store(self) -> dict[str, Any]:
        try:
            with self._database().reading() as rows:
                rows.row("select 1")
        except Refusal as error:
            return {"ok": False, "says": error.message}
        return {"ok": True, "says": self._database().kind}

    def _search(self) -> dict[str, Any]:
        """By words it always works; by meaning with an embedding provider, once that has answered."""
        searching = self._searching()
        worker = searching.worker
        if worker is None:
            return {"ok": True, "says": "by words alone: no embedding provider is set"}
        if worker.problem:
            return {"ok": False, "says": f"by words; {searching.model} is waited for: {worker.problem}"}
        return {"ok": True, "says": f"by words and by meaning ({searching.model})"}

    def _policy(self) -> dict[str, Any]:
        """Which one is in force, and how far the records have followed it."""
        try:
            version, progress = self._policing().get_active().version, self._policing().progress()
        except Refusal as error:
            return {"ok": False, "says": error.message}
        if progress is None:
            return {"ok": version != "none", "says": f"{version} is in force"}
        says = format_progress(progress)
        return {"ok": version != "none", "says": says if progress.in_force else f"{version} is in force; {says}"}

    def _disk(self) -> dict[str, Any]:
        try:
            free = shutil.disk_usage(self._home).free
        except OSError:
            return {"ok": False, "says": f"{self._home} cannot be reached"}
        room = f"{free // 2**20} MiB free" + ("" if free > _LOW_DISK else ": make room before writes fail")
        return {"ok": free > _LOW_DISK, "says": room}
