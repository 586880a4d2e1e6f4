"""What is open ends within a second after its credential is revoked, or sends nothing of what was taken from it: over
HTTP, on both databases, with the owner's command in another process."""

import contextlib
import http.client
import json
import queue
import threading
from collections.abc import Callable, Generator
from typing import Any

import pytest
from server.doors import Door
from server.hostile import modern, request
from server.test_oauth import SignedDoor
from server.web import headers_of, served
from talk import Lines

from tokonoma.app import App
from tokonoma.auth import api_keys
from tokonoma.auth.api_keys import build_reach
from tokonoma.auth.oauth.grants import list_grants, revoke_grant, update_grant_reach
from tokonoma.auth.people import add_person, find_person, revoke_person
from tokonoma.core.call import Caller
from tokonoma.server import access, resources
from tokonoma.server.mcp.session import StdioSession

ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
UPDATED = "notifications/resources/updated"
LIST_CHANGED = "notifications/resources/list_changed"


@pytest.fixture(autouse=True)
def check_often(monkeypatch):
    """Instead of once a second."""
    monkeypatch.setattr(resources, "PAUSE", 0.0)
    monkeypatch.setattr(access, "EVERY", 0.1)


@pytest.fixture
def apps(database_url, tmp_path):
    """The server, and the owner's command line in another process."""
    flags = {"home": str(tmp_path / "home"), "database_url": database_url, "durable": False, "embed_provider": "none"}
    opened = [App(flags, {}), App(flags, {})]
    yield opened
    for app in opened:
        app.close()


class Server:
    def __init__(self, url: str, server: App, owner: App, stack: contextlib.ExitStack) -> None:
        self.host, self.app, self.owner, self._stack = url.removeprefix("http://"), server, owner, stack
        self.token = self.change(api_keys.create_key, "laptop")

    def change(self, action: Callable[..., Any], *args: Any) -> Any:
        with self.owner.write_as_owner("keys") as statements:
            return action(statements, *args)

    def revoke(self) -> None:
        self.change(api_keys.revoke_key, "laptop")

    def narrow(self, **reach: Any) -> None:
        self.change(api_keys.update_key, "laptop", build_reach(**reach), None)

    def open(self, method: str, message: Any = None, **more: str) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection(self.host)
        self._stack.callback(connection.close)
        headers = headers_of(message) if message is not None else {"accept": "text/event-stream"}
        session = {"mcp-session-id": "s1"} if message is None or "_meta" not in message.get("params", {}) else {}
        body = None if message is None else json.dumps(message)
        sent = {**headers, **session, "authorization": f"Bearer {self.token}", **more}
        connection.request(method, "/mcp", body, sent)
        return connection.getresponse()

    def ask(self, method: str, **params: Any) -> Any:
        return json.loads(self.open("POST", request(method, params)).read())

    def listen(self, *uris: str) -> http.client.HTTPResponse:
        wanted = {"resourceSubscriptions": list(uris), "resourcesListChanged": True}
        response = self.open("POST", modern("subscriptions/listen", {"notifications": wanted}, id=7))
        assert hear(response)["method"] == ACKNOWLEDGED
        return response


def hear(response: http.client.HTTPResponse) -> Any:
    """The next message; None at the end of the stream."""
    while line := response.readline():
        if line.startswith(b"data: "):
            return json.loads(line[6:])
    return None


@pytest.fixture
def server(apps) -> Generator[Server]:
    with contextlib.ExitStack() as stack, served(apps[0].dispatcher) as (url, _):
        yield Server(url, apps[0], apps[1], stack)
        stack.close()


CALL = {"name": "call", "arguments": {"module": "system", "tool_name": "recent"}, "_meta": {"progressToken": 1}}


class Slow:
    """`system.recent` takes until the end of the test."""

    def __init__(self, app: App, monkeypatch) -> None:
        self.begun, self.over = threading.Semaphore(0), threading.Event()

        def wait(*args: Any) -> Any:
            self.begun.release()
            self.over.wait(600)
            return [], None

        monkeypatch.setattr(app.server_info, "recent_entries", wait)


