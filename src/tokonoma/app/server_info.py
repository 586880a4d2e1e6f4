"""The server as modules see it (core.module.ServerInfo): modules, health, locations, sizes, recent calls."""

import shutil
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tokonoma import __version__
from tokonoma.app.search import SearchEngine
from tokonoma.catalogue.registry import Registry
from tokonoma.config.settings import Settings
from tokonoma.core.call import Call, InnerStep, Principal
from tokonoma.core.concurrency import Deferred
from tokonoma.core.desk import Classification, Rows
from tokonoma.core.errors import Refusal
from tokonoma.core.module import Module, ModuleInfo, ToolInfo
from tokonoma.journal import verify
from tokonoma.journal.writer import JournalWriter
from tokonoma.pipeline.row_filter import expand_visible
from tokonoma.policy.current import CurrentPolicy, format_progress
from tokonoma.policy.hidden import count_hidden
from tokonoma.search.index import count_by_module
from tokonoma.store.database import Database

if TYPE_CHECKING:
    from tokonoma.app.exchange import RecordExchange
    from tokonoma.gateway.batch import SubmitCall
    from tokonoma.upstream.hub import UpstreamHub

T = TypeVar("T")

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
        exchange: "Callable[[], RecordExchange]",
        submit: "SubmitCall",
        hub: "Callable[[], UpstreamHub | None]",
    ) -> None:
        self._home, self._settings, self._registry = home, settings, registry
        self._database, self._searching, self._policing, self._journal = database, searching, policing, journal
        self.started_at = started_at
        self._exchange, self._submit, self._hub = exchange, submit, hub

    def visible_modules(self, principal: Principal) -> Sequence[ModuleInfo]:
        return self._registry.visible_modules(principal)

    def list_unconnected(self, principal: Principal) -> Sequence[str]:
        return self._registry.list_unconnected(principal)

    def find_tool(self, module: str, tool: str, principal: Principal) -> ToolInfo:
        return self._registry.find_tool(module, tool, principal)

    def load_module(self, name: str) -> Module:
        return self._registry.get_module(name)

    def run_calls(self, parent: Call, steps: Generator[InnerStep, Any, T]) -> Deferred[T]:
        from tokonoma.gateway.inner_calls import StepRunner

        return StepRunner(steps, parent, self._submit).start()

    def find_watch_mark(self, info: ModuleInfo, principal: Principal, address: str) -> str | None:
        hub = self._hub()
        return None if hub is None else hub.find_mark(info, principal, address)

    def read_for_sync(self, after: str) -> tuple[str, str, str]:
        return self._exchange().read(after)

    def write_from_sync(self, records: str) -> Mapping[str, Any]:
        return self._exchange().write(records)

    def health(self) -> Mapping[str, Any]:
        parts = {"database": self._store(), "disk": self._disk(), "search": self._search(), "policy": self._policy()}
        problem = self._journal().describe_problem() if parts["database"]["ok"] else ""
        return {**parts, "journal": {"ok": False, "says": problem}} if problem else parts

    def list_problems(self) -> list[str]:
        """Why no request can be served now: the database or the disk. Without an embedding model, search still works by
        words, so a load balancer must not take the server away."""
        parts = {"database": self._store(), "disk": self._disk()}
        return [f"{name}: {part['says']}" for name, part in parts.items() if not part["ok"]]

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

    def sizes(self, principal: Principal, seen: Sequence[Classification]) -> Mapping[str, int]:
        try:
            size = self._database().size() if principal.kind == "owner" else 0
            with self._database().reading() as rows:
                if principal.kind == "owner":
                    return self._count_all(rows, size, seen)
                return self._count_own(rows, principal, seen)
        except Refusal:
            return {}  # the status must be available above all when the store is not

    def _count_all(self, rows: Rows, size: int, seen: Sequence[Classification]) -> dict[str, int]:
        ((entries,),) = rows.rows("select count(*) from journal")
        sizes = {
            "database_bytes": size,
            "journal_entries": entries,
            "embedding_queue": self._searching().vectors.count_waiting(rows),
            "hidden_by_policy": count_hidden(rows, seen),
        }
        return sizes | {f"records_{module}": count for module, count in count_by_module(rows).items()}

    def _count_own(self, rows: Rows, principal: Principal, seen: Sequence[Classification]) -> dict[str, int]:
        """Sizes of the whole server would tell a key of modules, namespaces and callers that do not exist for it."""
        ((entries,),) = rows.rows("select count(*) from journal where principal = :name", name=principal.name)
        sql = "select module, count(*) from document where {visible} group by module order by module"
        sql, params = expand_visible(sql, principal, tuple(seen))
        visible = {module.name for module in self.visible_modules(principal)}
        counts = {f"records_{module}": count for module, count in rows.rows(sql, **params) if module in visible}
        return {"journal_entries": entries, **counts}

    def vectors(self) -> Sequence[Mapping[str, Any]]:
        try:
            with self._database().reading() as rows:
                return [each._asdict() for each in self._searching().count_vectors(rows)]
        except Refusal:
            return ()

    def recent_entries(
        self, principal: Principal, limit: int, after: Sequence[Any] | None
    ) -> tuple[list[dict[str, Any]], Sequence[Any] | None]:
        with self._database().reading() as rows:
            return verify.list_recent(rows, None if principal.kind == "owner" else principal.name, limit, after)

    def _store(self) -> dict[str, Any]:
        try:
            with self._database().reading() as rows:
                rows.row("select 1")
            gap = self._journal().get_gap()
        except Refusal as error:
            return {"ok": False, "says": error.message}
        if gap is not None:  # which calls is for the owner alone
            return {"ok": False, "says": f"{gap.summarize()}. `tokonoma doctor` lists them and says what to do."}
        return {"ok": True, "says": self._database().kind}

    def _search(self) -> dict[str, Any]:
        """By words it always works; by meaning with an embedding provider, once that has answered."""
        try:
            ok, says = self._searching().describe()
        except Refusal as error:
            return {"ok": False, "says": error.message}
        return {"ok": ok, "says": says}

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
