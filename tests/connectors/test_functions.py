"""The tools that need more than one request, or a conversion: each as a client meets it."""

import base64

import pytest
from connectors.local_service import Asked, Reply
from policy.houses import key
from talk import Http

REPO = {"owner": "mio", "repo": "garden"}
SHA = "3f786850e387550fdab836ed7e6dc881de23001b"


def encode(content: bytes) -> str:
    return base64.encodebytes(content).decode()  # with line breaks, as GitHub does it


# GitHub


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ("# 床の間\n".encode(), {"text": "# 床の間\n"}),
        (b"", {"text": ""}),
        (b"x" * 200, {"text": "x" * 200}),
        (b"\x89PNG\xff", {"encoding": "base64", "content": base64.b64encode(b"\x89PNG\xff").decode()}),
    ],
)
def test_a_file_is_text_and_bytes_stay_bytes(service, talk, content, shown):
    facts = {"name": "a.md", "path": "docs/a.md", "type": "file", "size": len(content), "sha": "s"}
    service.answer({**facts, "encoding": "base64", "content": encode(content), "_links": {}})
    assert talk.call("github", "get_file", **REPO, path="docs/a b.md", ref="dev") == {**facts, **shown}
    assert service.last.path == "/repos/mio/garden/contents/docs/a%20b.md"
    assert service.last.query == [("ref", "dev")]


def test_a_directory_is_a_list(service, talk):
    entry = {"name": "a.md", "path": "docs/a.md", "type": "file", "size": 1, "sha": "s"}
    service.answer([{**entry, "html_url": "u"}])
    assert talk.call("github", "get_file", **REPO, path="docs") == {"items": [entry], "has_more": False}
    talk.call("github", "get_file", **REPO, path="/")
    assert service.last.path == "/repos/mio/garden/contents/"


def test_a_file_too_large_for_the_answer_has_its_address(service, talk):
    service.answer({"path": "big", "size": 2_000_000, "encoding": "none", "content": "", "download_url": "https://x/y"})
    assert talk.call("github", "get_file", **REPO, path="big") == {
        "path": "big", "size": 2_000_000, "download_url": "https://x/y",
    }  # fmt: skip


@pytest.mark.parametrize("value", ["text", {"encoding": "base64", "content": "a"}])
def test_content_that_cannot_be_decoded_is_an_error_of_the_service(service, talk, value):
    service.answer(value)
    assert talk.refused("github", "get_file", **REPO, path="a")["details"]["reason"] == "external"


def test_a_file_is_written_from_text_or_bytes(service, talk):
    service.answer({"content": {"path": "a", "sha": "s", "size": 1}, "commit": {"sha": "c", "url": "u"}})
    written = talk.call("github", "put_file", **REPO, path="a", message="m", content="床", sha=SHA)
    assert written == {"content": {"path": "a", "sha": "s"}, "commit": {"sha": "c"}}
    assert service.last.body == {"message": "m", "content": base64.b64encode("床".encode()).decode(), "sha": SHA}
    talk.call("github", "put_file", **REPO, path="a", message="m", content="AAE=", encoding="base64")
    assert service.last.body == {"message": "m", "content": "AAE="}
    error = talk.refused("github", "put_file", **REPO, path="a", message="m", content="床", encoding="base64")
    assert error["details"]["field"] == "content"
    assert len(service.asked) == 2


def serve_branch(asked: Asked) -> Reply:
    if asked.method == "POST":
        return Reply({"ref": asked.body["ref"], "object": {"sha": asked.body["sha"], "type": "commit"}}, status=201)
    return Reply({"default_branch": "main"} if asked.path == "/repos/mio/garden" else {"sha": SHA})


@pytest.mark.parametrize(
    ("start", "asked"),
    [
        ({"from_ref": SHA}, []),
        ({"from_ref": "feature/x"}, ["/repos/mio/garden/commits/feature%2Fx"]),
        ({}, ["/repos/mio/garden", "/repos/mio/garden/commits/main"]),
    ],
)
def test_a_branch_begins_at_a_commit_that_is_looked_up(service, talk, start, asked):
    service.answer(serve_branch)
    made = talk.call("github", "create_branch", **REPO, branch="tulips", **start)
    assert made == {"ref": "refs/heads/tulips", "object": {"sha": SHA}}
    assert [each.path for each in service.asked] == [*asked, "/repos/mio/garden/git/refs"]
    assert service.last.body == {"ref": "refs/heads/tulips", "sha": SHA}


def test_a_branch_at_nothing_is_not_made(service, talk):
    service.answer({"message": "no sha"})
    assert talk.refused("github", "create_branch", **REPO, branch="b", from_ref="x")["details"]["reason"] == "external"
    assert talk.refused("github", "create_branch", **REPO, branch="b", from_ref="..")["details"]["field"] == "from_ref"
    assert [each.method for each in service.asked] == ["GET"]