@pytest.fixture
def slow(apps, monkeypatch):
    made = Slow(apps[0], monkeypatch)
    yield made
    made.over.set()


def test_a_revoked_key_ends_every_open_stream(server):
    memo = Lines(server.owner).call("memory", "save", content="one")
    session, listening = server.open("GET"), server.listen(f"tokonoma://memory/{memo['memo_id']}")
    assert session.status == 200
    assert server.app.access._followers
    server.revoke()
    assert hear(session) is None
    assert hear(listening)["result"]["resultType"] == "complete"
    assert hear(listening) is None
    assert server.app.access._followers == set()
    assert server.open("GET").status == 401


@pytest.mark.parametrize(
    ("write", "accept"),
    [(modern, "application/json"), (modern, "text/event-stream"), (request, "application/json, text/event-stream")],
)
def test_a_running_call_ends_with_its_key(server, slow, accept, write):
    answers: list[http.client.HTTPResponse] = []
    message = write("tools/call", CALL, id=7)
    asking = threading.Thread(target=lambda: answers.append(server.open("POST", message, accept=accept)))
    asking.start()
    slow.begun.acquire()
    server.revoke()
    asking.join()
    response = answers[0]
    is_stream = response.headers["content-type"] == "text/event-stream"
    answer = hear(response) if is_stream else json.loads(response.read())
    assert (answer["id"], answer["error"]["code"]) == (7, -32011)
    if is_stream:
        assert hear(response) is None
    else:
        assert response.status == 401
        assert "invalid_token" in response.headers["www-authenticate"]
    assert not slow.over.is_set()
    assert server.app.access._followers == set()


def test_a_running_call_ends_if_its_key_may_use_less_and_goes_on_if_it_may_use_more(server, slow):
    server.narrow(mask=["memory"])
    answers: list[Any] = []
    asking = threading.Thread(target=lambda: answers.append(server.ask("tools/call", **CALL)))
    asking.start()
    slow.begun.acquire()
    server.narrow()  # everything
    server.narrow(mask=["system.recent"])
    asking.join()
    assert answers[0]["error"]["code"] == -32000
    assert "Send the request again" in answers[0]["error"]["message"]
    assert server.ask("tools/call", **CALL)["result"]["isError"] is True  # there is no such tool


def test_a_narrowed_key_hears_nothing_of_what_it_no_longer_sees(server):
    owner = Lines(server.owner)
    hidden = owner.call("memory", "save", content="one", namespace="/private")
    seen = owner.call("memory", "save", content="one", namespace="/team")
    addresses = [f"tokonoma://memory/{each['memo_id']}" for each in (hidden, seen)]
    for uri in addresses:
        assert server.ask("resources/subscribe", uri=uri)["result"] == {}
    streams = [server.open("GET"), server.listen(*addresses)]

    def edit(text: str) -> None:
        for each in (hidden, seen):
            owner.call("memory", "save", memo_id=each["memo_id"], content=text)

    edit("two")
    for stream in streams:  # both are told while it may see both
        assert {next_update(stream) for _ in addresses} == set(addresses)
    server.narrow(root="/team")
    while {each.reach.root for each in list(server.app.access._followers)} != {"/team"}:
        pass
    edit("three")
    for stream in streams:
        assert next_update(stream) == addresses[1]
    edit("four")
    for stream in streams:
        assert next_update(stream) == addresses[1]


def next_update(stream: http.client.HTTPResponse) -> str:
    while (message := hear(stream))["method"] == LIST_CHANGED:
        pass
    assert message["method"] == UPDATED
    return message["params"]["uri"]


def test_what_waits_for_a_stream_is_forgotten_when_the_key_is_narrowed(server):
    owner = Lines(server.owner)
    hidden = owner.call("memory", "save", content="one", namespace="/private")
    seen = owner.call("memory", "save", content="one", namespace="/team")
    for each in (hidden, seen):
        assert server.ask("resources/subscribe", uri=f"tokonoma://memory/{each['memo_id']}")["result"] == {}
    [watch] = server.app.feed._listeners
    session = watch._send.__self__  # the messages wait there for a stream
    for each in (hidden, seen):
        owner.call("memory", "save", memo_id=each["memo_id"], content="two")
    while len(session._waiting) < 2:
        pass
    server.narrow(root="/team")
    while any(hidden["memo_id"].encode() in message for message in list(session._waiting)):
        pass
    stream = server.open("GET")
    assert next_update(stream) == f"tokonoma://memory/{seen['memo_id']}"


