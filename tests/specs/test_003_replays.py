"""The stored answer of a batch obeys the policy in force when it is repeated."""

import json

from policy.houses import DENYING, MASKING, enforce, key
from talk import Http, Lines

MAIL = "zorgl.quux@example.org"


def read_twice(app, talk, yaml):
    """The answer to a batch that reads everything, and to the same batch after a change of policy."""
    memo = Lines(app).call("memory", "save", content=f"Ask {MAIL} for the key of the cellar")["memo_id"]
    steps = [
        {"id": "read", "module": "memory", "tool": "get", "params": {"memo_id": memo}, "output": True},
        {"id": "miss", "module": "memory", "tool": "get", "params": {"memo_id": MAIL}},
    ]
    first = talk.batch(*steps, idempotency_key="k")
    assert MAIL in json.dumps(first)
    assert talk.batch(*steps, idempotency_key="k") == {**first, "repeated": True}
    enforce(app, yaml)
    return first, talk.batch(*steps, idempotency_key="k")


def test_a_repetition_after_a_stricter_policy_shows_no_text(app):
    ada = Http(app, key(app, "ada"))
    first, again = read_twice(app, ada, MASKING)
    assert MAIL not in json.dumps(again)
    assert again["repeated"] is True
    assert again["results"] == {}
    assert [(step["id"], step["status"]) for step in again["steps"]] == [
        (step["id"], step["status"]) for step in first["steps"]
    ]
    assert "has changed since then" in again["steps"][0]["message"]


def test_neither_does_one_after_a_policy_that_hides_the_record(app):
    ada = Http(app, key(app, "ada"))
    _, again = read_twice(app, ada, DENYING)
    assert MAIL not in json.dumps(again)
    assert again["results"] == {}


def test_what_was_answered_under_the_policy_in_force_is_repeated_whole(app):
    enforce(app, MASKING)
    ada = Http(app, key(app, "ada"))
    step = {"id": "save", "module": "memory", "tool": "save", "params": {"content": "plain"}, "output": True}
    first = ada.batch(step, idempotency_key="k")
    assert first["results"]["save"]["memo_id"]
    assert ada.batch(step, idempotency_key="k") == {**first, "repeated": True}
