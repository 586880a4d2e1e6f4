"""A house whose module `wire` asks a server that fails by script. Pauses pass at once, by a clock of their own."""

import asyncio
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
from services import wire
from services.faulty import FaultyServer
from services.provider_server import ProviderServer, start_provider
from talk import Lines

from tokonoma import catalogue
from tokonoma.app import App
from tokonoma.app.keyring import open_keyring
from tokonoma.core.clock import now
from tokonoma.keyring.accounts import Account, NewAccount, add_account, disconnect_account, list_accounts
from tokonoma.services.connect import ServiceConnector
from tokonoma.services.timing import Timing


class QuickTime:
    """Sleeping moves the clock and nothing else."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self.on_sleep: Callable[[], object] = lambda: None
        self.timing = Timing(self.read, self.sleep, lambda: 1.0)

    def read(self) -> float:
        return time.monotonic() + sum(self.slept)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.on_sleep()
        await asyncio.sleep(0)


class Wire:
    """The house as a client sees it, its service, and its accounts."""

    def __init__(self, app: App, server: FaultyServer) -> None:
        self.app, self.server = app, server
        self.talk = Lines(app)
        self.time = QuickTime()
        self.provider = "github"
        app._services._value = ServiceConnector(app.database, open_keyring(app), self.time.timing)

    def prepare(self, provider: str = "github") -> None:
        """As after a start, with a service that has forgotten everything."""
        self.provider = provider
        wire.serve_wire(provider)
        self.server.reset()
        self.time.slept.clear()
        self.time.on_sleep = lambda: None
        self.app.services._states.clear()
        self.app.services.refresher._rests.clear()
        with self.app.database.writing() as statements:
            for account in list_accounts(statements):
                disconnect_account(statements, account)

    def add(self, name: str = "work", secrets: dict[str, str] | None = None, **more: Any) -> Account:
        details = {"base_url": self.server.url, **more.pop("details", {})}
        new = NewAccount(self.provider, name, details=details, **more)
        with self.app.database.writing() as statements:
            return add_account(statements, open_keyring(self.app), new, secrets or {"token": "pasted-token"})

    def add_oauth(self, left: float = 3600.0, name: str = "work", **more: Any) -> Account:
        """An account whose token is good for so many seconds, and the app that it was connected through."""
        self.add(f"app-{name}", {"client_secret": "app-secret"}, kind="app", details={"client_id": "app-id"})
        details = {"token_url": f"{self.server.url}/token", "app": f"app-{name}"}
        pair = {"access_token": "access-1", "refresh_token": "refresh-1"}
        return self.add(name, pair, kind="oauth", details=details, expires_at=now() + int(left * 1000), **more)

    def find(self, name: str = "work") -> Account:
        with self.app.database.reading() as rows:
            return next(account for account in list_accounts(rows) if account.name == name)

    def call(self, tool: str = "fetch", **params: Any) -> Any:
        return self.talk.call("wire", tool, **params)

    def refuse(self, tool: str = "fetch", **params: Any) -> Any:
        return self.talk.refused("wire", tool, **params)


def build_house(home: Path, **flags: Any) -> App:
    home.mkdir(mode=0o700, exist_ok=True)
    described = catalogue.describe_module(wire.MODULE, "services.wire:MODULE")
    (home / "plugins.json").write_bytes(catalogue.dump_catalogue([described]))
    return App({"home": str(home), "durable": False, "embed_provider": "none", **flags}, {})


@pytest.fixture(scope="session")
def server() -> Generator[FaultyServer]:
    opened = FaultyServer()
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def shared_house(tmp_path_factory, server) -> Generator[Wire]:
    app = build_house(tmp_path_factory.mktemp("wire") / "home")
    yield Wire(app, server)
    app.close()


@pytest.fixture
def house(shared_house) -> Wire:
    shared_house.prepare()
    return shared_house


@pytest.fixture
def provider() -> Generator[ProviderServer]:
    with start_provider() as server:
        yield server
