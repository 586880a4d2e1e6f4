"""A network to PostgreSQL that swallows everything: every caller is told soon, and everything else goes on."""

import asyncio
import json
import threading
from collections.abc import Generator
from pathlib import Path

import httpx
import pytest
from faults.test_postgres_away import find_error, until
from store.proxy import SilentNetwork
from talk import Http, Json, Lines

from tokonoma.app import App
from tokonoma.auth import api_keys as keys
from tokonoma.server.http.app import HttpApp

CALLS: tuple[tuple[str, str, Json], ...] = (
    ("memory", "save", {"content": "a note"}),
    ("memory", "list", {}),
    ("memory", "search", {"query": "note"}),
    ("claims", "activate", {"q": "note"}),
)


@pytest.fixture
def network(postgres) -> Generator[SilentNetwork]:
    made = SilentNetwork(f"{postgres._sockets}/.s.PGSQL.5432")
    yield made
    made.close()


@pytest.fixture
def app(network: SilentNetwork, postgres_at: str, tmp_path: Path) -> Generator[App]:
    database = postgres_at.partition("@/")[2].partition("?")[0]
    url = f"postgresql://postgres@127.0.0.1:{network.port}/{database}"
    made = App({"home": str(tmp_path / "home"), "database_url": url, "durable": False}, {})
    made.warm()
    for module, tool, params in CALLS:
        Lines(made).call(module, tool, **params)
    yield made
    network.go_on()
    made.close()


def ask(app: App, transport: str, module: str, tool: str, params: Json, token: str | None = None) -> Json | None:
    talk = Lines(app) if transport == "stdio" else Http(app, token)
    return find_error(talk, {"module": module, "tool_name": tool, "params": params})


def assert_unavailable(error: Json | None, network: SilentNetwork) -> None:
    assert error is not None
    assert error["code"] == "UNAVAILABLE"
    assert error["details"].get("retry_after") == 1 or error["details"].get("outcome") == "unknown", error
    for place in ("127.0.0.1", str(network.port), "postgres"):
        assert place not in json.dumps(error)


def get(app: App, path: str) -> httpx.Response:
    async def send() -> httpx.Response:
        served = HttpApp(app.dispatcher, ready=app.server_info.list_problems)
        transport = httpx.ASGITransport(app=served, client=("127.0.0.1", 1))  # type: ignore[arg-type]
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8722") as client:
            return await client.get(path)

    return asyncio.run(send())


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("way", ["to_server", "to_client"])
def test_calls_are_unavailable_while_the_network_is_silent(
    app: App, network: SilentNetwork, transport: str, way
) -> None:
    network.stop(way)
    errors: list[Json | None] = []
    callers = [
        threading.Thread(target=lambda each=each: errors.append(ask(app, transport, *each))) for each in CALLS * 2
    ]
    for each in callers:
        each.start()
    for each in callers:
        each.join()
    assert len(errors) == 2 * len(CALLS)
    for error in errors:
        assert_unavailable(error, network)
    network.go_on()
    for each in CALLS:
        until(lambda each=each: ask(app, transport, *each) is None)


def test_a_server_is_not_ready_while_the_network_is_silent(app: App, network: SilentNetwork) -> None:
    assert get(app, "/ready").status_code == 200
    network.stop()
    answer = get(app, "/ready")
    assert (answer.status_code, answer.json()["ready"]) == (503, False)
    assert answer.json()["reasons"] == ["database: The database does not answer; nothing was changed. Try again."]
    assert get(app, "/health").status_code == 200
    network.go_on()
    until(lambda: get(app, "/ready").status_code == 200)


def test_a_key_that_cannot_be_looked_up_is_unavailable_and_not_unknown(app: App, network: SilentNetwork) -> None:
    with app.write_as_owner("keys add") as statements:
        token = keys.create_key(statements, "laptop")
    app.authenticator.forget()
    network.stop()
    assert_unavailable(ask(app, "http", "memory", "list", {}, token), network)
    network.go_on()
    until(lambda: ask(app, "http", "memory", "list", {}, token) is None)