def test_the_stream_of_an_owner_without_a_key_ends_with_the_first_key(apps):
    server, owner = apps
    with contextlib.ExitStack() as stack, served(server.dispatcher) as (url, _):
        connection = http.client.HTTPConnection(url.removeprefix("http://"))
        stack.callback(connection.close)
        connection.request("GET", "/mcp", headers={"accept": "text/event-stream", "mcp-session-id": "s1"})
        stream = connection.getresponse()
        assert stream.status == 200
        with owner.write_as_owner("keys") as statements:
            api_keys.create_key(statements, "first")
        assert hear(stream) is None
        stack.close()


@pytest.mark.parametrize("ends", [True, False])
def test_a_local_client_with_the_rights_of_a_key_loses_what_the_key_loses(server, slow, ends):
    written: queue.Queue[bytes] = queue.Queue()
    session = StdioSession(server.app.dispatcher, Caller("stdio", key="laptop"), written.put)
    for message in (request("tools/call", CALL, id=1), modern("subscriptions/listen", {"notifications": {}}, id=2)):
        session.handle_line(json.dumps(message).encode())
    slow.begun.acquire()
    assert json.loads(written.get())["method"] == ACKNOWLEDGED
    [follower] = server.app.access._followers
    while follower.reach is None:
        pass
    if ends:
        server.revoke()
    else:
        server.narrow(mask=["system.recent"])
    first = json.loads(written.get())
    assert (first["id"], first["error"]["code"]) == (1, -32602 if ends else -32000)
    if ends:
        assert json.loads(written.get())["result"]["resultType"] == "complete"
    session.end()
    assert server.app.access._followers == set()


@pytest.mark.parametrize("ends", ["grant", "person", "reach", "person's reach"])
def test_a_client_loses_what_it_has_open_with_its_grant_or_its_person(database_url, tmp_path, monkeypatch, ends):
    flags = {"home": str(tmp_path / "home"), "database_url": database_url, "durable": False, "oauth": "on"}
    app = App({**flags, "embed_provider": "none"}, {})
    signed, slow = SignedDoor(Door(app)), Slow(app, monkeypatch)
    with app.database.writing() as statements:
        add_person(statements, "bob", build_reach())
        bob = find_person(statements, "bob").id
    token = signed.sign_in(person=bob)["access_token"]
    with contextlib.ExitStack() as stack, served(app.dispatcher) as (url, _):
        server = Server(url, app, app, stack)
        server.token = token
        known = {"host": "127.0.0.1:8722"}  # as the client knows the server
        listening = server.open("POST", modern("subscriptions/listen", {"notifications": {}}, id=7), **known)
        assert hear(listening)["method"] == ACKNOWLEDGED
        answers: list[Any] = []
        message = modern("tools/call", CALL, id=8)
        asking = threading.Thread(target=lambda: answers.append(server.open("POST", message, **known)))
        asking.start()
        slow.begun.acquire()
        [grant] = server.change(list_grants)
        narrow = build_reach(mask=["system"])
        if ends == "grant":
            server.change(revoke_grant, grant.name)
        elif ends == "person":
            server.change(revoke_person, "bob")
        elif ends == "reach":
            server.change(update_grant_reach, grant.name, narrow)
        else:
            sql = """update person set mask = '["system"]' where id = :id"""
            server.change(lambda statements: statements.run(sql, id=bob))
        asking.join()
        error = json.loads(answers[0].read())["error"]
        assert error["code"] == (-32000 if "reach" in ends else -32011)
        if "reach" not in ends:
            assert hear(listening)["id"] == 7
            assert hear(listening) is None
        stack.close()
    slow.over.set()
    app.close()
