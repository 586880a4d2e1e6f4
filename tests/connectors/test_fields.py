"""Which fields of an answer are returned, and that a batch never loses one that it reads."""

import pytest

from tokonoma.connectors.fields import choose_fields, project_fields
from tokonoma.connectors.model import ServiceTool
from tokonoma.core.errors import Invalid

REPO = {"owner": "mio", "repo": "garden"}
TOOL = ServiceTool("t", "GET /a", "", fields="id user.login gone")
EVENTS = ("google_calendar", "list_events", {"calendarId": "c"})
EVENT = ("google_calendar", "get_event", {"calendarId": "c", "eventId": "e"})
TASKS = ("microsoft_todo", "list_tasks", {"list_id": "l"})
TASK = ("microsoft_todo", "get_task", {"list_id": "l", "task_id": "t"})
ISSUE = ("jira", "get_issue", {"issueIdOrKey": "A-1"})
VALUE = {"id": 1, "user": {"login": "mio", "id": 2}, "body": "x", "labels": [{"name": "a", "id": 3}]}


@pytest.mark.parametrize(
    ("given", "value", "missing"),
    [
        (None, {"id": 1, "user": {"login": "mio"}}, []),
        (["body"], {"body": "x"}, []),
        (["labels.name"], {"labels": [{"name": "a"}]}, []),
        (["body", "nowhere", "user.nowhere"], {"user": {}, "body": "x"}, ["nowhere", "user.nowhere"]),
        (["*"], VALUE, []),
        (["id", "*"], VALUE, []),
        (["+body"], {"id": 1, "user": {"login": "mio"}, "body": "x"}, []),
        (["+nowhere"], {"id": 1, "user": {"login": "mio"}}, ["nowhere"]),
        (["body", "+user.id"], {"user": {"id": 2}, "body": "x"}, []),
        (["+user"], {"id": 1, "user": {"login": "mio", "id": 2}}, []),
        ([], {"id": 1, "user": {"login": "mio"}}, []),
    ],
)
def test_what_is_returned_and_what_is_missing(given, value, missing):
    assert project_fields(VALUE, choose_fields(TOOL, given)) == (value, missing)


@pytest.mark.parametrize("path", ["", "a..b", "a[0]", "${x}", "+"])
def test_a_path_that_is_none_is_refused(path):
    with pytest.raises(Invalid) as refused:
        choose_fields(TOOL, [path])
    assert refused.value.details["field"] == "fields"


def test_a_part_of_what_would_be_shown_in_another_form_is_returned_as_it_is():
    tool = ServiceTool("t", "GET /a", "", fields="text other", render=lambda value: value)
    assert choose_fields(tool, ["+text.content"]).paths == ("other", "text.content")
    assert choose_fields(tool, ["+text"]).paths == ("text", "other")


def test_missing_fields_are_named_in_the_answer(service, talk):
    service.answer({"number": 1, "title": "x"})
    issue = talk.call("github", "get_issue", **REPO, issue_number=1, fields=["title", "nowhere"])
    assert issue == {"title": "x", "missing": ["nowhere"]}
    service.answer([{"name": "main"}])
    rows = talk.call("github", "list_branches", **REPO, fields=["name", "nowhere"])
    assert rows == {"items": [{"name": "main"}], "has_more": False, "missing": ["nowhere"]}


