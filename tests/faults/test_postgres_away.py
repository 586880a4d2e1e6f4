"""PostgreSQL goes away under load, stops answering, or is full: what callers are told, and how it comes back."""

import json
import os
import threading
from collections import Counter
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from store.server import PostgresServer
from talk import Http, Json, Lines, told_by

from tokonoma.app import App

SOAK = bool(os.environ.get("TOKONOMA_SOAK"))
ROUNDS = 5 if SOAK else 1
CALLERS = 6


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[PostgresServer]:
    """A server of these tests alone: it is stopped and started again."""
    made = PostgresServer(tmp_path_factory.mktemp("away"), synchronous_commit="on")
    yield made
    made.stop()


@pytest.fixture
def app(server: PostgresServer, tmp_path: Path) -> Generator[App]:
    name = server.take()
    made = App({"home": str(tmp_path / "home"), "database_url": server.url(name)}, {})
    made.warm()
    yield made
    made.close()
    server.give(name)


class Load:
    """Callers that save, read and ask for the status without pause; `errors` are what they were told."""

    def __init__(self, app: App) -> None:
        self.errors: list[Json] = []
        self.done: Counter[str] = Counter()
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._call, args=(app, number)) for number in range(CALLERS)]
        for each in self._threads:
            each.start()

    def _call(self, app: App, number: int) -> None:
        talk = Lines(app) if number % 2 else Http(app)
        while not self._stop.is_set():
            for module, tool, params in (
                ("memory", "save", {"content": f"note of {number}"}),
                ("memory", "list", {}),
                ("claims", "activate", {"q": "note"}),
                ("system", "status", {}),
            ):
                error = find_error(talk, {"module": module, "tool_name": tool, "params": params})
                if error is None:
                    self.done[tool] += 1
                else:
                    self.errors.append(error)

    def close(self) -> None:
        self._stop.set()
        for each in self._threads:
            each.join()


def find_error(talk: Lines | Http, arguments: Json) -> Json | None:
    """Over HTTP a caller that cannot be identified is answered with a status."""
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "call", "arguments": arguments}}
    if isinstance(talk, Http):
        response = talk.answered(message)
        if response.status_code == 503:
            code, seconds = "UNAVAILABLE", int(response.headers["retry-after"])
            return {"code": code, "message": response.text, "details": {"retry_after": seconds}}
        result = told_by(response)["result"]
    else:
        result = talk.send(message)["result"]
    return json.loads(result["content"][0]["text"])["error"] if result.get("isError") else None


def until(met: Callable[[], bool]) -> None:
    """Without a time limit: a test that hangs is seen by whoever runs it."""
    pause = threading.Event()
    while not met():
        pause.wait(0.01)


def assert_unavailable(errors: list[Json], server: PostgresServer) -> None:
    assert errors
    assert [error for error in errors if error["code"] != "UNAVAILABLE"] == []
    for error in errors:
        assert error["details"].get("retry_after") == 1 or error["details"].get("outcome") == "unknown", error
        for secret in ("postgres", str(server._sockets), "5432"):
            assert secret not in json.dumps(error).lower()


@pytest.mark.soak
def test_a_server_that_goes_away_under_load_is_said_to_be_unavailable_and_found_again(
    app: App, server: PostgresServer
) -> None:
    load = Load(app)
    for _ in range(ROUNDS):
        until(lambda: load.done["save"] > CALLERS)
        server.crash()
        load.errors.clear()
        until(lambda: len(load.errors) > 40)
        assert_unavailable(list(load.errors), server)
        load.done["status"] = 0
        until(lambda: load.done["status"] > 3)  # the status is answered all the time
        server.start()
        load.done.clear()
    until(lambda: load.done["save"] > CALLERS and load.done["activate"] > CALLERS)
    load.close()
    assert_unavailable(load.errors, server)


def test_a_server_that_stops_answering_is_given_up_and_found_again(app: App, server: PostgresServer) -> None:
    load = Load(app)
    until(lambda: load.done["save"] > CALLERS)
    server.freeze()
    until(lambda: len(load.errors) > 20)
    server.thaw()
    load.done.clear()
    until(lambda: load.done["save"] > CALLERS)
    load.close()
    assert_unavailable(load.errors, server)


def test_a_full_disk_is_unavailable_with_a_time_to_try_again(app: App) -> None:
    """A trigger reports what the server reports when a file cannot grow."""
    talk = Lines(app)
    talk.call("memory", "save", content="before")
    for state, seconds in (("53100", 30), ("53200", 1), ("53000", 1)):
        with app.database.writing() as statements:
            statements.run(
                f"""create or replace function refuse() returns trigger language plpgsql as $$ begin
                raise exception 'could not extend file "base/5/16384"' using errcode = '{state}'; end $$"""
            )
            statements.run("create or replace trigger full_disk before insert on memo execute function refuse()")
        error = talk.refused("memory", "save", content="no room")
        assert (error["code"], error["details"]["retry_after"]) == ("UNAVAILABLE", seconds)
        assert "base/5" not in json.dumps(error)
        assert talk.call("memory", "list")["items"]
        assert talk.call("system", "status")["health"]["database"]["ok"]
    with app.database.writing() as statements:
        statements.run("drop trigger full_disk on memo")
    talk.call("memory", "save", content="room again")
