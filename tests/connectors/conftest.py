"""A house with all seven services connected to one local HTTP server."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from connectors.connected_house import ConnectedHouse, open_connected
from connectors.local_service import LocalClient, LocalService
from talk import Lines

from tokonoma import catalogue
from tokonoma.app import App
from tokonoma.pipeline.async_tools import CallAsyncDesk


@contextmanager
def open_house(home: Path, service: LocalService) -> Generator[App]:
    """Until an account is connected its service is not listed; here all of them are, with the account `home`."""
    house = App({"home": str(home), "durable": False}, {})
    infos = [catalogue.read_catalogue(file) for file in (catalogue.CATALOGUE_FILE, catalogue.SERVICES_FILE)]
    house.registry.replace_modules([info for group in infos for info in group])

    async def connect(desk: CallAsyncDesk, account: str | None = None) -> LocalClient:
        return LocalClient(service.url, account or "home")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CallAsyncDesk, "connect", connect, raising=False)
        yield house
    house.close()


@pytest.fixture(scope="module")
def local_service() -> Generator[LocalService]:
    local = LocalService()
    yield local
    local.close()


@pytest.fixture
def service(local_service) -> LocalService:
    local_service.asked.clear()
    return local_service


@pytest.fixture(scope="module")
def app(local_service, tmp_path_factory) -> Generator[App]:
    """One for all tests of a file, which store nothing in it."""
    with open_house(tmp_path_factory.mktemp("house"), local_service) as house:
        yield house


@pytest.fixture
def own_app(local_service, tmp_path) -> Generator[App]:
    """For a test that changes its house."""
    with open_house(tmp_path / "home", local_service) as house:
        yield house


@pytest.fixture
def talk(app) -> Lines:
    return Lines(app)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Generator[ConnectedHouse]:
    """All seven services at their stand-ins. A test begins with `house.begin(service)`."""
    with open_connected(tmp_path_factory.mktemp("connected") / "home") as opened:
        yield opened