@pytest.mark.parametrize(
    ("module", "tool", "params", "more", "reply", "sent"),
    [
        (*EVENTS, {}, {}, "items(id,summary,start,end,location,status),nextPageToken,nextSyncToken"),
        (*EVENTS, {"fields": ["*"]}, {"items": []}, None),
        (
            *EVENTS,
            {"fields": ["creator.id", "creator.self"]},
            {},
            "items(creator(id,self)),nextPageToken,nextSyncToken",
        ),
        (*EVENTS, {"fields": ['extended["a/b"]']}, {"items": []}, None),
        (*EVENT, {"fields": ["id", "attendees.email"]}, {"id": "e"}, "id,attendees(email)"),
        (*TASKS, {}, {"value": []}, "id,title,status,importance,dueDateTime,lastModifiedDateTime"),
        (*TASK, {"expand": "checklistItems", "fields": ["id", "checklistItems"]}, {"id": "t"}, "id"),
        (*TASK, {"fields": ["*"]}, {"id": "t"}, None),
        (*ISSUE, {"fields": ["key", "fields.summary", "fields.status.name"]}, {"key": "A-1"}, "summary,status"),
        (*ISSUE, {"fields": ["key"]}, {"key": "A-1"}, "summary"),
        (*ISSUE, {"fields": ["fields"]}, {"key": "A-1"}, "*all"),
        (*ISSUE, {"fields": ["*"]}, {"key": "A-1"}, "*all"),
        ("jira", "get_project", {"projectIdOrKey": "A"}, {}, {"key": "A"}, None),
        ("github", "get_repo", REPO, {}, {"full_name": "x"}, None),
        ("microsoft_todo", "create_list", {"displayName": "x"}, {}, {"id": "1"}, None),
    ],
)
def test_services_that_can_leave_fields_out_are_told(service, talk, module, tool, params, more, reply, sent):
    service.answer(reply)
    talk.call(module, tool, **params, **more)
    name = "$select" if module == "microsoft_todo" else "fields"
    assert [value for key, value in service.last.query if key == name] == ([sent] if sent else [])


def test_a_search_in_jira_asks_for_its_fields_in_the_body(service, talk):
    service.answer({"issues": [{"key": "A-1", "fields": {"summary": "s", "status": {"name": "Open", "id": "1"}}}]})
    answer = talk.call("jira", "search", jql="project = A", fields=["key", "fields.status.name"])
    assert answer["items"] == [{"key": "A-1", "fields": {"status": {"name": "Open"}}}]
    assert service.last.body == {"jql": "project = A", "fields": ["status"], "maxResults": 20}


ISSUES = [{"number": 7, "title": "Snails", "node_id": "N7", "user": {"login": "mio", "id": 5}, "odd key": {"a": 1}}]


@pytest.mark.parametrize(
    ("fields", "path", "value"),
    [
        ({}, "items[0].node_id", "N7"),
        ({}, "items[0].user.id", 5),
        ({}, 'items[0]["odd key"].a', 1),
        ({"fields": ["title"]}, "items[0].node_id", "N7"),
        ({"fields": ["*"]}, "items[0].node_id", "N7"),
        ({}, "items[0].title", "Snails"),
        ({}, "has_more", False),
    ],
)
def test_a_step_returns_what_other_steps_read_of_it(service, talk, fields, path, value):
    service.answer(ISSUES)
    answer = talk.batch(
        {"id": "issues", "module": "github", "tool": "list_issues", "params": {**REPO, **fields}},
        {"id": "keep", "module": "memory", "tool": "save", "params": {"content": f"read: ${{issues.{path}}}"}},
        {"id": "see", "module": "memory", "tool": "get", "params": {"memo_id": "${keep.memo_id}"}, "output": True},
    )
    assert answer["ok"], answer
    written = str(value).lower() if isinstance(value, bool) else str(value)
    assert answer["results"]["see"]["content"] == f"read: {written}"


def test_a_step_that_creates_returns_what_other_steps_read_of_it(service, talk):
    service.answer({"number": 8, "html_url": "u", "state": "open", "node_id": "N8", "user": {"login": "mio"}})
    answer = talk.batch(
        {"id": "new", "module": "github", "tool": "create_issue", "params": {**REPO, "title": "t"}, "output": True},
        {"id": "keep", "module": "memory", "tool": "save", "params": {"content": "${new.node_id} ${new.user.login}"}},
    )
    assert answer["ok"], answer
    assert answer["results"]["new"] == {
        "number": 8, "html_url": "u", "state": "open", "node_id": "N8", "user": {"login": "mio"},
    }  # fmt: skip


def test_an_issue_of_jira_can_be_read_by_reference_whatever_its_own_fields_are(service, talk):
    service.answer({"id": "10", "key": "A-9", "self": "https://x"})
    answer = talk.batch(
        {"id": "new", "module": "jira", "tool": "create_issue", "params": {"fields": {"summary": "s"}}},
        {"id": "keep", "module": "memory", "tool": "save", "params": {"content": "${new.key} ${new.self}"}},
    )
    assert answer["ok"], answer
