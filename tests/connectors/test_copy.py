"""bridge.copy: what a service says goes into the vault or a memo, and is not shown on its way."""

import json

import pytest
from policy.houses import MASKING, enforce, key
from talk import Http, Lines

PAGE = {"module": "notion", "tool": "get_page_markdown", "params": {"page_id": "p"}, "path": "markdown"}
TEXT = "# Plan\n\nSow the beans."


def copy(talk, source, **target):
    return talk.call("bridge", "copy", from_call=source, **target)


def test_a_page_becomes_a_file_unread(service, own_app):
    talk = Lines(own_app)
    service.answer({"markdown": TEXT, "truncated": False})
    copied = copy(talk, PAGE, to_path="notes/plan.md")
    assert TEXT not in json.dumps(copied)
    assert copied["path"] == "notes/plan.md"
    assert copied["copied_chars"] == len(TEXT)
    assert talk.call("vault", "read", path="notes/plan.md", full=True)["text"].rstrip("\n") == TEXT
    assert talk.refused("bridge", "copy", from_call=PAGE, to_path="notes/plan.md")["code"] == "conflict"
    service.answer({"markdown": "two"})
    copy(talk, PAGE, to_path="notes/plan.md", mode="append")
    assert "Sow the beans.\ntwo" in talk.call("vault", "read", path="notes/plan.md", full=True)["text"]


def test_a_comment_becomes_a_memo_and_a_field_that_is_not_shown_by_default_can_be_copied(service, own_app):
    talk = Lines(own_app)
    service.answer([{"id": 1, "body": "first", "node_id": "N1"}, {"id": 2, "body": "second", "node_id": "N2"}])
    source = {
        "module": "github",
        "tool": "list_issue_comments",
        "params": {"owner": "o", "repo": "r", "issue_number": 1},
    }
    memo = copy(talk, {**source, "path": "items.body"}, to_memo={"title": "Talk", "namespace": "/garden"})
    stored = talk.call("memory", "get", memo_id=memo["memo_id"])
    assert (stored["content"], stored["title"], stored["namespace"]) == ("first\n\nsecond", "Talk", "/garden")
    other = copy(talk, {**source, "path": "items.node_id"}, to_memo={})
    assert talk.call("memory", "get", memo_id=other["memo_id"])["content"] == "N1\n\nN2"
    whole = copy(talk, source, to_memo={})
    assert json.loads(talk.call("memory", "get", memo_id=whole["memo_id"])["content"])["items"][0]["body"] == "first"


@pytest.mark.parametrize(
    ("source", "target", "field"),
    [
        (PAGE, {}, "to_path"),
        (PAGE, {"to_path": "a.md", "to_memo": {}}, "to_path"),
        ({"module": "notion", "tool": "delete_block", "params": {"block_id": "b"}}, {"to_memo": {}}, "from_call"),
        ({"module": "memory", "tool": "list"}, {"to_memo": {}}, "from_call"),
        ({**PAGE, "path": "a..b"}, {"to_memo": {}}, "from_call"),
        (PAGE, {"to_memo": {}, "limits": {"max_chars": 3}}, "limits"),
    ],
    ids=["nowhere", "twice", "writes", "no-service", "path", "too-long"],
)
def test_what_cannot_be_copied_is_refused(service, talk, source, target, field):
    service.answer({"markdown": TEXT})
    error = talk.refused("bridge", "copy", from_call=source, **target)
    assert error["details"]["field"] == field
    assert TEXT not in json.dumps(error)


def test_a_path_without_a_value_and_an_error_of_the_service_copy_nothing(service, talk):
    service.answer({"markdown": TEXT})
    error = talk.refused("bridge", "copy", from_call={**PAGE, "path": "gone"}, to_memo={})
    assert error["code"] == "not_found"
    service.answer(["no record"])
    assert talk.refused("bridge", "copy", from_call=PAGE, to_memo={})["code"] == "not_found"
    assert talk.call("memory", "list")["items"] == []


def test_a_copy_is_made_as_its_caller(service, own_app):
    """What its key does not see cannot be copied, what it may not read is not stored, and each call is journaled."""
    service.answer({"markdown": "mail a.tanaka@example.co.jp"})
    narrow = Http(own_app, key(own_app, "narrow", mask=["notion"]))
    assert narrow.refused("bridge", "copy", from_call=PAGE, to_memo={})["code"] == "not_found"
    reader = Http(own_app, key(own_app, "reader", mask=["memory:write"]))
    assert reader.refused("bridge", "copy", from_call=PAGE, to_memo={})["code"] == "not_found"
    enforce(own_app, MASKING)
    talk = Lines(own_app)
    assert talk.refused("bridge", "copy", from_call=PAGE, to_memo={})["details"]["reason"] == "masked"
    service.answer({"markdown": "plain"})
    copy(talk, PAGE, to_memo={})
    own_app.journal.flush()  # entries of reads are written a little later
    parents = {entry["tool"]: entry.get("parent") for entry in talk.call("system", "recent", limit=20)["items"]}
    assert parents["save"] == parents["get_page_markdown"] is not None
