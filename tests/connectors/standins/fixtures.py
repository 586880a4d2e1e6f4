"""Fixtures of the stand-ins: `standin` of one service, and a bare HTTP client that knows nothing of Tokonoma."""

from collections.abc import Generator
from typing import Any

import httpx
import pytest

from .standin import Standin, start_standin

__all__ = ["StandinCaller", "standin", "standin_call", "standin_http"]

HEADERS = {  # what each service wants beside the token
    "notion": {"Notion-Version": "2025-09-03"},
    "github": {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28", "User-Agent": "tokonoma"},
}


@pytest.fixture(scope="session")
def standin_http() -> Generator[httpx.Client]:
    # One client for all tests: to make one costs more than a hundred requests.
    with httpx.Client(trust_env=False, verify=False, timeout=30) as client:
        yield client


class StandinCaller:
    """Sends requests as a careful client does; `headers` replaces, and drops what is None."""

    def __init__(self, standin: Standin, http: httpx.Client) -> None:
        self.standin = standin
        self.http = http

    def __call__(
        self,
        call: str,
        body: Any = None,
        token: str | None = None,
        headers: dict[str, str | None] | None = None,
        **more: Any,
    ) -> httpx.Response:
        method, _, path = call.partition(" ")
        whole: dict[str, str | None] = {"Authorization": self.standin.state.format_token(token or self.standin.token)}
        whole |= {**HEADERS.get(self.standin.service, {}), **(headers or {})}
        kept = {name: value for name, value in whole.items() if value is not None}
        if body is not None:
            more["json"] = body
        url = path if path.startswith("http") else self.standin.base_url + path
        return self.http.request(method, url, headers=kept, **more)


@pytest.fixture
def standin(request: pytest.FixtureRequest) -> Generator[Standin]:
    """The stand-in of `request.param`."""
    with start_standin(request.param) as started:
        yield started


@pytest.fixture
def standin_call(standin: Standin, standin_http: httpx.Client) -> StandinCaller:
    return StandinCaller(standin, standin_http)
