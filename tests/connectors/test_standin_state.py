"""What is created at a stand-in is found, listed, changed and deleted, as at the service."""

import base64
from contextlib import ExitStack

import pytest
from connectors.standins import start_standin
from connectors.standins.fixtures import *  # noqa: F403
from connectors.standins.fixtures import StandinCaller


@pytest.fixture
def standin_of(standin_http):
    """Starts stand-ins by name, and stops them at the end."""
    with ExitStack() as stack:
        yield lambda name: StandinCaller(stack.enter_context(start_standin(name)), standin_http)


def test_github_keeps_files_branches_and_merges(standin_of):
    call = standin_of("github")
    text = base64.b64encode("庭\n".encode()).decode()
    made = call("PUT /repos/mio/garden/contents/a/b.md", {"message": "m", "content": text, "branch": "feature"})
    assert made.status_code == 201
    sha = made.json()["content"]["sha"]
    found = call("GET /repos/mio/garden/contents/a/b.md?ref=feature").json()
    assert base64.b64decode(found["content"]).decode() == "庭\n"
    assert call("GET /repos/mio/garden/contents/a/b.md").status_code == 404
    assert [row["name"] for row in call("GET /repos/mio/garden/contents/a?ref=feature").json()] == ["b.md"]
    again = {"message": "m", "content": text, "branch": "feature"}
    assert call("PUT /repos/mio/garden/contents/a/b.md", again).status_code == 422
    assert call("PUT /repos/mio/garden/contents/a/b.md", {**again, "sha": "0" * 40}).status_code == 409
    assert call("PUT /repos/mio/garden/contents/a/b.md", {**again, "sha": sha}).status_code == 200
    assert call("PUT /repos/mio/garden/pulls/3/merge", {}).json()["merged"] is True
    assert call("PUT /repos/mio/garden/pulls/3/merge", {}).status_code == 405
    assert call("GET /repos/mio/garden/contents/roses.md").status_code == 200
    assert call("GET /repos/mio/garden/pulls/3").json()["state"] == "closed"


def test_github_sends_logs_from_another_host_that_takes_no_token(standin_of, standin_http):
    call = standin_of("github")
    answer = call(f"GET /repos/mio/garden/actions/jobs/{call.standin.state.ids['job']}/logs")
    assert answer.status_code == 302
    place = answer.headers["location"]
    assert place.startswith("http://localhost:")
    assert standin_http.get(place, headers={"Authorization": "Bearer x"}).status_code == 400
    assert "line 59" in standin_http.get(place).text


def test_notion_keeps_pages_blocks_and_markdown(standin_of):
    call = standin_of("notion")
    ids, new = call.standin.state.ids, {"Notion-Version": "2026-03-11"}
    row = {"Name": {"title": [{"text": {"content": "Moss"}}]}}
    page = call(
        "POST /v1/pages", {"parent": {"data_source_id": ids["source"]}, "properties": row, "markdown": "# A\nb"}
    )
    assert page.status_code == 200
    number = page.json()["id"]
    rule = {"filter": {"property": "Name", "title": {"contains": "Moss"}}}
    found = call(f"POST /v1/data_sources/{ids['source']}/query", rule).json()["results"]
    assert [each["id"] for each in found] == [number]
    assert call(f"GET /v1/pages/{number}/markdown", headers=new).json()["markdown"] == "# A\nb"
    edit = {"type": "replace_content", "replace_content": {"new_str": "c"}}
    assert call(f"PATCH /v1/pages/{number}/markdown", edit, headers=new).json()["markdown"] == "c"
    block = call(f"GET /v1/blocks/{number}/children").json()["results"][0]["id"]
    assert call(f"DELETE /v1/blocks/{block}").json()["in_trash"] is True
    assert call(f"GET /v1/blocks/{number}/children").json()["results"] == []
    assert call(f"PATCH /v1/pages/{number}", {"in_trash": True}).json()["in_trash"] is True
    assert call("POST /v1/search", {"query": "Moss"}).json()["results"] == []


def test_jira_keeps_issues_and_gives_only_ids_unless_fields_are_named(standin_of):
    call = standin_of("jira")
    fields = {"project": {"key": "GARDEN"}, "issuetype": {"name": "Bug"}, "summary": "Moles"}
    key = call("POST /rest/api/3/issue", {"fields": fields}).json()["key"]
    assert call(f"POST /rest/api/3/issue/{key}/transitions", {"transition": {"id": "31"}}).status_code == 204
    assert call(f"POST /rest/api/3/issue/{key}/transitions", {"transition": {"id": "31"}}).status_code == 400
    found = call("POST /rest/api/3/search/jql", {"jql": "status = Done"}).json()["issues"]
    assert [set(row) for row in found] == [{"id"}]
    assert call("POST /rest/api/3/search/jql", {"jql": "order by key"}).status_code == 400
    assert call("POST /rest/api/3/search/approximate-count", {"jql": "colour = red"}).status_code == 400
    text = call(f"PUT /rest/api/3/issue/{key}", {"fields": {"description": "no document"}})
    assert text.json()["errors"].keys() == {"description"}
    assert call(f"DELETE /rest/api/3/issue/{key}").status_code == 204
    assert call(f"GET /rest/api/3/issue/{key}").status_code == 404


