"""What a service can do to a request, line by line: with the tools of each service, through `call` and `batch`."""

from collections.abc import Callable
from dataclasses import dataclass
from email.utils import formatdate
from time import time
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from connectors.connected_house import ConnectedHouse
from connectors.faces import get_face
from connectors.standins import (
    SERVICES,
    Standin,
    answer,
    drop,
    gzip_bomb,
    half_body,
    hang,
    hold,
    make_error,
    make_limit,
    proceed,
    redirect,
)
from connectors.standins.faults import Fault
from services.test_client import submit

from tokonoma.core.call import Call, Caller
from tokonoma.core.providers import find_provider
from tokonoma.services.providers import get_provider

Step = Fault | Callable[[Any], Fault]  # of the service's state: its own words
JSON = {"Content-Type": "application/json"}
OK, DROP, HALF, BROKEN = proceed(), drop(), half_body(), answer(200, "{broken", JSON)
HTML = answer(502, "<h1>Bad gateway</h1>")
REDIRECT = redirect("http://169.254.169.254/latest/meta-data")
EXTERNAL, LIMITED = "EXTERNAL_API_ERROR", "RATE_LIMITED"


def fail(status: int, words: str = "Something is wrong") -> Step:
    return lambda state: make_error(state, status, words)


def slow(seconds: int, kind: Any = "usual") -> Step:
    return lambda state: make_limit(state, seconds, kind)


def too_many(pause: object = None, status: int = 429) -> Fault:
    return answer(status, {"message": "Slow down"}, {} if pause is None else {"Retry-After": str(pause)})


@dataclass(frozen=True)
class Case:
    """`ends`: the code of the error, or empty for a good end; `slept`: the least seconds of pauses in between."""

    name: str
    what: str
    steps: list[Step]
    ends: str
    sent: int
    details: dict[str, Any] | None = None
    slept: float = 0.0
    only: str = ""  # empty: every service behaves so


CASES = [
    Case("fine", "read", [OK], "", 1),
    Case("server errors", "read", [fail(500), HTML, OK], "", 3, slept=1.5),
    Case("always failing", "read", [fail(500)] * 4, EXTERNAL, 3, {"http_status": 500}),
    Case("write, server error", "create", [fail(500)], EXTERNAL, 1, {"http_status": 500}),
    Case("search by POST, server error", "search", [fail(500), OK], "", 2),
    Case("write, 503 with Retry-After", "create", [too_many(1, 503)], EXTERNAL, 1, {"http_status": 503}),
    Case("rate limit", "read", [too_many(2), OK], "", 2, slept=2),
    Case("rate limit on a write", "create", [too_many(1), OK], "", 2, slept=1),
    Case("rate limit in its own words", "read", [slow(2), OK], "", 2),
    Case("rate limit in its own words, write", "create", [slow(1), OK], "", 2),
    Case("Retry-After in the past", "read", [too_many(formatdate(time() - 99, usegmt=True)), OK], "", 2),
    Case("Retry-After is rubbish", "read", [too_many("soon, nan, -"), OK], "", 2),
    Case("Retry-After beyond the deadline", "read", [too_many(3600)], LIMITED, 1, {"retry_after": 3600}),
    Case("rate limit again and again", "read", [too_many(1)] * 5, LIMITED, 3, {"retry_after": 1}),
    Case("Notion overloaded", "read", [slow(1, "overload"), OK], "", 2, slept=1, only="notion"),
    Case("Notion overloaded, write", "create", [slow(1, "overload"), OK], EXTERNAL, 1, only="notion"),
    Case("GitHub secondary limit", "read", [slow(1), OK], "", 2, slept=1, only="github"),
    Case("GitHub primary limit", "read", [slow(2, "primary"), OK], "", 2, slept=0.9, only="github"),
    Case("Google limit", "read", [slow(1), OK], "", 2, slept=0.5, only="google_calendar"),
    Case("forbidden", "read", [fail(403, "Not for you")], EXTERNAL, 1, {"http_status": 403, "says": "Not for you"}),
    Case("not found", "read", [fail(404, "Nothing here")], EXTERNAL, 1, {"http_status": 404, "says": "Nothing here"}),
    Case("invalid", "create", [fail(422, "Bad field")], EXTERNAL, 1, {"http_status": 422, "says": "Bad field"}),
    Case("connection dropped", "read", [DROP, OK], "", 2),
    Case("connection dropped, write", "create", [drop(handled=True), OK], EXTERNAL, 1),
    Case("connection dropped, search", "search", [DROP, OK], "", 2),
    Case("half a body", "read", [HALF, OK], "", 2),
    Case("half a body, write", "create", [HALF, OK], EXTERNAL, 1),
    Case("broken JSON", "read", [BROKEN, OK], "", 2),
    Case("broken JSON, write", "create", [BROKEN, OK], EXTERNAL, 1),
    Case("no content", "remove", [answer(204)], "", 1),
    Case("redirect", "read", [REDIRECT, OK], EXTERNAL, 1, {"http_status": 302}),
    Case("redirect, write", "create", [REDIRECT, OK], EXTERNAL, 1),
    Case("gzip bomb", "read", [gzip_bomb(), OK], EXTERNAL, 1),
]
POSTING = ("notion", "jira", "supabase", "google_calendar")  # those that search by POST
PAIRS = [
    (case, service)
    for case in CASES
    for service in ([case.only] if case.only else POSTING if case.what == "search" else SERVICES)
]
EVERY = pytest.mark.parametrize("service", SERVICES)


