"""Streams of notifications over HTTP: `GET /mcp` of a session with a handshake, and `subscriptions/listen`."""

import contextlib
import http.client
import json
from collections.abc import Generator
from typing import Any

import pytest
from server.fixture import Workshop
from server.hostile import modern, request
from server.web import Stream, headers_of, served

from tokonoma.core.call import Principal
from tokonoma.server.http import listen
from tokonoma.server.http.asgi import HttpLimits

URI = "tokonoma://memory/1"
META = "io.modelcontextprotocol/subscriptionId"
UPDATED = {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": URI}}


@pytest.fixture
def shop() -> Workshop:
    made = Workshop()
    made.marks = {URI: "a"}
    made.list_mark = "a"
    return made


OPENED: list[http.client.HTTPConnection] = []


@pytest.fixture(autouse=True)
def close_connections() -> Generator[None]:
    yield
    while OPENED:
        OPENED.pop().close()


class Client:
    """One session with a handshake."""

    def __init__(self, url: str, session: str = "s1", token: str | None = None) -> None:
        self.host, self.session = url.removeprefix("http://"), session
        self.headers = {} if token is None else {"authorization": f"Bearer {token}"}

    def send(self, method: str, message: Any = None, **more: str) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection(self.host)
        headers = headers_of(message) if message is not None else {"accept": "text/event-stream"}
        session = {"mcp-session-id": self.session} if self.session else {}
        body = None if message is None else json.dumps(message)
        OPENED.append(connection)
        connection.request(method, "/mcp", body, {**headers, **session, **self.headers, **more})
        return connection.getresponse()

    def ask(self, method: str, **params: Any) -> Any:
        return json.loads(self.send("POST", request(method, params)).read())

    def subscribe(self) -> Any:
        return self.ask("resources/subscribe", uri=URI)

    @contextlib.contextmanager
    def stream(self) -> Generator[http.client.HTTPResponse]:
        response = self.send("GET")
        assert (response.status, response.headers["content-type"]) == (200, "text/event-stream")
        try:
            yield response
        finally:
            response.close()


def hear(response: http.client.HTTPResponse) -> Any:
    """The next message; None at the end of the stream."""
    while line := response.readline():
        if line.startswith(b"data: "):
            return json.loads(line[6:])
    return None


def change(shop: Workshop, mark: str = "b") -> None:
    shop.marks[URI] = mark
    for listener in list(shop.listeners):
        listener.check()


@pytest.mark.parametrize("first", ["stream", "subscription"])
def test_a_session_hears_on_its_stream_what_it_subscribed_to(shop, first):
    with served(shop) as (url, _):
        client = Client(url)
        if first == "subscription":
            assert client.subscribe()["result"] == {}
            change(shop, "z")  # kept for the stream
        with client.stream() as stream:
            if first == "subscription":
                assert hear(stream) == UPDATED
            else:
                assert client.subscribe()["result"] == {}
            change(shop)
            assert hear(stream) == UPDATED
            assert client.ask("resources/unsubscribe", uri=URI)["result"] == {}
            assert shop.listeners == []


def test_whoever_has_a_stream_and_has_read_the_list_is_told_of_it(shop):
    with served(shop) as (url, _), Client(url).stream() as stream:
        assert Client(url).ask("resources/list")["result"] == {"resources": []}
        shop.list_mark = "b"
        change(shop, "a")
        assert hear(stream)["method"] == "notifications/resources/list_changed"


def test_nobody_hears_what_another_session_or_another_caller_watches():
    shop = Workshop({"k1": Principal("one", "key"), "k2": Principal("two", "key")})
    shop.marks = {URI: "a"}
    with served(shop) as (url, _):
        one, other = Client(url, token="k1"), Client(url, token="k2")
        with one.stream() as stream, other.stream() as same_session, Client(url, "s2", "k1").stream() as same_caller:
            one.subscribe()
            change(shop)
            assert hear(stream) == UPDATED
            other.send("DELETE").read()
            assert len(shop.listeners) == 1
            for quiet in (same_session, same_caller):
                quiet.close()
        assert Client(url, token="k3").send("GET").status == 401
        assert Client(url, token="k3").send("DELETE").status == 401


def test_a_deleted_session_and_a_key_that_has_ended_end_the_stream():
    shop = Workshop({"k1": Principal("one", "key")})
    shop.marks = {URI: "a"}
    with served(shop) as (url, _):
        client = Client(url, token="k1")
        with client.stream() as stream:
            client.subscribe()
            assert client.send("DELETE").status == 200
            assert hear(stream) is None
            assert shop.listeners == []
        with client.stream() as stream, Stream(url, listening(), authorization="Bearer k1") as other:
            client.subscribe()
            response = other.response()
            assert hear(response)["method"] == "notifications/subscriptions/acknowledged"
            shop.take_away()
            assert hear(stream) is None
            assert hear(response)["id"] == 7
            assert hear(response) is None
        assert shop.listeners == []


def listening(**notifications: Any) -> Any:
    return modern("subscriptions/listen", {"notifications": notifications or {"resourceSubscriptions": [URI]}}, id=7)


def test_a_modern_stream_until_its_client_leaves(shop):
    with served(shop) as (url, _):
        with Stream(url, listening()) as opened:
            response = opened.response()
            assert response.headers["x-accel-buffering"] == "no"
            assert hear(response)["params"]["notifications"] == {"resourceSubscriptions": [URI]}
            change(shop)
            assert hear(response) == {**UPDATED, "params": {"uri": URI, "_meta": {META: 7}}}
            response.close()
        while shop.listeners:  # a test that waits for ever is ended from outside
            change(shop, "c")
        with Stream(url, listening(), accept="application/json") as opened:
            assert opened.response().status == 400


def test_the_end_of_the_server_is_told(shop):
    running = contextlib.ExitStack()
    url, _ = running.enter_context(served(shop))
    with Stream(url, listening()) as opened:
        response = opened.response()
        hear(response)
        stream = Client(url).send("GET")
        running.close()
        assert hear(response)["result"]["_meta"][META] == 7
        assert hear(response) is None
        assert hear(stream) is None
        assert shop.listeners == []


def test_streams_are_few_for_each_caller_and_in_all(shop, monkeypatch):
    monkeypatch.setattr(listen, "MAX_STREAMS_EACH", 2)
    with served(shop) as (url, _), contextlib.ExitStack() as stack:
        for name in ("s1", "s2"):
            stack.enter_context(Client(url, name).stream())
        assert Client(url, "s3").send("GET").status == 429
        assert Client(url, "s3").subscribe()["error"]["code"] == -32010
        with Stream(url, listening()) as opened:
            assert opened.response().status == 429
        stack.enter_context(Client(url, "s1").stream())  # again: in the place of the old one
        Client(url, "s2").send("DELETE").read()
        stack.enter_context(Client(url, "s4").stream())
    with served(shop, limits=HttpLimits(streams=1)) as (url, _), Client(url).stream():
        assert Client(url, "s2").send("GET").status == 429


def test_a_session_without_a_stream_is_forgotten_after_a_while(shop, monkeypatch):
    monkeypatch.setattr(listen, "UNUSED", 0.0)
    with served(shop) as (url, _):
        Client(url).subscribe()
        while shop.listeners:
            Client(url).ask("ping")


def test_what_is_no_session_has_no_stream(shop):
    with served(shop) as (url, _):
        assert Client(url, "").send("GET").status == 405
        assert Client(url, "").send("DELETE").status == 405
        assert Client(url, "x" * 300).send("GET").status == 400
        assert Client(url).send("GET", accept="application/json").status == 406
        assert Client(url, "").subscribe()["error"]["code"] == -32600
        assert Client(url).send("GET", origin="http://evil.example").status == 403
