"""Answers over the wire: lists, records, texts, `done`; what is masked, what is refused, and what is stored of them."""

import pytest
from connectors.local_service import Reply
from policy.houses import MASKING, enforce
from talk import Lines

REPO = {"owner": "mio", "repo": "garden"}
CANARY = "canary.tanaka@example.co.jp"


def test_a_record_is_returned_as_itself_with_the_default_fields(service, talk):
    service.answer({"number": 7, "title": "Snails", "state": "open", "url": "x", "user": {"login": "mio", "id": 1}})
    issue = talk.call("github", "get_issue", **REPO, issue_number=7)
    assert issue == {"number": 7, "title": "Snails", "state": "open", "user": {"login": "mio"}}
    assert (service.last.method, service.last.path) == ("GET", "/repos/mio/garden/issues/7")


def test_a_list_has_items_and_says_whether_there_are_more(service, talk):
    service.answer([{"name": "main", "commit": {"sha": "a", "url": "u"}, "protected": True}])
    answer = talk.call("github", "list_branches", **REPO)
    assert answer == {"items": [{"name": "main", "commit": {"sha": "a"}, "protected": True}], "has_more": False}
    assert service.last.query == [("per_page", "20")]


@pytest.mark.parametrize("reply", [Reply(status=204), Reply({}, status=201), Reply({"id": 1})])
def test_an_answer_without_content_is_done(service, talk, reply):
    service.answer(reply)
    assert talk.call("github", "run_workflow", **REPO, workflow_id="ci.yml", ref="main") == {"done": True}
    assert service.last.body == {"ref": "main"}


def test_a_record_that_turns_out_to_be_empty_is_done(service, talk):
    service.answer(Reply(status=204))
    assert talk.call("notion", "delete_block", block_id="b1") == {"done": True}


def test_a_text_is_returned_as_text(service, talk):
    service.answer(Reply(content=b"export type Json = string"))
    assert talk.call("supabase", "generate_types", ref="r", fields=["*"]) == {"text": "export type Json = string"}


@pytest.mark.parametrize(
    ("module", "tool", "params", "value"),
    [
        ("github", "list_branches", REPO, {"message": "no list"}),
        ("github", "list_workflow_runs", REPO, {"runs": []}),
        ("notion", "search", {}, ["a"]),
        ("jira", "list_comments", {"issueIdOrKey": "A-1"}, "text"),
    ],
)
def test_an_answer_of_another_form_is_an_error_of_the_service(service, talk, module, tool, params, value):
    service.answer(value)
    assert talk.refused(module, tool, **params)["details"]["reason"] == "external"


PAGE = Reply(content=b"<html>Sign in to the guest network</html>", headers={"content-type": "text/html; charset=utf-8"})


@pytest.mark.parametrize("reply", [PAGE, Reply(content=b"", status=200), Reply({"login": "wanted"})])
def test_a_record_of_another_form_is_an_error_of_the_service_too(service, talk, reply):
    """As proxies and captive portals answer. It was an empty record."""
    service.answer(reply)
    assert talk.refused("github", "get_issue", **REPO, issue_number=7)["details"]["reason"] == "external"


@pytest.mark.parametrize("fields", [["*"], ["login"]])
def test_whose_fields_are_asked_for_gets_what_is_there(service, talk, fields):
    service.answer({"login": "wanted"})
    assert talk.call("github", "get_issue", **REPO, issue_number=7, fields=fields) == {"login": "wanted"}


def test_a_page_is_no_answer_to_a_change(service, talk):
    service.answer(PAGE)
    refused = talk.refused("github", "create_issue", **REPO, title="Snails")
    assert refused["details"]["reason"] == "external"
    assert "check before you repeat it" in refused["message"]


def test_bytes_that_are_neither_json_nor_text_are_an_error_of_the_service(service, talk):
    service.answer(Reply(content=b"\0\1", headers={"content-type": "application/octet-stream"}))
    assert talk.refused("github", "get_repo", **REPO)["details"]["reason"] == "external"


def test_what_a_service_says_is_masked_like_everything_else(service, own_app):
    talk = Lines(own_app)
    service.answer({"number": 1, "title": f"Mail {CANARY}", "body": f"to {CANARY}", "user": {"login": "mio"}})
    assert CANARY in talk.call("github", "get_issue", **REPO, issue_number=1)["title"]
    enforce(own_app, MASKING)
    shown = talk.call("github", "get_issue", **REPO, issue_number=1, fields=["*"])
    assert (shown["title"], shown["body"]) == ("Mail [masked:email]", "to [masked:email]")
    service.answer([{"id": 5, "body": f"from {CANARY}"}])
    rows = talk.call("github", "list_issue_comments", **REPO, issue_number=1)["items"]
    assert rows == [{"id": 5, "body": "from [masked:email]"}]


def test_ids_of_services_are_not_taken_for_secrets(service, own_app):
    talk = Lines(own_app)
    enforce(own_app, MASKING)
    sha, page = "3f786850e387550fdab836ed7e6dc881de23001b", "59833787-2cf9-4fdf-8782-e53db20768a5"
    service.answer([{"sha": sha, "commit": {"message": "m"}}])
    assert talk.call("github", "list_commits", **REPO)["items"] == [{"sha": sha, "commit": {"message": "m"}}]
    service.answer({"id": page, "url": f"https://www.notion.so/{page.replace('-', '')}"})
    assert talk.call("notion", "get_page", page_id=page)["id"] == page


def test_nothing_of_an_answer_is_stored(service, own_app):
    talk = Lines(own_app)
    service.answer({"number": 1, "title": "kestrel-canary", "body": "kestrel-canary"})
    assert talk.call("github", "get_issue", **REPO, issue_number=1)["title"] == "kestrel-canary"
    own_app.close()
    files = [file for file in own_app.home.rglob("*") if file.is_file()]
    assert [file.name for file in files if b"kestrel-canary" in file.read_bytes()] == []
    assert any(b"get_issue" in file.read_bytes() for file in files)  # the journal holds the call
