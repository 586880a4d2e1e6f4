"""Houses for the tests of MCP servers as modules."""

from collections.abc import Generator
from pathlib import Path

import pytest

from tokonoma.app import App


@pytest.fixture
def app(tmp_path: Path, database_url: str) -> Generator[App]:
    opened = App({"home": str(tmp_path / "home"), "database_url": database_url, "durable": False}, {})
    yield opened
    opened.close()


@pytest.fixture
def house(tmp_path: Path) -> Generator[App]:
    """On SQLite alone: for what no database decides."""
    opened = App({"home": str(tmp_path / "home"), "durable": False}, {})
    yield opened
    opened.close()
