"""Approvals in the store, on both databases: one call each, used once, by nobody else, for ten minutes."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Literal

import pytest

from tokonoma.core.call import OWNER, Principal
from tokonoma.core.errors import Conflict, Expired, Invalid, Limited, Missing, Unavailable
from tokonoma.core.reach import Reach
from tokonoma.policy.approvals import (
    LIFETIME,
    MAX_PARAMS,
    MAX_PENDING,
    ApprovalRequest,
    decide_approval,
    find_approval,
    list_approvals,
    use_or_ask,
)
from tokonoma.policy.versions import TABLES
from tokonoma.store.migrate import migrate

SALT, AT = b"salt of this server", 1_800_000_000_000
REQUEST = ApprovalRequest(
    Principal("key:ci", "key"), "memory.save", "", {"content": "蛙飛びこむ水の音", "tags": ["a", "b"]}
)


@pytest.fixture
def store(database):
    migrate(database, "policy", TABLES, lambda reason: None)
    return database


def ask(store, request=REQUEST, at=AT):
    with store.writing() as statements:
        return use_or_ask(statements, request, SALT, at)


def decide(store, id, verdict: Literal["approved", "denied"] = "approved", at=AT):
    with store.writing() as statements:
        return decide_approval(statements, id, verdict, "owner", SALT, at)


def read(store, id, at=AT):
    with store.reading() as rows:
        return find_approval(rows, id, SALT, at)


def test_a_call_waits_is_approved_and_used_once(store):
    asked = ask(store)
    assert (asked.state, asked.principal, asked.tool, asked.expires_at) == (
        "pending",
        "key:ci",
        "memory.save",
        AT + LIFETIME,
    )
    assert ask(store).id == asked.id  # asked once, however often it is sent
    assert read(store, asked.id).params == REQUEST.params
    approved = decide(store, asked.id)
    assert (approved.state, approved.decided_by, approved.decided_at) == ("approved", "owner", AT)
    assert (used := ask(store)).state == "used"
    assert used.id == asked.id
    again = ask(store)
    assert again.state == "pending"
    assert again.id != asked.id
    with store.reading() as rows:
        assert [each.id for each in list_approvals(rows, AT)] == [again.id]
        assert {each.state for each in list_approvals(rows, AT, all_states=True)} == {"used", "pending"}


@pytest.mark.parametrize(
    "other",
    [
        replace(REQUEST, params={**REQUEST.params, "content": "another"}),
        replace(REQUEST, params={**REQUEST.params, "tags": ["b", "a"]}),
        replace(REQUEST, params={**REQUEST.params, "namespace": None}),
        replace(REQUEST, tool="memory.delete"),
        replace(REQUEST, account="work"),
        replace(REQUEST, who=Principal("key:other", "key")),
        replace(REQUEST, who=OWNER),
        replace(REQUEST, who=Principal("key:ci", "client")),
        replace(REQUEST, who=Principal("key:ci", "key", person="ada")),
        replace(REQUEST, who=Principal("key:ci", "key", Reach(default="/team"))),
    ],
)
def test_another_call_never_uses_it(sqlite_database, other):
    migrate(sqlite_database, "policy", TABLES, lambda reason: None)
    decide(sqlite_database, ask(sqlite_database).id)
    assert ask(sqlite_database, other).state == "pending"
    assert ask(sqlite_database).state == "used"


def test_a_refused_call_is_not_asked_again_before_it_expires(store):
    asked = ask(store)
    assert decide(store, asked.id, "denied").state == "denied"
    assert ask(store, at=AT + LIFETIME - 1).state == "denied"
    assert ask(store, at=AT + LIFETIME).state == "pending"


def test_ten_minutes_after_the_question_it_is_over(store):
    late = AT + LIFETIME
    asked = ask(store)
    assert read(store, asked.id, late).state == "expired"
    with pytest.raises(Expired):
        decide(store, asked.id, at=late)
    decide(store, asked.id, at=late - 1)
    assert ask(store, at=late).state == "pending"  # approved in time, called too late
    assert read(store, asked.id, late).state == "expired"


def test_it_is_decided_once(store):
    asked = ask(store)
    decide(store, asked.id)
    with pytest.raises(Conflict, match="approved already"):
        decide(store, asked.id)
    with pytest.raises(Conflict, match="approved already"):
        decide(store, asked.id, "denied")
    with pytest.raises(Missing, match="None is waiting"):
        decide(store, "nosuchthing")


def test_a_caller_has_a_bounded_number_of_questions(store):
    requests = [replace(REQUEST, params={"number": number}) for number in range(MAX_PENDING)]
    first, *_ = (ask(store, each) for each in requests)
    with pytest.raises(Limited):
        ask(store)
    assert ask(store, requests[0]).id == first.id
    assert ask(store, replace(REQUEST, who=OWNER)).state == "pending"  # others are not kept waiting
    decide(store, first.id, "denied")
    assert ask(store).state == "pending"
    with pytest.raises(Limited):
        ask(store, replace(REQUEST, params={"one": "more"}))
    assert ask(store, replace(REQUEST, params={"one": "more"}), AT + LIFETIME).state == "pending"


def test_the_bound_holds_for_calls_at_the_same_time(store):
    ready = threading.Barrier(8)

    def run(part: int) -> int:
        ready.wait(60)
        made = 0
        for number in range(5):
            try:
                ask(store, replace(REQUEST, params={"n": 10 * part + number}))
                made += 1
            except Limited:
                pass
        return made

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(run, range(8))) == MAX_PENDING


def test_sixteen_at_once_use_one_approval_once(store):
    decide(store, ask(store).id)
    ready = threading.Barrier(16)

    def run(_) -> str:
        ready.wait(60)
        return ask(store).state

    with ThreadPoolExecutor(16) as pool:
        states = list(pool.map(run, range(16)))
    assert sorted(states) == ["pending"] * 15 + ["used"]
    with store.reading() as rows:
        assert len(list_approvals(rows, AT)) == 1  # the other fifteen ask one question


def test_parameters_are_sealed_and_gone_when_it_has_ended(store):
    def dump() -> bytes:
        with store.reading() as rows:
            return b"".join(bytes(sealed) for (sealed,) in rows.rows("select params from approval"))

    asked = ask(store)
    assert len(dump()) > 50
    assert "蛙".encode() not in dump()
    with store.reading() as rows, pytest.raises(Unavailable, match="were changed"):
        find_approval(rows, asked.id, b"another salt", AT)
    decide(store, asked.id)
    ask(store)
    assert dump() == b""
    decide(store, ask(store).id, "denied")
    assert dump() == b""
    ask(store, at=AT + LIFETIME)
    ask(store, replace(REQUEST, who=OWNER), AT + 2 * LIFETIME)
    assert read(store, asked.id).params == {}


@pytest.mark.parametrize("column", ["principal", "tool", "account", "digest"])
def test_a_row_that_was_changed_shows_no_parameters(store, column):
    asked = ask(store)
    with store.writing() as statements:
        statements.run(f"update approval set {column} = 'other'")
    with pytest.raises(Unavailable, match="were changed"):
        read(store, asked.id)
    with pytest.raises(Unavailable):
        decide(store, asked.id)


def test_what_nobody_can_look_through_is_not_asked(store):
    with pytest.raises(Invalid, match="At most"):
        ask(store, replace(REQUEST, params={"text": "x" * MAX_PARAMS}))
