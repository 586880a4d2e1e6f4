"""Services: modules that need an account. They are listed while one is connected.

`services.json` in the home says which ones are, so that a start need not open the database. It is derived from the
accounts, names the database that they are in, and holds no secret. Without accounts there is no such file, and the
catalogue of the services is not read either.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import orjson

from tokonoma import catalogue
from tokonoma.catalogue.plugins import PluginWatch
from tokonoma.core.log import log
from tokonoma.core.module import ConnectedAccount, ModuleInfo

Connected = Mapping[str, tuple[ConnectedAccount, ...]]
"""By module"""


def connected_file(home: Path) -> Path:
    return home / "services.json"


class ServiceWatch:
    """The modules of the connected services. `database` names the database that this process uses: what the file says
    of another one is not for this process."""

    def __init__(self, home: Path, database: Callable[[], str]) -> None:
        self._file, self._database = connected_file(home), database
        self._infos: list[ModuleInfo] | None = None
        self._stamp = read_stamp(self._file)
        self.connected: Connected = {} if self._stamp is None else self._read()

    def list_modules(self) -> list[ModuleInfo]:
        if not self.connected:
            return []
        if self._infos is None:
            file = catalogue.SERVICES_FILE
            self._infos = catalogue.read_catalogue(file) if file.exists() else []
        accounts = self.connected
        return [replace(info, accounts=accounts[info.name]) for info in self._infos if info.name in accounts]

    def poll(self) -> bool:
        """Whether another process has written something else into the file since it was last asked."""
        stamp = read_stamp(self._file)
        if stamp == self._stamp:
            return False
        self._stamp, before = stamp, self.connected
        self.connected = {} if stamp is None else self._read()
        return self.connected != before

    def update(self, connected: Connected) -> bool:
        """Take over what the database says; False if that was known. The file is for processes that start later, or
        have not opened the database."""
        if connected == self.connected:
            return False
        self.connected = connected
        try:
            self._write(connected)
        except OSError as error:  # this process knows it all the same
            log("warning", "services", message=f"cannot write {self._file.name}", errno=error.errno)
        self._stamp = read_stamp(self._file)
        return True

    def _read(self) -> Connected:
        """Nothing if the file is damaged: the database says the same when it is opened."""
        try:
            told: dict[str, Any] = orjson.loads(self._file.read_bytes())
            if told["database"] != self._database():
                return {}
            places = told["modules"].items()
            return {name: tuple(ConnectedAccount(*each) for each in accounts) for name, accounts in places}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}

    def _write(self, connected: Connected) -> None:
        import tempfile  # not needed by a start

        if not connected:
            self._file.unlink(missing_ok=True)
            return
        modules = {name: [(each.name, each.namespace) for each in accounts] for name, accounts in connected.items()}
        with tempfile.NamedTemporaryFile(dir=self._file.parent, prefix=".services-", delete=False) as file:
            temporary = Path(file.name)
            try:
                file.write(orjson.dumps({"database": self._database(), "modules": modules}))
                file.flush()
                os.fsync(file.fileno())
                temporary.replace(self._file)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise


class ModuleSource(Protocol):
    """Modules that come and go, such as `UpstreamWatch` of the MCP servers."""

    def list_modules(self) -> Sequence[ModuleInfo]: ...
    def poll(self) -> bool: ...


class ModuleWatch:
    """All modules: the built-in ones, the enabled plugins, the connected services and the MCP servers."""

    def __init__(self, plugins: PluginWatch, services: ServiceWatch, upstreams: ModuleSource) -> None:
        self._plugins, self._services, self._upstreams = plugins, services, upstreams

    def read_all(self) -> list[ModuleInfo]:
        known = [*self._plugins.read_all(), *self._services.list_modules()]
        names = {info.name for info in known}  # a plugin or a service that came later keeps its name
        return known + [info for info in self._upstreams.list_modules() if info.name not in names]

    def poll(self) -> list[ModuleInfo] | None:
        """None if nothing has changed since the last call."""
        plugins, services, upstreams = self._plugins.poll(), self._services.poll(), self._upstreams.poll()
        return self.read_all() if plugins is not None or services or upstreams else None


def read_stamp(file: Path) -> tuple[int, ...] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
