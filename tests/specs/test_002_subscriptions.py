"""Subscriptions to resources: changes by this process, by another one, and by an editor; and who hears nothing."""

import queue
import threading
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from talk import Lines

from tokonoma.app import App
from tokonoma.auth import api_keys as keys
from tokonoma.auth.api_keys import build_reach
from tokonoma.core.call import Caller
from tokonoma.server import resources
from tokonoma.server.mcp.session import StdioSession

UPDATED = "notifications/resources/updated"


class Listener(Lines):
    """A session whose notifications can be waited for."""

    def __init__(self, app: App, key: str | None = None) -> None:
        super().__init__(app)
        self.heard: queue.Queue[tuple[str, str]] = queue.Queue()
        self._session = StdioSession(app.dispatcher, Caller("stdio", key=key), self._take)

    def _take(self, message: bytes) -> None:
        super()._take(message)
        while self.notices:
            told = self.notices.pop(0)
            self.heard.put((told["method"], told["params"].get("uri", "")))

    def hear(self) -> tuple[str, str]:
        return self.heard.get(timeout=60)

    def subscribe(self, uri: str) -> None:
        assert self.ask("resources/subscribe", uri=uri)["result"] == {}


@pytest.fixture
def other(app, database_url, tmp_path) -> Generator[App]:
    """Another process on the same store."""
    app.warm()
    second = App({"home": str(tmp_path / "home"), "database_url": database_url, "durable": False}, {})
    yield second
    second.close()


@pytest.fixture
def home(sqlite_at, tmp_path) -> Generator[App]:
    """For what does not depend on the database."""
    house = App({"home": str(tmp_path / "home"), "database_url": sqlite_at, "durable": False}, {})
    yield house
    house.close()


@pytest.fixture(autouse=True)
def look_often(monkeypatch) -> None:
    monkeypatch.setattr(resources, "POLL", 0.05)
    monkeypatch.setattr(resources, "PAUSE", 0.05)


def wait_until(happens: Callable[[], bool]) -> None:
    while not happens():  # a test that waits for ever is ended from outside
        threading.Event().wait(0.01)


def save(app: App, content: str, **more: str) -> str:
    """The memo's address."""
    return f"tokonoma://memory/{Lines(app).call('memory', 'save', content=content, **more)['memo_id']}"


def edit(app: App, uri: str, content: str) -> None:
    save(app, content, memo_id=uri.rpartition("/")[2])


def test_writes_of_this_process_and_of_others_are_told(app, other):
    uri, quiet = save(app, "one"), save(app, "quiet")
    client = Listener(app)
    client.subscribe(uri)
    client.subscribe("tokonoma://recent")
    edit(app, uri, "two")
    assert {client.hear(), client.hear()} == {(UPDATED, uri), (UPDATED, "tokonoma://recent")}
    client.ask("resources/unsubscribe", uri="tokonoma://recent")
    edit(other, quiet, "not watched")
    edit(other, uri, "three")
    assert client.hear() == (UPDATED, uri)
    client.ask("resources/unsubscribe", uri=uri)
    assert client.heard.empty()


def test_the_list_is_told_to_whoever_has_read_it(home):
    client = Listener(home)
    client.ask("resources/list")
    assert home._jobs.current is None or "resources" not in home.jobs.status()  # nobody polls
    save(home, "new")
    assert client.hear() == ("notifications/resources/list_changed", "")


def test_a_file_that_an_editor_changes_is_told(home):
    for where, path in (("vault", "a.md"), ("manuals", "book/a.md")):
        file = Path(home.server_info.locations()[where]) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("# One\n")
    client = Listener(home)
    client.call("manual", "search", query="One")
    for uri, where, path in (("tokonoma://vault/a.md", "vault", "a.md"),
                             ("tokonoma://manual/book/a.md", "manuals", "book/a.md")):  # fmt: skip
        client.subscribe(uri)
        (Path(home.server_info.locations()[where]) / path).write_text("# Two and more\n")
        assert client.hear() == (UPDATED, uri)


def test_without_a_subscription_nothing_waits_or_polls(home):
    uri = save(home, "one")
    client = Listener(home)
    client.subscribe(uri)
    assert "resources" in home.jobs.status()
    client.ask("resources/unsubscribe", uri=uri)
    wait_until(lambda: "resources" not in home.jobs.status())
    client.subscribe(uri)
    client._session.end()
    wait_until(lambda: "resources" not in home.jobs.status())


def test_what_a_caller_may_no_longer_see_is_silent_and_a_revoked_key_ends(home):
    one, two = save(home, "one", namespace="/team"), save(home, "two", namespace="/home")
    with home.database.writing() as statements:
        keys.create_key(statements, "guest", build_reach(), None)
    client = Listener(home, key="guest")
    for uri in (one, two):
        client.subscribe(uri)
    with home.write_as_owner("keys.set") as statements:
        keys.update_key(statements, "guest", build_reach(root="/team", default="/team"), None)
    home.authenticator.forget()
    edit(home, two, "not for the guest")
    edit(home, one, "for the guest")
    assert client.hear() == (UPDATED, one)
    with home.write_as_owner("keys.revoke") as statements:
        keys.revoke_key(statements, "guest")
    home.authenticator.forget()
    edit(home, one, "not any more")
    wait_until(lambda: not home.feed._listeners)
    assert client.heard.empty()
