"""Fixtures for the tests of OAuth."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from auth.oauth.house import OAuthHouse


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def open_house(database, home) -> Callable[..., OAuthHouse]:
    def build(**options: Any) -> OAuthHouse:
        return OAuthHouse(database, home, **options)

    return build


@pytest.fixture
def house(open_house) -> OAuthHouse:
    return open_house()


@pytest.fixture
def sqlite_house(sqlite_database, home) -> OAuthHouse:
    """On one database: for checks that do not depend on which it is."""
    return OAuthHouse(sqlite_database, home)
