"""A database with the tables of the keyring, and a home with its key."""

from pathlib import Path

import pytest

from tokonoma.keyring.data_keys import Keyring
from tokonoma.keyring.source import HomeKey
from tokonoma.keyring.tables import TABLES
from tokonoma.store.migrate import migrate


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def keyring(home: Path) -> Keyring:
    return Keyring(HomeKey(home))


@pytest.fixture
def store(database):
    migrate(database, "keyring", TABLES, lambda reason: None)
    return database


@pytest.fixture
def sqlite_store(sqlite_database):
    migrate(sqlite_database, "keyring", TABLES, lambda reason: None)
    return sqlite_database
