"""Endpoints that tests ask, and houses that ask them; all closed at the end."""

from collections.abc import Callable, Generator

import pytest
from embed.house import House
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
def house(database: Database, server: EmbeddingServer) -> Generator[House]:
    made = House(database, [server.url])
    yield made
    made.close()


@pytest.fixture
def houses(database: Database) -> Generator[Callable[..., House]]:
    made: list[House] = []

    def make(*args, **kwargs) -> House:
        made.append(House(database, *args, **kwargs))
        return made[-1]

    yield make
    for each in made:
        each.close()