@pytest.fixture(scope="module")
def usual(house: ConnectedHouse) -> dict[tuple[str, str], Any]:
    """What each service answers to a question when nothing is wrong."""
    told: dict[tuple[str, str], Any] = {}
    for service in SERVICES:
        face = get_face(house.begin(service))
        for what, asked in {"read": face.read, "search": face.search}.items():
            if asked is not None:
                told[service, what] = house.call(service, asked[0], **asked[1])
    return told


def ask(standin: Standin, what: str) -> tuple[str, dict[str, Any]]:
    tool, params = getattr(get_face(standin), what)
    return tool, {**params, "account": standin.service}


def play(standin: Standin, steps: list[Step]) -> None:
    standin.faults.script([step(standin.state) if callable(step) else step for step in steps])


def check_error(error: Any, case: Case) -> None:
    assert error["code"] == case.ends, error
    assert error["details"].items() >= (case.details or {}).items()


@pytest.mark.parametrize(("case", "service"), PAIRS, ids=[f"{case.name}-{service}" for case, service in PAIRS])
def test_a_fault_ends_as_the_table_says(house, usual, case, service):
    standin = house.begin(service)
    tool, params = ask(standin, case.what)
    play(standin, case.steps)
    if case.ends:
        check_error(house.talk.refused(service, tool, **params), case)
    else:
        value = house.talk.call(service, tool, **params)
        assert value == usual.get((service, case.what), {"done": True} if case.what == "remove" else value)
    assert len(standin.requests) == case.sent
    assert sum(house.time.slept) >= case.slept
    assert house.find(service).state == "ready"


@pytest.mark.parametrize(("case", "service"), PAIRS, ids=[f"{case.name}-{service}" for case, service in PAIRS])
def test_a_fault_in_a_batch_is_an_error_of_its_step_alone(house, case, service):
    standin = house.begin(service)
    (tool, params), (reading, read) = ask(standin, case.what), ask(standin, "read")
    play(standin, case.steps)
    told = house.talk.batch(
        {"id": "a", "module": service, "tool": tool, "params": params, "output": True},
        {"id": "b", "module": service, "tool": reading, "params": read, "after": "a"},
        {"id": "c", "module": "memory", "tool": "list"},
    )
    found = {step["id"]: step for step in told["steps"]}
    ends = ("error", "skipped", "ok") if case.ends else ("ok", "ok", "ok")
    assert tuple(found[name]["status"] for name in "abc") == ends
    if case.ends:
        check_error(found["a"]["error"], case)
    assert len(standin.requests) == case.sent + (not case.ends)


@EVERY
def test_what_is_removed_is_done(house, service):
    """By the service itself, and not by a script; Notion and Supabase answer with a record."""
    standin = house.begin(service)
    made, named, (tool, params) = get_face(standin).removable, get_face(standin).named, get_face(standin).remove
    if made is not None:
        new = house.call(service, made[0], **made[1])
        (new,) = new.get("items", [new])
        params = {**params, named: new.get("key") or new["id"]}
        house.forget(standin)
    told = {"notion": {"in_trash": True}, "supabase": {"message": "ok"}}.get(service, {"done": True})
    assert house.call(service, tool, **params).items() >= told.items()
    assert [seen.method for seen in standin.requests] == ["POST" if service == "github" else "DELETE"]


