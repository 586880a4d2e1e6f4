"""Fixtures for real OAuth clients."""

from collections.abc import Callable, Generator
from contextlib import ExitStack
from typing import Any

import pytest
from oauth_clients.house import MovedClock, OpenHouse, open_house, publish_documents

from tokonoma.app import App


@pytest.fixture
def moved_clock(monkeypatch) -> MovedClock:
    return MovedClock(monkeypatch)


@pytest.fixture
def build_house(tmp_path, monkeypatch, moved_clock) -> Generator[Callable[..., OpenHouse]]:
    """A server with these settings; nothing of it reaches the internet."""
    publish_documents(monkeypatch, {})
    with ExitStack() as stack:

        def build(**flags: Any) -> OpenHouse:
            common = {"home": str(tmp_path / "home"), "durable": False, "embed_provider": "none", "oauth": "on"}
            app = App({**common, "log_level": "error", **flags}, {})
            stack.callback(app.close)
            return stack.enter_context(open_house(app, moved_clock))

        yield build


@pytest.fixture
def house(build_house) -> OpenHouse:
    return build_house()
