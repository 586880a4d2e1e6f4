"""What the policy makes of a document; and two policies at once, of which a caller sees only what both let it see."""

from typing import Any

import pytest

from tokonoma.core.call import OWNER
from tokonoma.core.desk import Document
from tokonoma.policy.active import ActivePolicy, ClosedPolicy
from tokonoma.policy.parse import parse_policy
from tokonoma.policy.transition import TransitionPolicy

MAIL = "a.tanaka@example.co.jp"
OPEN = "version: 1\nboundary_classes: { pii: { allow: ['*'] } }"
MASKED = "version: 2\nboundary_classes: { pii: { allow: ['*'], redact: [email] } }"
CLOSED = "version: 3\nboundary_classes: { pii: { allow: ['owner:eyes'] } }"


def make_transition(here: str, other: str, coming: bool) -> TransitionPolicy:
    return TransitionPolicy(
        parse_policy(here), 1, b"salt", ActivePolicy(parse_policy(other), 2, b"salt"), coming=coming
    )


@pytest.fixture(params=[True, False], ids=["coming", "leaving"])
def coming(request) -> bool:
    return request.param


@pytest.mark.parametrize(("here", "other"), [(OPEN, CLOSED), (CLOSED, OPEN)])
def test_a_class_that_one_of_them_denies_is_not_readable(here, other, coming):
    policy = make_transition(here, other, coming)
    assert "pii" not in policy.view_for(OWNER).classifications
    assert policy.decide(("*", "answer:task"), "internal").verdict == "allow"
    assert policy.decide(("answer:task",), "pii").verdict == "deny"


@pytest.mark.parametrize(("here", "other"), [(OPEN, MASKED), (MASKED, OPEN)])
def test_a_kind_that_one_of_them_masks_is_masked(here, other, coming):
    policy = make_transition(here, other, coming)
    view = policy.view_for(OWNER)
    assert "pii" in view.classifications
    assert policy.build_masks(view).covers("memory")
    assert policy.hidden_anywhere(view) >= {"email"}
    assert policy.screen_result(view, f"mail {MAIL}").value == "mail [masked:email]"
    assert policy.decide(("answer:task",), "pii").verdict == "redact"


@pytest.mark.parametrize(
    "place",
    [
        {"text": MAIL},
        {"title": MAIL},
        {"thread": MAIL},
        {"namespace": f"/people/{MAIL}"},
        {"facts": [("mail", MAIL)]},
        {"facts": [(MAIL, 1)]},
    ],
    ids=["text", "title", "thread", "namespace", "fact", "key of a fact"],
)
def test_a_find_anywhere_in_a_document_decides_its_class(place: dict[str, Any]):
    values: dict[str, Any] = {"address": "tokonoma://memory/1", "namespace": "/", "text": "plain", **place}
    document = Document(**values)
    scan = ActivePolicy().scan_document(document)
    assert scan.kinds == "email"
    assert scan.classify("internal") == "pii"


def test_without_a_readable_policy_nothing_is_readable():
    view = ClosedPolicy().view_for(OWNER)
    assert (view.tags, view.classifications) == ((), ())


def test_keys_of_a_mapping_are_masked_too():
    policy = ActivePolicy(parse_policy(MASKED), 2, b"salt")
    assert policy.screen_result(policy.view_for(OWNER), {MAIL: {MAIL: [MAIL]}}).value == {
        "[masked:email]": {"[masked:email]": ["[masked:email]"]}
    }


def test_a_secret_in_a_question_is_masked():
    """A question may be stored too, in a trail or a cache."""
    policy, secret = ActivePolicy(), "AKIAQ3EGRT5ZL2PWX7VN"
    screened = policy.screen_arguments(policy.view_for(OWNER), "memory", {"query": f"{secret} {MAIL}"}, writes=False)
    assert screened.value == {"query": f"[masked:aws_access_key] {MAIL}"}
