"""Every dialect of paging gives all rows once, in as many requests as there are pages."""

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from connectors.standins import SERVICES, start_standin
from connectors.standins.fixtures import *  # noqa: F403
from connectors.standins.fixtures import StandinCaller

Pages = Iterator[list[Any]]
COUNT, SIZE = 23, 5


def page_notion(call: StandinCaller) -> Pages:
    page = call.standin.state.ids["page"]
    blocks = [{"paragraph": {"rich_text": [{"text": {"content": f"row {n}"}}]}} for n in range(COUNT)]
    under = call("POST /v1/pages", {"parent": {"page_id": page}, "properties": {}, "children": blocks}).json()["id"]
    more = ""
    while True:
        shown = call(f"GET /v1/blocks/{under}/children?page_size={SIZE}{more}").json()
        yield [row["paragraph"]["rich_text"][0]["plain_text"] for row in shown["results"]]
        if not shown["has_more"]:
            return
        more = f"&start_cursor={shown['next_cursor']}"


def page_github(call: StandinCaller) -> Pages:
    call("POST /user/repos", {"name": "many", "auto_init": True})
    for number in range(COUNT):
        call("POST /repos/mio/many/issues", {"title": f"row {number}"})
    url = f"/repos/mio/many/issues?per_page={SIZE}&direction=asc"
    while url:
        shown = call(f"GET {url}")
        yield [row["title"] for row in shown.json()]
        url = shown.links.get("next", {}).get("url", "")


def page_jira(call: StandinCaller) -> Pages:
    for number in range(COUNT):
        fields = {"project": {"key": "POND"}, "issuetype": {"name": "Task"}, "summary": f"row {number}"}
        call("POST /rest/api/3/issue", {"fields": fields})
    body: dict[str, Any] = {"jql": "project = POND order by created asc", "fields": ["summary"], "maxResults": SIZE}
    while True:
        shown = call("POST /rest/api/3/search/jql", body).json()
        yield [row["fields"]["summary"] for row in shown["issues"]]
        if shown["isLast"]:
            return
        body["nextPageToken"] = shown["nextPageToken"]


def page_confluence(call: StandinCaller) -> Pages:
    space = call.standin.state.spaces[1]["id"]
    for number in range(COUNT - 1):  # and the home page of the space
        call("POST /wiki/api/v2/pages", {"spaceId": space, "title": f"row {number:02d}"})
    url = f"/wiki/api/v2/pages?space-id={space}&limit={SIZE}&sort=id"
    while url:
        shown = call(f"GET {url}").json()
        yield [row["title"] for row in shown["results"]]
        url = shown["_links"].get("next", "")


def page_supabase(call: StandinCaller) -> Pages:
    rows = call.standin.state.snippets
    rows[:] = [{**rows[0], "id": f"row {number}"} for number in range(COUNT)]
    more = ""
    while True:
        shown = call(f"GET /v1/snippets?limit={SIZE}{more}").json()
        yield [row["id"] for row in shown["data"]]
        if "cursor" not in shown:
            return
        more = f"&cursor={shown['cursor']}"


def page_google(call: StandinCaller) -> Pages:
    place = "/calendars/garden@group.calendar.google.com/events"
    for number in range(COUNT):
        times = {name: {"date": f"2026-06-{number + 1:02d}"} for name in ("start", "end")}
        call(f"POST {place}", {"summary": f"row {number}", **times})
    more = ""
    while True:
        shown = call(f"GET {place}?maxResults={SIZE}{more}").json()
        yield [row["summary"] for row in shown["items"]]
        if "nextPageToken" not in shown:
            assert "nextSyncToken" in shown
            return
        more = f"&pageToken={shown['nextPageToken']}"


def page_microsoft(call: StandinCaller) -> Pages:
    under = call.standin.state.ids["other"]
    for number in range(COUNT):
        call(f"POST /me/todo/lists/{under}/tasks", {"title": f"row {number}"})
    url = f"/me/todo/lists/{under}/tasks?$top={SIZE}"
    while url:
        shown = call(f"GET {url}").json()
        yield [row["title"] for row in shown["value"]]
        url = shown.get("@odata.nextLink", "")


WALKS: dict[str, Callable[[StandinCaller], Pages]] = {
    "notion": page_notion,
    "github": page_github,
    "jira": page_jira,
    "confluence": page_confluence,
    "supabase": page_supabase,
    "google_calendar": page_google,
    "microsoft_todo": page_microsoft,
}


@pytest.mark.parametrize("standin", SERVICES, indirect=True)
def test_pages_give_every_row_once(standin, standin_call):
    pages = list(WALKS[standin.service](standin_call))
    rows = [row for page in pages for row in page]
    assert len(rows) == len(set(rows)) == COUNT
    assert [len(page) for page in pages] == [5, 5, 5, 5, 3]


def test_jira_pages_by_offset_too(standin_http):
    with start_standin("jira") as standin:
        call = StandinCaller(standin, standin_http)
        for number in range(COUNT):
            standin.state.add_comment("GARDEN-2", {"n": number})
        found: list[int] = []
        while True:
            shown = call(f"GET /rest/api/3/issue/GARDEN-2/comment?startAt={len(found)}&maxResults={SIZE}").json()
            found += [row["body"]["n"] for row in shown["comments"]]
            if len(found) >= shown["total"]:
                break
        assert found == list(range(COUNT))


@pytest.mark.parametrize(
    ("standin", "call"),
    [
        ("notion", "GET /v1/users?start_cursor=bogus"),
        ("notion", "GET /v1/users?page_size=101"),
        ("confluence", "GET /wiki/api/v2/pages?cursor=bogus"),
        ("confluence", "GET /wiki/api/v2/pages?limit=251"),
        ("google_calendar", "GET /users/me/calendarList?pageToken=bogus"),
        ("supabase", "GET /v1/snippets?limit=101"),
    ],
    indirect=["standin"],
)
def test_a_cursor_or_size_that_the_service_does_not_know_is_refused(standin, standin_call, call):
    assert standin_call(call).status_code == 400


def test_the_links_of_graph_and_github_are_whole_and_of_the_same_host(standin_http: httpx.Client):
    for service in ("github", "microsoft_todo"):
        with start_standin(service) as standin:
            call = StandinCaller(standin, standin_http)
            if service == "github":
                link = call("GET /repos/mio/garden/issues?per_page=1").links["next"]["url"]
            else:
                link = call("GET /me/todo/lists?$top=1").json()["@odata.nextLink"]
            assert urlsplit(link).netloc == urlsplit(standin.url).netloc
