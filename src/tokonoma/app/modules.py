"""The modules of a process: built-in, enabled as plugins, services that have an account, and MCP servers."""

import threading
import time
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tokonoma import catalogue
from tokonoma.catalogue.plugins import PluginWatch
from tokonoma.catalogue.registry import GATEWAY, POLL_SECONDS, Registry
from tokonoma.catalogue.services import ModuleWatch, ServiceWatch
from tokonoma.catalogue.upstreams import UpstreamWatch, parse_source
from tokonoma.core.errors import Refusal
from tokonoma.core.module import Module

if TYPE_CHECKING:
    from tokonoma.app import App
    from tokonoma.core.desk import Rows
    from tokonoma.core.lazy import Lazy
    from tokonoma.store.database import Database


class ConnectedModules:
    """Keeps the registry in step with the accounts in the database, which other processes and machines change too."""

    def __init__(self, app: "App", database: "Lazy[Database]") -> None:
        self._app = app
        # Plugins by the catalogues that were kept when they were enabled: entry points are not read at start.
        plugins = PluginWatch(app.home, catalogue.read_catalogue(catalogue.CATALOGUE_FILE))
        name = partial(_name_database, app)
        self._services, self._upstreams, self._database = (
            ServiceWatch(app.home, name),
            UpstreamWatch(app.home, name),
            database,
        )
        self._watch = ModuleWatch(plugins, self._services, self._upstreams)
        self._disabled = frozenset(app.settings.get_names("modules_off"))
        self._lock = threading.Lock()
        self._next_look = 0.0

    def open_registry(self) -> Registry:
        load, prepare = partial(_load_module, self._app), partial(_prepare_tables, self._app)
        self._registry = Registry(self._watch.read_all(), load, prepare, self._disabled, self._watch.poll)
        return self._registry

    def look(self) -> None:
        """Ask the database, if it is open, at most once a second. A database that does not answer changes nothing."""
        if time.monotonic() < self._next_look or not self._lock.acquire(blocking=False):
            return
        try:
            self._next_look = time.monotonic() + POLL_SECONDS
            self.look_now()
        finally:
            self._lock.release()

    def look_now(self) -> None:
        from tokonoma.keyring.connected import read_connected
        from tokonoma.upstream.servers import read_revisions

        database = self._database.current
        if database is None:
            return
        try:
            with database.reading() as rows:
                connected, revisions = read_connected(rows), read_revisions(rows)
                changed = self._services.update(connected)
                if revisions != self._upstreams.revisions:
                    self._read_upstreams(rows, revisions)
                    changed = True
        except Refusal:
            return
        if changed:
            self._registry.replace_modules(self._watch.read_all())

    def _read_upstreams(self, rows: "Rows", revisions: Mapping[str, int]) -> None:
        from tokonoma.app.upstream_infos import describe_servers
        from tokonoma.upstream.servers import read_servers

        self._upstreams.update(revisions, describe_servers(read_servers(rows)))

    def keep_looking(self) -> float:
        """A step of a job, for a server that is asked for its tools between calls."""
        self.look()
        return POLL_SECONDS


def _load_module(app: "App", source: str) -> Module:
    """The code of a module: that of a package, or what stands for an MCP server."""
    if source == catalogue.BUILT_IN_MODULES[GATEWAY]:
        from tokonoma.app.gateway import load_gateway

        return load_gateway(app)
    if (server := parse_source(source)) is not None:
        return app.upstreams.load_module(server)
    module = catalogue.load_module(source)
    return module.bind(app.server_info) if module.bind is not None else module


def _prepare_tables(app: "App", module: Module) -> None:
    if module.tables:
        from tokonoma.app.store import migrate_tables

        migrate_tables(app.database, app.home, module.name, module.tables)


def _name_database(app: "App") -> str:
    """Where it is, without user and password. Asked by every start with services: it loads nothing of the store."""
    given = app.settings.get_text("database_url")
    parts = urlsplit(given or (app.home / "tokonoma.db").absolute().as_uri())
    scheme = parts.scheme if given else "sqlite"
    return f"{scheme}://{parts.hostname or ''}:{parts.port or ''}{parts.path}"
