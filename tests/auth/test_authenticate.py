"""A key that ends, or changes, does so in every process within a second."""

import threading
from types import SimpleNamespace

import pytest
from talk import Http

from tokonoma.app import App
from tokonoma.auth import api_keys, authenticate
from tokonoma.core import clock
from tokonoma.core.call import Caller
from tokonoma.core.errors import Unauthenticated

pytestmark = pytest.mark.migrated

SECOND = 1.0


@pytest.fixture
def timer(monkeypatch):
    """The clock by which the authenticator remembers, in the hands of the test."""
    timer = SimpleNamespace(at=1000.0)
    monkeypatch.setattr(authenticate, "time", SimpleNamespace(monotonic=lambda: timer.at))
    return timer


@pytest.fixture
def houses(database_url, tmp_path):
    """Two processes on one database: one serves, the other is the owner's command line."""
    flags = {"home": str(tmp_path / "home"), "database_url": database_url, "durable": False, "embed_provider": "none"}
    apps = [App(flags, {}), App(flags, {})]
    yield apps
    for app in apps:
        app.close()


def change(app, action, *args):
    with app.write_as_owner("keys") as statements:
        return action(statements, *args)


def test_a_revoked_key_ends_within_a_second_in_another_process(houses, timer):
    server, owner = houses
    caller = Caller("http", token=change(owner, api_keys.create_key, "laptop"), remote="127.0.0.1")
    for _ in range(5):  # being used does not keep it alive
        assert server.authenticator.authenticate(caller).name == "key:laptop"
        timer.at += SECOND / 2
    assert server.authenticator.authenticate(caller).name == "key:laptop"
    change(owner, api_keys.revoke_key, "laptop")
    timer.at += SECOND
    with pytest.raises(Unauthenticated):
        server.authenticator.authenticate(caller)


def test_a_changed_key_changes_within_a_second_in_another_process(houses, timer):
    server, owner = houses
    caller = Caller("http", token=change(owner, api_keys.create_key, "laptop"), remote="127.0.0.1")
    assert server.authenticator.authenticate(caller).root == "/"
    change(owner, api_keys.update_key, "laptop", api_keys.build_reach(root="/team"), None)
    timer.at += SECOND
    assert server.authenticator.authenticate(caller).root == "/team"


def test_an_expired_key_ends_within_a_second(houses, timer, frozen_clock):
    server, owner = houses
    key = change(owner, api_keys.create_key, "laptop", api_keys.UNLIMITED, clock.now() + 60_000)
    caller = Caller("http", token=key, remote="127.0.0.1")
    assert server.authenticator.authenticate(caller)
    frozen_clock.advance(60_001)
    timer.at += SECOND
    with pytest.raises(Unauthenticated):
        server.authenticator.authenticate(caller)


def test_what_is_open_is_compared_with_the_store_and_not_with_what_is_remembered(houses, timer):
    server, owner = houses
    caller = Caller("http", token=change(owner, api_keys.create_key, "laptop"), remote="127.0.0.1")
    assert server.authenticator.authenticate(caller).root == "/"
    change(owner, api_keys.update_key, "laptop", api_keys.build_reach(root="/team"), None)
    assert server.authenticator.authenticate(caller).root == "/"
    assert server.identify.renew(caller).root == "/team"
    assert server.authenticator.authenticate(caller).root == "/team"  # and calls follow
    change(owner, api_keys.revoke_key, "laptop")
    with pytest.raises(Unauthenticated):
        server.identify.renew(caller)


def test_a_first_key_is_required_within_a_second_in_another_process(houses, timer):
    server, owner = houses
    local = Caller("http", remote="127.0.0.1")
    assert server.authenticator.authenticate(local).kind == "owner"
    change(owner, api_keys.create_key, "laptop")
    timer.at += SECOND
    with pytest.raises(Unauthenticated):
        server.authenticator.authenticate(local)


def test_a_refused_key_is_not_remembered(houses, timer):
    server, owner = houses
    key = change(owner, api_keys.create_key, "laptop")
    with pytest.raises(Unauthenticated):
        server.authenticator.authenticate(Caller("http", token=key + "x"))
    assert server.authenticator.authenticate(Caller("http", token=key))


def test_a_batch_starts_no_more_steps_once_its_key_is_revoked(houses, timer, monkeypatch):
    server, owner = houses
    talk = Http(server, change(owner, api_keys.create_key, "laptop"))
    talk.call("memory", "list")
    begun, revoked = threading.Event(), threading.Event()
    list_recent = server.server_info.recent_entries

    def wait(*args):
        begun.set()
        assert revoked.wait(60)
        return list_recent(*args)

    monkeypatch.setattr(server.server_info, "recent_entries", wait)
    answers = []
    steps = (
        {"id": "a", "module": "system", "tool": "recent"},
        {"id": "b", "module": "memory", "tool": "save", "params": {"content": "too late"}, "after": ["a"]},
    )
    running = threading.Thread(target=lambda: answers.append(talk.batch(*steps)))
    running.start()
    assert begun.wait(60)
    change(owner, api_keys.revoke_key, "laptop")
    timer.at += SECOND
    revoked.set()
    running.join()
    ended = {step["id"]: step for step in answers[0]["steps"]}
    assert ended["a"]["status"] == "ok"
    assert ended["b"]["error"]["code"] == "UNAUTHENTICATED"
    server.journal.flush()
    with server.database.reading() as rows:
        assert rows.row("select count(*) from memo")[0] == 0
        code, place = rows.row("select code, tool from journal where module = 'access'")
    assert (code, place) == ("unauthenticated.revoked_key", "batch")
