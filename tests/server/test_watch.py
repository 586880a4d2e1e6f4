"""A client is told what changes, in both eras, and hears nothing of what it may not see."""

import pytest
from server.fixture import Workshop
from server.hostile import modern, request
from server.memory import Talk

from tokonoma.core.call import OWNER
from tokonoma.core.errors import Unavailable
from tokonoma.server.mcp import session, watch

URI, OTHER = "tokonoma://memory/1", "tokonoma://memory/2"
META = "io.modelcontextprotocol/subscriptionId"
UPDATED = {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": URI}}
LIST_CHANGED = {"jsonrpc": "2.0", "method": "notifications/resources/list_changed", "params": {}}


@pytest.fixture
def talk() -> Talk:
    shop = Workshop()
    shop.marks = {URI: "a", OTHER: "a"}
    shop.list_mark = "a"
    return Talk(shop)


def change(talk: Talk, uri: str | None = URI, mark: str | None = "b") -> None:
    """Something is written: a resource changes or vanishes, or (None) the list changes; every listener is told."""
    if uri is None:
        talk.shop.list_mark = str(mark)
    elif mark is None:
        del talk.shop.marks[uri]
    else:
        talk.shop.marks[uri] = mark
    for listener in list(talk.shop.listeners):
        listener.check()


def subscribe(talk: Talk, uri: str = URI) -> None:
    assert talk.ask(request("resources/subscribe", {"uri": uri}))["result"] == {}


def listen(talk: Talk, id=7, **notifications):
    return talk.ask(modern("subscriptions/listen", {"notifications": notifications}, id=id))


def test_a_subscriber_is_told_of_each_change_once(talk):
    subscribe(talk)
    change(talk)
    change(talk)  # the same mark
    assert talk.hear() == UPDATED
    change(talk, mark="c")
    assert talk.hear() == UPDATED
    change(talk, OTHER)
    assert talk.silent()


def test_nothing_is_told_after_unsubscribing(talk):
    subscribe(talk)
    assert talk.shop.listeners[0].polls
    assert talk.ask(request("resources/unsubscribe", {"uri": URI}))["result"] == {}
    assert talk.shop.listeners == []
    change(talk)
    assert talk.silent()
    assert talk.ask(request("resources/unsubscribe", {"uri": URI}))["result"] == {}
    assert talk.ask(request("resources/unsubscribe"))["error"]["code"] == -32602


def test_what_does_not_exist_for_the_caller_cannot_be_subscribed_to(talk):
    error = talk.ask(request("resources/subscribe", {"uri": "tokonoma://memory/3"}))["error"]
    assert error == {"code": -32002, "message": "Resource not found", "data": {"uri": "tokonoma://memory/3"}}
    assert talk.shop.listeners == []


def test_what_has_vanished_is_silent_until_it_is_another(talk):
    subscribe(talk)
    change(talk, mark=None)
    change(talk, mark="a")
    assert talk.silent()
    change(talk, mark=None)
    change(talk, mark="b")
    assert talk.hear() == UPDATED


def test_a_session_watches_a_bounded_number(talk):
    talk.shop.marks |= {f"tokonoma://memory/x{n}": "a" for n in range(watch.MAX_WATCHED)}
    for n in range(watch.MAX_WATCHED):
        subscribe(talk, f"tokonoma://memory/x{n}")
    assert talk.ask(request("resources/subscribe", {"uri": URI}))["error"]["code"] == -32010
    subscribe(talk, "tokonoma://memory/x0")  # again: no more than before
    assert len(talk.shop.listeners[0].uris) == watch.MAX_WATCHED


def test_whoever_has_read_the_list_is_told_when_it_changes(talk):
    change(talk, None)
    assert talk.ask(request("resources/list"))["result"] == {"resources": []}
    assert not talk.shop.listeners[0].polls
    change(talk, None)
    assert talk.silent()
    change(talk, None, "c")
    assert talk.hear() == LIST_CHANGED


@pytest.mark.parametrize("ends", ["look", "check"])
def test_the_end_of_a_key_is_the_end(talk, ends):
    subscribe(talk)
    listen(talk, resourceSubscriptions=[URI])
    listeners = list(talk.shop.listeners)
    talk.shop.keys = {}
    if ends == "look":
        talk.shop.take_away()
    for listener in listeners:
        listener.check()
    told = talk.hear()
    assert (told["id"], told["result"]["_meta"][META], told["result"]["resultType"]) == (7, 7, "complete")
    assert talk.shop.listeners == []
    for listener in listeners:
        listener.check()
    assert talk.silent()


def test_a_failure_of_the_store_is_not_the_end(talk):
    subscribe(talk)
    talk.shop.problem = Unavailable("The database does not answer.")
    change(talk)
    talk.shop.problem = None
    change(talk)
    assert talk.hear() == UPDATED


def test_a_modern_subscription_is_acknowledged_first_and_every_message_names_it(talk):
    ack = listen(
        talk, resourceSubscriptions=[URI, "tokonoma://memory/3"], resourcesListChanged=True, toolsListChanged=True
    )
    assert ack == {
        "jsonrpc": "2.0",
        "method": "notifications/subscriptions/acknowledged",
        "params": {
            "notifications": {"resourcesListChanged": True, "resourceSubscriptions": [URI]},
            "_meta": {META: 7},
        },
    }
    change(talk)
    assert talk.hear() == {**UPDATED, "params": {"uri": URI, "_meta": {META: 7}}}
    change(talk, None)
    assert talk.hear() == {**LIST_CHANGED, "params": {"_meta": {META: 7}}}
    change(talk, OTHER)
    assert talk.silent()


def test_only_what_was_asked_for_is_sent(talk):
    assert listen(talk, promptsListChanged=True)["params"]["notifications"] == {}
    change(talk)
    change(talk, None)
    assert talk.silent()


def test_a_client_ends_its_subscription(talk):
    listen(talk, resourceSubscriptions=[URI])
    assert listen(talk, resourceSubscriptions=[URI])["error"]["message"] == "A request with this id is still running"
    listen(talk, id=8, resourceSubscriptions=[URI])
    talk.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}})
    assert len(talk.shop.listeners) == 1
    change(talk)
    assert talk.hear()["params"]["_meta"] == {META: 8}
    assert talk.silent()
    assert listen(talk, resourceSubscriptions=[URI])["params"]["_meta"] == {META: 7}  # the id is free again


