"""Databases for every test that stores: `database` runs a test on both. Nothing is written outside pytest's folders."""

import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tokonoma.core import clock
from tokonoma.store.database import Database, format_sqlite_url, open_database

SOAK = os.environ.get("TOKONOMA_SOAK") == "1"

settings.register_profile("quick", deadline=None, max_examples=100)
settings.register_profile("soak", deadline=None, max_examples=10_000)
settings.load_profile("soak" if SOAK else "quick")


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Generator[Any]:
    """The server of this test process; started by the first test that asks, stopped at the end."""
    from store.server import PostgresServer

    server = PostgresServer(tmp_path_factory.mktemp("postgres"))
    yield server
    server.stop()


@pytest.fixture
def sqlite_at(tmp_path: Path) -> str:
    return format_sqlite_url(tmp_path / "data" / "tokonoma.db")


@pytest.fixture
def postgres_at(postgres) -> Generator[str]:
    name = postgres.take()
    yield postgres.url(name)
    postgres.give(name)


@pytest.fixture
def sqlite_database(sqlite_at: str) -> Generator[Database]:
    database = open_database(sqlite_at, durable=False)
    yield database
    database.close()


@pytest.fixture
def postgres_database(postgres_at: str) -> Generator[Database]:
    database = open_database(postgres_at, durable=False)
    yield database
    database.close()


class FrozenClock:
    """The server's clock in the hands of a test: `at` is the time in milliseconds, for all parts at once."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.at = clock.now()
        monkeypatch.setattr(clock, "_last", (0, 0))  # afterwards the time of before the test holds again
        monkeypatch.setattr(clock, "read_nanoseconds", lambda: self.at * 1_000_000)

    def advance(self, milliseconds: float) -> None:
        self.at += int(milliseconds)


@pytest.fixture
def frozen_clock(monkeypatch: pytest.MonkeyPatch) -> FrozenClock:
    return FrozenClock(monkeypatch)


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str:
    """The URL of an empty database: the test runs once for each kind."""
    return request.getfixturevalue("sqlite_at" if request.param == "sqlite" else "postgres_at")


@pytest.fixture
def database(database_url: str) -> Generator[Database]:
    """An open, empty database: the test runs once for each kind."""
    opened = open_database(database_url, durable=False)
    yield opened
    opened.close()
