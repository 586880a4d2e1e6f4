"""Databases for every test that stores: `database` runs a test on both. Nothing is written outside pytest's folders."""

import gc
import importlib
import os
import pkgutil
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from store.binaries import NoPlaceForPostgres, find_binaries, list_prefix
from store.prepared import open_prepared

import tokonoma
from tokonoma.app import store
from tokonoma.core import clock
from tokonoma.embed import worker
from tokonoma.embed.builtin import BuiltinEmbedder
from tokonoma.files import backlog
from tokonoma.store.database import Database, format_sqlite_url, open_database

SOAK = os.environ.get("TOKONOMA_SOAK") == "1"

# As the server does it for itself, before numpy is loaded: several threads for a small product wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A module that is imported for the first time while a test has replaced a name would keep the replacement for ever.
for _found in pkgutil.walk_packages(tokonoma.__path__, "tokonoma."):
    if not _found.name.endswith(".__main__"):
        importlib.import_module(_found.name)

# A house loads the built-in model when it embeds its first text, in 20 ms: here one is loaded for all houses.
_MODEL = BuiltinEmbedder()
_load_model = BuiltinEmbedder._load


def _share_model(embedder: BuiltinEmbedder) -> Any:
    if embedder._path != _MODEL._path:
        return _load_model(embedder)
    embedder._loaded = _load_model(_MODEL)
    return embedder._loaded


setattr(BuiltinEmbedder, "_load", _share_model)  # noqa: B010 - for all tests, also in fixtures of a whole session

setattr(store, "open_database", open_prepared)  # noqa: B010 - for the houses of all tests

# A call spends a moment on new files and vectors, and answers without the rest. On a machine with other work, that
# moment is over sooner at one time than at another; tests of what happens then set their own.
backlog.CALL_SECONDS = backlog.LONGEST_SECONDS = 300.0
setattr(worker, "_MAX_WAIT", 300.0)  # noqa: B010

# `make test` tries the same examples each time, so that what passed once passes again; `make soak` looks for others.
# How long it takes to make examples says nothing on a machine with other work.
_PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", _PATIENT, max_examples=100, derandomize=True)
settings.register_profile("soak", _PATIENT, max_examples=10_000)
settings.load_profile("soak" if SOAK else "quick")


def pytest_configure() -> None:
    """Where PostgreSQL cannot run, one sentence now instead of a thousand failures later."""
    try:
        find_binaries()
        list_prefix()
    except NoPlaceForPostgres as problem:
        raise pytest.UsageError(str(problem)) from None


def pytest_collection_finish() -> None:
    """What was imported and collected stays until the end: the garbage collector need not look at it each time."""
    gc.collect()
    gc.freeze()


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
def postgres_at(request: pytest.FixtureRequest, postgres) -> Generator[str]:
    if request.node.get_closest_marker("migrated") is not None:
        yield request.getfixturevalue("migrated_postgres_at")
        return
    name = postgres.take()
    yield postgres.url(name)
    postgres.give(name)


@pytest.fixture
def migrated_postgres_at(postgres) -> Generator[str]:
    name = postgres.take_migrated()
    yield postgres.url(name)
    postgres.give_migrated(name)


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


@pytest.fixture
def progress(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Writes how far a full count has come, past pytest's capture: a count that was stopped has said how far it came.
    Also what it has found so far, at once."""
    capture: Any = request.config.pluginmanager.getplugin("capturemanager")

    def say(done: int, total: int, found: str = "") -> None:
        if found or (SOAK and (done % 100 == 0 or done == total)):
            with capture.global_and_fixture_disabled():
                sys.stderr.write(f"{request.node.name}: {done} of {total} {found}".rstrip() + "\n")
                sys.stderr.flush()

    return say


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