@EVERY
@pytest.mark.parametrize("what", ["read", "create"])
def test_a_service_that_hangs_is_asked_once_and_the_end_of_the_call_ends_it(house, service, what):
    """The time of a call ends it in the same way; see pipeline/deadline.py."""
    standin = house.begin(service)
    tool, params = ask(standin, what)
    standin.faults.script([hang(handled=True), OK])
    call = Call(service, tool, params, Caller("cli", key="all"))
    wait = submit(house, call)
    standin.wait_for_requests(1)
    call.cancel_token.cancel("timeout")
    outcome = wait()
    assert (outcome.kind, outcome.reason) == ("unavailable", "timeout")
    assert len(standin.requests) == 1
    house.begin(service)
    standin.faults.script([hang()], forever=True)
    told = house.talk.batch({"id": "a", "module": service, "tool": tool, "params": params, "time_limit": 0.1})
    assert told["steps"][0]["status"] == "timeout"
    assert len(standin.requests) <= 1


@EVERY
def test_what_cannot_be_reached_is_tried_three_times_also_for_a_write(house, service, monkeypatch):
    standin = house.begin(service)
    monkeypatch.setattr(standin, "url", "http://127.0.0.1:9")  # nobody listens there
    house.begin(service)
    tool, params = ask(standin, "create")
    error = house.talk.refused(service, tool, **params)
    assert (error["code"], "Nothing was sent" in error["message"]) == (EXTERNAL, True)
    assert house.time.slept == [0.5, 1.0]
    assert standin.requests == []


@EVERY
def test_five_failures_in_a_row_leave_the_service_alone_for_30_seconds(house, usual, service):
    standin = house.begin(service)
    tool, params = ask(standin, "read")
    play(standin, [fail(500)] * 15)
    for _ in range(5):
        assert house.talk.refused(service, tool, **params)["details"]["http_status"] == 500
    assert len(standin.requests) == 15
    error = house.talk.refused(service, tool, **params)
    assert (error["code"], len(standin.requests)) == (EXTERNAL, 15)
    assert 0 < error["details"]["retry_after"] <= 30
    house.time.slept.append(31)
    assert house.talk.call(service, tool, **params) == usual[service, "read"]
    assert len(standin.requests) == 16


@EVERY
def test_many_calls_at_once_are_let_through_a_few_at_a_time(house, service):
    standin, most = house.begin(service), get_provider(find_provider(service)).limits.at_once
    standin.faults.script([hold()] * 20)
    tool, params = ask(standin, "read")
    waits = [submit(house, Call(service, tool, params, Caller("cli", key="all"))) for _ in range(20)]
    for come in range(most, 20 + most, most):
        standin.wait_for_requests(min(come, 20))
        standin.release()
    assert [wait() for wait in waits] == [waits[0]()] * 20
    others = standin.requests[0].at_once - 1  # of a test before, in which nobody was answered
    assert (len(standin.requests), standin.most_at_once - others) == (20, most)


VALUES = [
    "../../user",
    "a/b",
    "%2e%2e",
    "a?x=1",
    "a#b",
    "é",
    "a b",
    "a\r\nX-Y: z",
    "a\0b",
    "..;",
    "…",
    "https://x.org/",
]


@EVERY
def test_a_value_stays_one_segment_of_its_path(house, service):
    standin = house.begin(service)
    tool, params, name, path = get_face(standin).place
    start = urlsplit(standin.base_url).path + path
    for value in VALUES:
        house.forget(standin)
        error = house.refuse(service, tool, **{**params, name: value})
        assert error["code"] in (EXTERNAL, "INVALID_ARGUMENT"), error
        assert [seen.path for seen in standin.requests] == [start + quote(value, safe="")], value
        assert "x-y" not in standin.requests[0].headers
    for value in (".", "..", ""):
        house.forget(standin)
        error = house.refuse(service, tool, **{**params, name: value})
        assert (error["details"]["field"], standin.requests) == (name, [])


@EVERY
def test_a_failed_step_of_a_batch_fails_alone_and_skips_what_follows_it(house, service):
    standin = house.begin(service)
    (tool, params), (placed, more, name, _) = ask(standin, "read"), get_face(standin).place
    steps: list[Any] = [{"id": f"s{n}", "module": service, "tool": tool, "params": params} for n in range(5)]
    steps[2] |= {"tool": placed, "params": {**more, name: get_face(standin).nothing, "account": service}}
    told = house.talk.batch(*steps, {**steps[0], "id": "after", "after": "s2"})
    found = {step["id"]: step["status"] for step in told["steps"]}
    assert found == {"s0": "ok", "s1": "ok", "s2": "error", "s3": "ok", "s4": "ok", "after": "skipped"}
    assert sorted(seen.status for seen in standin.requests) == [200, 200, 200, 200, 404]