def test_confluence_keeps_versions_and_refuses_a_number_out_of_turn(standin_of):
    call = standin_of("confluence")
    number = call.standin.state.ids["page"]
    body = {"representation": "storage", "value": "<p>New</p>"}
    change = {"id": number, "status": "current", "title": "Roses", "body": body, "version": {"number": 2}}
    assert call(f"PUT /wiki/api/v2/pages/{number}", change).json()["version"]["number"] == 2
    assert call(f"PUT /wiki/api/v2/pages/{number}", change).status_code == 409
    old = call(f"GET /wiki/api/v2/pages/{number}?version=1&body-format=storage").json()
    assert old["body"]["storage"]["value"] == "<p>Red</p>"
    assert call(f"GET /wiki/api/v2/pages/{number}").json()["body"] == {}
    assert len(call(f"GET /wiki/api/v2/pages/{number}/versions").json()["results"]) == 2
    assert call(f"DELETE /wiki/rest/api/content/{number}/label?name=flower").status_code == 204
    assert call(f"DELETE /wiki/rest/api/content/{number}/label?name=flower").status_code == 404
    assert call(f"DELETE /wiki/api/v2/pages/{number}").status_code == 204
    assert call(f"GET /wiki/api/v2/pages/{number}").status_code == 404


def test_supabase_runs_sql_and_refuses_writes_where_only_reading_is_allowed(standin_of):
    call = standin_of("supabase")
    place = f"/v1/projects/{call.standin.state.ids['ref']}/database"
    insert = {"query": "insert into plants (name) values ($1)", "parameters": ["moss"]}
    assert call(f"POST {place}/query/read-only", insert).status_code == 400
    assert call(f"POST {place}/query", {**insert, "read_only": True}).status_code == 400
    assert call(f"POST {place}/query", insert).status_code == 201
    rows = call(f"POST {place}/query/read-only", {"query": "select name from plants order by id"}).json()
    assert [row["name"] for row in rows] == ["rose", "fern", "moss"]
    assert (
        call(f"POST {place}/migrations", {"query": "create table pots (id integer)", "name": "pots"}).status_code == 200
    )
    assert call(f"GET {place}/migrations").json()[-1]["name"] == "pots"
    columns = "json_agg(json_build_object('name', column_name, 'nullable', is_nullable = 'YES') order by column_name)"
    tables = (
        f"select table_name as t, {columns} as c from information_schema.columns where table_schema in ($1) group by 1"
    )
    assert call(f"POST {place}/query/read-only", {"query": tables, "parameters": ["public"]}).json() == [
        {"t": "plants", "c": [{"name": "id", "nullable": True}, {"name": "name", "nullable": False}]},
        {"t": "pots", "c": [{"name": "id", "nullable": True}]},
    ]
    assert "syntax error" in call(f"POST {place}/query", {"query": "selec"}).json()["message"]


def test_google_repeats_events_syncs_and_gives_parts(standin_of):
    call = standin_of("google_calendar")
    place = "/calendars/primary/events"
    assert call(f"GET {place}?orderBy=startTime").status_code == 400
    assert call(f"GET {place}?timeMin=2026-04-01T00:00:00").status_code == 400
    many = call(f"GET {place}?singleEvents=true&orderBy=startTime").json()
    assert [row["summary"] for row in many["items"]].count("Water") == 5
    token = many["nextSyncToken"]
    number = call.standin.state.ids["event"]
    assert call(f"DELETE {place}/{number}").status_code == 204
    assert call(f"DELETE {place}/{number}").status_code == 410
    assert [row["status"] for row in call(f"GET {place}?syncToken={token}").json()["items"]] == ["cancelled"]
    assert call(f"GET {place}?syncToken=old").status_code == 410
    part = call(f"GET {place}?fields=items(summary,start/date),kind").json()
    assert part["items"] == [{"summary": "Water", "start": {}}, {"summary": "Fair", "start": {"date": "2026-05-01"}}]
    assert part.keys() == {"items", "kind"}
    times = {"start": {"date": "2026-05-01"}, "end": {"date": "2026-05-02"}}
    readonly = "/calendars/holidays@group.v.calendar.google.com/events"
    assert call(f"POST {readonly}", {"summary": "x", **times}).status_code == 403


def test_microsoft_filters_selects_and_tells_changes(standin_of):
    call = standin_of("microsoft_todo")
    ids = call.standin.state.ids
    place = f"/me/todo/lists/{ids['list']}/tasks"
    link = call(f"GET {place}/delta").json()["@odata.deltaLink"]
    assert call(f"GET {link}").json()["value"] == []
    assert call(f"PATCH {place}/{ids['task']}", {"status": "completed"}).json()["completedDateTime"]
    weed = call(f"GET {place}?$filter=title eq 'Weed'&$select=title").json()["value"][0]
    assert {name for name in weed if name[0] != "@"} == {"id", "title"}
    assert call(f"DELETE {place}/{weed['id']}").status_code == 204
    changed = call(f"GET {link}").json()["value"]
    assert [row.get("@removed") for row in changed] == [None, {"reason": "deleted"}]
    assert call(f"GET {place}?$filter=nonsense").status_code == 400
    assert call(f"DELETE /me/todo/lists/{ids['list']}").status_code == 400