def test_a_log_is_shown_from_its_end(service, own_app):
    talk = Http(own_app, key(own_app, "ci", extras=["github.*"]))
    service.answer(Reply(content="\n".join(f"line {number}" for number in range(500)).encode()))
    log = talk.call("github", "get_job_log", **REPO, job_id=5)
    assert log["lines"] == 200
    assert log["is_cut"] is True
    assert log["text"].splitlines()[0] == "line 300"
    assert log["text"].splitlines()[-1] == "line 499"
    log = talk.call("github", "get_job_log", **REPO, job_id=5, lines=2)
    assert log == {"text": "line 498\nline 499", "lines": 2, "is_cut": True}
    assert service.last.query == []


def test_only_a_log_follows_a_redirect_and_only_to_named_hosts():
    from tokonoma.connectors import github

    following = {tool.name: tool.redirect_hosts for tool in github.TOOLS if tool.redirect_hosts}
    assert following == {"get_job_log": ("*.blob.core.windows.net", "*.githubusercontent.com")}


# Notion


def test_markdown_of_notion_is_asked_for_in_the_version_that_has_it(service, talk):
    service.answer({"markdown": "# x", "truncated": False, "id": "p"})
    assert talk.call("notion", "get_page_markdown", page_id="p") == {"markdown": "# x", "truncated": False}
    assert service.last.headers["notion-version"] == "2026-03-11"
    update = {"content_updates": [{"old_str": "a", "new_str": "b"}]}
    talk.call("notion", "update_page_markdown", page_id="p", type="update_content", update_content=update)
    assert service.last.headers["notion-version"] == "2026-03-11"
    assert service.last.body == {"type": "update_content", "update_content": update}
    talk.call("notion", "get_page", page_id="p")
    assert "notion-version" not in service.last.headers  # the client sends that of the provider


def test_pages_and_databases_of_notion_have_a_name(service, talk):
    pieces = [{"plain_text": "Garden ", "href": None}, {"plain_text": "plan"}]
    page = {"object": "page", "id": "1", "properties": {"Was": {"type": "title", "title": pieces}}}
    source = {"object": "data_source", "id": "2", "title": pieces}
    service.answer({"results": [page, source, {"object": "page", "id": "3", "properties": {}}], "has_more": False})
    assert talk.call("notion", "search", query="plan")["items"] == [
        {"object": "page", "id": "1", "name": "Garden plan"},
        {"object": "data_source", "id": "2", "name": "Garden plan"},
        {"object": "page", "id": "3"},
    ]


def test_a_comment_of_notion_has_one_place(service, talk):
    service.answer({"id": "c", "discussion_id": "d"})
    text = [{"text": {"content": "x"}}]
    for places in ({}, {"parent": {"page_id": "p"}, "discussion_id": "d"}):
        error = talk.refused("notion", "add_comment", rich_text=text, **places)
        assert error["details"]["field"] == "parent"
    assert service.asked == []
    assert talk.call("notion", "add_comment", rich_text=text, discussion_id="d")["id"] == "c"


def test_a_block_is_sent_under_its_type_and_a_property_may_be_one_record(service, own_app):
    talk = Http(own_app, key(own_app, "n", extras=["notion.*"]))
    service.answer({"id": "b", "type": "paragraph"})
    talk.call("notion", "update_block", block_id="b", content={"paragraph": {"rich_text": []}}, archived=False)
    assert service.last.body == {"paragraph": {"rich_text": []}, "archived": False}
    service.answer({"object": "property_item", "type": "number", "number": 4})
    item = talk.call("notion", "get_page_property", page_id="p", property_id="x")
    assert item == {"object": "property_item", "type": "number", "number": 4}
    service.answer({"object": "list", "results": [{"id": 1}], "next_cursor": None})
    answer = talk.call("notion", "get_page_property", page_id="p", property_id="x")
    assert answer == {"items": [{"id": 1}], "has_more": False}


# Confluence


def test_a_page_of_confluence_comes_with_its_body(service, talk):
    service.answer({"id": "7", "title": "Plan", "body": {"storage": {"value": "<p>x</p>"}}, "authorId": "a"})
    page = talk.call("confluence", "get_page", id="7")
    assert page == {"id": "7", "title": "Plan", "body": {"storage": {"value": "<p>x</p>"}}}
    assert service.last.query == [("body-format", "storage")]
    talk.call("confluence", "get_page", id="7", body_format="view", include_labels=True)
    assert service.last.query == [("body-format", "view"), ("include-labels", "true")]


def test_a_replaced_page_of_confluence_names_itself_twice_and_labels_are_the_whole_body(service, talk):
    service.answer({"id": "7"})
    body = {"representation": "storage", "value": "<p>y</p>"}
    talk.call("confluence", "update_page", id="7", status="current", title="T", body=body, version={"number": 4})
    assert service.last.path == "/wiki/api/v2/pages/7"
    assert service.last.body == {
        "id": "7", "status": "current", "title": "T", "body": body, "version": {"number": 4},
    }  # fmt: skip
    talk.call("confluence", "add_labels", id="7", labels=[{"name": "plan"}])
    assert service.last.body == [{"name": "plan"}]


# Supabase