def test_the_server_ends_them_with_a_result_at_the_end_of_input(talk):
    subscribe(talk)
    listen(talk, resourceSubscriptions=[URI])
    talk.session.end()
    assert talk.hear()["id"] == 7
    assert talk.shop.listeners == []
    assert talk.silent()


@pytest.mark.parametrize(
    "notifications", [None, [], {"resourceSubscriptions": "x"}, {"resourceSubscriptions": [1]},
                      {"resourceSubscriptions": ["x" * 9000]}, {"resourceSubscriptions": [str(n) for n in range(65)]}]
)  # fmt: skip
def test_a_malformed_filter_is_refused(talk, notifications):
    answer = talk.ask(modern("subscriptions/listen", {"notifications": notifications}))
    assert answer["error"]["code"] == -32602
    assert talk.shop.listeners == []


def test_a_session_has_a_bounded_number_of_subscriptions(talk):
    for id in range(session.MAX_LISTENING):
        listen(talk, id=id, resourcesListChanged=True)
    assert listen(talk, id=99, resourcesListChanged=True)["error"]["code"] == -32010


def test_a_write_during_a_check_is_not_missed():
    """The check that is under way may have read before it."""
    shop = Workshop({"k": OWNER})
    shop.marks = {URI: "a"}
    talk = Talk(shop)
    talk.caller.token = "k"
    talk.session._watch._caller.token = "k"
    subscribe(talk)
    listener, checks = shop.listeners[0], []
    inner = shop._answer_resources

    def answer(asked):
        found = inner(asked)
        checks.append(asked)
        if len(checks) == 1:
            shop.marks[URI] = "b"
            listener.check()
        return found

    shop._answer_resources = answer  # pyright: ignore[reportAttributeAccessIssue]
    listener.check()
    assert talk.hear() == UPDATED
    assert len(checks) == 2
