"""Endpoints that tests ask, and houses that ask them; all closed at the end."""

from collections.abc import Callable, Generator

import pytest
from embed.fixture import EmbedFixture
from embed.server import EmbeddingServer

from tokonoma.store.database import Database


@pytest.fixture
def server() -> Generator[EmbeddingServer]:
    made = EmbeddingServer()
    yield made
    made.close()


@pytest.fixture
def another() -> Generator[EmbeddingServer]:
    made = EmbeddingServer()
    yield made
    made.close()


@pytest.fixture
def house(database: Database, server: EmbeddingServer) -> Generator[EmbedFixture]:
    made = EmbedFixture(database, [server.url])
    yield made
    made.close()


@pytest.fixture
def houses(database: Database) -> Generator[Callable[..., EmbedFixture]]:
    made: list[EmbedFixture] = []

    def make(*args, **kwargs) -> EmbedFixture:
        made.append(EmbedFixture(database, *args, **kwargs))
        return made[-1]

    yield make
    for each in made:
        each.close()
