"""Changes of resources of MCP servers, told to the clients that watch them."""

from dataclasses import replace
from typing import Any

import pytest
from policy.houses import key
from specs.test_002_subscriptions import UPDATED, Listener, wait_until
from talk import Lines
from upstream.houses import Plan, add, tool

from tokonoma.app import App
from tokonoma.auth import api_keys
from tokonoma.core.reach import Reach
from tokonoma.server import resources
from tokonoma.upstream import watching
from tokonoma.upstream.connection import ConnectionParts

HERE = "tokonoma://odd/demo://a/1"
OFFERS = {"resources": {"subscribe": True, "listChanged": True}}
READ: dict[str, Any] = {"readOnlyHint": True}
TOOLS = [tool(each, **READ) for each in ("echo", "change", "die", "hang up")]


@pytest.fixture(autouse=True)
def look_often(monkeypatch) -> None:
    monkeypatch.setattr(resources, "POLL", 0.05)
    monkeypatch.setattr(resources, "PAUSE", 0.05)


@pytest.fixture(params=["legacy", "modern"])
def odd(house, tmp_path, request) -> Plan:
    plan = Plan(tmp_path, era=request.param, tools=TOOLS, capabilities=OFFERS, hidden=["demo://hidden"])
    add(house, "odd", plan)
    set_parts(house, lease=600.0, pauses=(0.0, 0.0, 0.0))  # no lease ends while a busy machine does other work
    return plan


def set_parts(app: App, **parts: Any) -> None:
    hub = app.upstreams
    changed: ConnectionParts = replace(hub._parts, **parts)
    hub._parts = changed


def change(app: App, uri: str = "demo://a/1", **more: Any) -> None:
    Lines(app).call("odd", "change", uri=uri, **more)


def count(plan: Plan, word: str) -> int:
    return sum(each.startswith(word) for each in plan.events)


def test_a_change_is_told_to_all_who_watch_and_the_server_is_asked_once(house, odd):
    clients = [Listener(house), Listener(house)]
    assert odd.events == []
    for client in clients:
        client.subscribe(HERE)
    assert odd.events[1:] == ["subscribed demo://a/1"]
    for _ in range(2):
        change(house)
        assert [client.hear() for client in clients] == [(UPDATED, HERE)] * 2
    change(house, "demo://a/1/part")  # a part of what is watched
    assert [client.hear() for client in clients] == [(UPDATED, HERE)] * 2
    change(house, "demo://a/12")
    clients[0].ask("resources/unsubscribe", uri=HERE)
    change(house)
    assert clients[1].hear() == (UPDATED, HERE)
    assert clients[0].heard.empty()
    assert count(odd, "unsubscribed") == 0


def test_the_subscription_ends_with_those_who_watch(house, odd):
    """By a request of the client, and by the end of its session."""
    set_parts(house, lease=0.2)
    for leave in ("unsubscribe", "close"):
        odd.forget()
        client = Listener(house)
        client.subscribe(HERE)
        if leave == "unsubscribe":
            client.ask("resources/unsubscribe", uri=HERE)
        else:
            client._session.end()
        wait_until(lambda: count(odd, "unsubscribed") > 0)
    wait_until(lambda: all(not each.watcher._watched for each in house.upstreams._connections.values()))
    wait_until(lambda: all(each._active == 0 for each in house.upstreams._connections.values()))


def test_the_list_of_resources_is_watched_too(house, odd):
    client = Listener(house)
    client.subscribe("tokonoma://odd/")
    change(house, "")
    assert client.hear() == (UPDATED, "tokonoma://odd/")


def test_after_the_end_of_its_process_a_server_is_asked_again(house, odd):
    """What has changed meanwhile is not known: it is told as a change."""
    client = Listener(house)
    client.subscribe(HERE)
    Lines(house).refused("odd", "die")
    assert client.hear() == (UPDATED, HERE)
    assert count(odd, "start") == 2
    assert count(odd, "subscribed") == 2
    change(house)
    assert client.hear() == (UPDATED, HERE)


def test_a_server_that_ends_its_subscription_is_asked_again(house, tmp_path, monkeypatch):
    monkeypatch.setattr(watching, "_PAUSES", (0.01,))
    plan = Plan(tmp_path, era="modern", tools=TOOLS, capabilities=OFFERS)
    add(house, "odd", plan)
    client = Listener(house)
    client.subscribe(HERE)
    Lines(house).call("odd", "hang_up")
    assert client.hear() == (UPDATED, HERE)
    change(house)
    assert client.hear() == (UPDATED, HERE)


@pytest.mark.usefixtures("odd")
def test_what_a_server_does_not_agree_to_is_not_found(house):
    client = Listener(house)
    for uri in ("tokonoma://odd/demo://hidden", "tokonoma://nowhere/demo://a/1"):
        assert client.ask("resources/subscribe", uri=uri)["error"]["message"] == "Resource not found"


def test_who_may_not_read_may_not_watch_and_starts_nothing(house, odd):
    key(house, "narrow", mask=["odd.read_resource"])
    client = Listener(house, "narrow")
    assert client.ask("resources/subscribe", uri=HERE)["error"]["message"] == "Resource not found"
    assert odd.events == []


def test_who_may_not_read_any_more_hears_nothing(house, odd):
    key(house, "later")
    narrow, owner = Listener(house, "later"), Listener(house)
    for each in (narrow, owner):
        each.subscribe(HERE)
    with house.write_as_owner("keys.set") as statements:
        api_keys.update_key(statements, "later", Reach(mask=frozenset({"odd.read_resource"})), None)
    wait_until(lambda: "error" in narrow.ask("resources/read", uri=HERE))  # it holds within a second
    change(house)
    assert owner.hear() == (UPDATED, HERE)
    change(house)
    assert owner.hear() == (UPDATED, HERE)
    assert narrow.heard.empty()


def test_many_changes_in_a_row_are_told_a_few_times(house, odd):
    client = Listener(house)
    client.subscribe(HERE)
    change(house, times=5_000)
    assert client.hear() == (UPDATED, HERE)
    change(house, "demo://not/watched", times=5_000)
    assert client.heard.qsize() < 100


def test_no_more_than_a_bound_can_be_watched(house, odd, monkeypatch):
    monkeypatch.setattr(watching, "MAX_WATCHED", 2)
    client = Listener(house)
    for number in (1, 2):
        client.subscribe(f"tokonoma://odd/demo://a/{number}")
    refused = client.ask("resources/subscribe", uri="tokonoma://odd/demo://a/3")
    assert "No more than 2 resources of one server" in refused["error"]["message"]