def test_tables_are_listed_by_a_fixed_statement(service, talk):
    rows = [{"schema": "public", "table": "bed", "columns": [{"name": "id", "type": "bigint"}], "oid": 1}]
    service.answer(Reply(rows, status=201))
    assert talk.call("supabase", "list_tables", ref="r")["items"] == [
        {"schema": "public", "table": "bed", "columns": [{"name": "id", "type": "bigint"}]}
    ]
    assert service.last.body["parameters"] == ["public"]
    assert "in ($1)" in service.last.body["query"]
    hostile = "x'); drop table bed; --"
    talk.call("supabase", "list_tables", ref="r", schemas=["public", hostile])
    assert service.last.body["parameters"] == ["public", hostile]
    assert "drop" not in service.last.body["query"]
    assert "in ($1, $2)" in service.last.body["query"]


def test_rows_of_a_query_come_whole_and_a_migration_is_done(service, talk):
    service.answer(Reply([{"a": 1}, {"b": None}], status=201))
    answer = talk.call("supabase", "query", ref="r", query="select 1")
    assert answer == {"items": [{"a": 1}, {"b": None}], "has_more": False}
    assert service.last.path == "/v1/projects/r/database/query/read-only"
    talk.call("supabase", "execute_sql", ref="r", query="delete from bed where id = $1", parameters=[4])
    assert service.last.body == {"query": "delete from bed where id = $1", "parameters": [4]}
    service.answer(Reply(content=b""))
    assert talk.call("supabase", "apply_migration", ref="r", query="create table x ()", name="x") == {"done": True}


def test_keys_are_shown_only_if_they_are_asked_for_twice(service, talk):
    service.answer([{"name": "anon", "type": "legacy", "api_key": "sb-value", "prefix": "sb"}])
    assert "sb-value" not in str(talk.call("supabase", "get_api_keys", ref="r", reveal=True))
    assert "sb-value" in str(talk.call("supabase", "get_api_keys", ref="r", reveal=True, fields=["+api_key"]))


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (b"Deno.serve()", {"text": "Deno.serve()"}),
        (b"\xff\xd8", {"bytes": 2, "content_type": "application/zip", "encoding": "base64", "content": "/9g="}),
        (b"\xff" * (1024 * 1024 + 1), {"bytes": 1024 * 1024 + 1, "content_type": "application/zip"}),
    ],
    ids=["text", "bytes", "long"],
)
def test_the_source_of_a_function_is_text_or_bytes(service, own_app, content, shown):
    talk = Http(own_app, key(own_app, "s", extras=["supabase.get_function_body"]))
    service.answer(Reply(content=content, headers={"content-type": "application/zip"}))
    assert talk.call("supabase", "get_function_body", ref="r", function_slug="f") == shown


# Google Calendar and Microsoft To Do


@pytest.mark.parametrize(
    ("params", "ordered"),
    [
        ({}, False),
        ({"timeMin": "2026-11-16T00:00:00Z"}, True),
        ({"timeMin": "2026-11-16T00:00:00Z", "orderBy": "updated"}, False),
        ({"timeMin": "2026-11-16T00:00:00Z", "singleEvents": False}, False),
    ],
)
def test_events_of_a_time_span_come_one_by_one_and_in_order(service, talk, params, ordered):
    service.answer({"items": []})
    talk.call("google_calendar", "list_events", calendarId="mio@example.com", **params)
    assert service.last.path == "/calendars/mio%40example.com/events"
    query = dict(service.last.query)
    assert (query.get("singleEvents"), query.get("orderBy")) == (("true", "startTime") if ordered else (
        "false" if "singleEvents" in params else None, params.get("orderBy")))  # fmt: skip


def test_a_task_is_completed_and_its_fields_can_be_emptied(service, talk):
    service.answer({"id": "t", "title": "Water", "status": "completed"})
    talk.call("microsoft_todo", "complete_task", list_id="l=", task_id="t/1")
    assert service.last.path == "/me/todo/lists/l%3D/tasks/t%2F1"
    assert service.last.body == {"status": "completed"}
    talk.call("microsoft_todo", "update_task", list_id="l", task_id="t", title="x", clear=["dueDateTime"])
    assert service.last.body == {"dueDateTime": None, "title": "x"}
    assert talk.refused("microsoft_todo", "update_task", list_id="l", task_id="t", clear=["title"])


def test_changes_of_tasks_go_on_from_a_token(service, own_app):
    talk = Http(own_app, key(own_app, "m", extras=["microsoft_todo.tasks_delta"]))
    service.answer(
        {"value": [{"id": "t", "@removed": {"reason": "deleted"}}], "@odata.deltaLink": "https://g/x?$deltatoken=abc"}
    )
    answer = talk.call("microsoft_todo", "tasks_delta", list_id="l")
    assert answer["items"] == [{"id": "t", "@removed": {"reason": "deleted"}}]
    assert answer["deltatoken"] == "abc"
    talk.call("microsoft_todo", "tasks_delta", list_id="l", deltatoken="abc")
    assert ("$deltatoken", "abc") in service.last.query
