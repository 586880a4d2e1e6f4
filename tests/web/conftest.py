"""Fixtures for the tests of pages."""

from collections.abc import Callable, Generator
from typing import Any

import pytest
from playwright.sync_api import Browser
from web.browser import launch_chromium
from web.site import Site

from tokonoma.app import App


@pytest.fixture(scope="module")  # while it is open, a loop runs in this thread, and no other can
def browser() -> Generator[Browser]:
    with launch_chromium() as opened:
        yield opened


@pytest.fixture
def open_site(tmp_path) -> Generator[Callable[..., Site]]:
    opened: list[App] = []

    def build(origin: str = "http://127.0.0.1:8722", **flags: Any) -> Site:
        common = {
            "home": str(tmp_path / "home"),
            "durable": False,
            "embed_provider": "none",
            "oauth": "on",
            "log_level": "warning",
        }
        opened.append(App({**common, **flags}, {}))
        return Site(opened[-1], origin)

    yield build
    for app in opened:
        app.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def stored_at(request: pytest.FixtureRequest) -> str:
    return request.getfixturevalue("sqlite_at" if request.param == "sqlite" else "migrated_postgres_at")


@pytest.fixture
def site(stored_at, open_site) -> Site:  # in this order: the app is closed before its database is cleared
    return open_site(database_url=stored_at)
