"""Fixtures for the tests of the server."""

from collections.abc import Callable, Generator
from typing import Any

import pytest
from server.doors import Door

from tokonoma.app import App


@pytest.fixture
def open_door(tmp_path) -> Generator[Callable[..., Door]]:
    opened: list[App] = []

    def build(**flags: Any) -> Door:
        app = App({"home": str(tmp_path / "home"), "durable": False, "embed_provider": "none", **flags}, {})
        opened.append(app)
        return Door(app)

    yield build
    for app in opened:
        app.close()
