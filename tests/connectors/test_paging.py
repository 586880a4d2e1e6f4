"""Pages of every kind of service, through one `limit` and one `cursor`."""

from typing import Any

import pytest
from connectors.local_service import Asked, Reply

REPO = {"owner": "mio", "repo": "garden"}
ROWS = list(range(1, 6))


def cut(rows, start, size):
    return rows[start : start + size], start + size < len(rows)


def serve_github(asked: Asked) -> Reply:
    query = dict(asked.query)
    page, size = int(query.get("page", 1)), int(query["per_page"])
    rows, more = cut(ROWS, (page - 1) * size, size)
    url = f"http://{asked.headers['host']}/repositories/9/branches?per_page={size}&page="
    link = f'<{url}{page + 1}>; rel="next", <{url}9>; rel="last"' if more else f'<{url}1>; rel="first"'
    return Reply([{"name": row} for row in rows], headers={"Link": link})


def serve_token(send, size, key, next_key, where, **more_keys):
    def serve(asked: Asked) -> Reply:
        given = dict(asked.query) if where == "query" else asked.body
        start = int(str(given.get(send, "0")).removeprefix("t"))
        rows, more = cut(ROWS, start, int(given[size]))
        answer = {key: [{"id": row} for row in rows], **more_keys}
        if more:
            answer[next_key] = f"t{start + int(given[size])}"
        return Reply(answer)

    return serve


def serve_offset(asked: Asked) -> Reply:
    query = dict(asked.query)
    start = int(query.get("startAt", 0))
    rows, _ = cut(ROWS, start, int(query["maxResults"]))
    return Reply({"comments": [{"id": row} for row in rows], "total": len(ROWS), "startAt": start})


def serve_users(asked: Asked) -> Reply:
    query = dict(asked.query)
    rows, _ = cut(ROWS, int(query.get("startAt", 0)), int(query["maxResults"]))
    return Reply([{"accountId": row} for row in rows])


def serve_graph(asked: Asked) -> Reply:
    query = dict(asked.query)
    start, size = int(query.get("$skip", 0)), int(query["$top"])
    rows, more = cut(ROWS, start, size)
    answer: dict[str, Any] = {"value": [{"id": row} for row in rows]}
    if more:
        answer["@odata.nextLink"] = f"http://{asked.headers['host']}{asked.path}?$top={size}&$skip={start + size}"
    return Reply(answer)


def serve_confluence(asked: Asked) -> Reply:
    query = dict(asked.query)
    start, size = int(query.get("cursor", 0)), int(query["limit"])
    rows, more = cut(ROWS, start, size)
    links = {"next": f"/wiki/api/v2/spaces?limit={size}&cursor={start + size}"} if more else {}
    return Reply({"results": [{"id": row} for row in rows], "_links": links})


NOTION = ("start_cursor", "page_size", "results", "next_cursor")
JIRA = ("nextPageToken", "maxResults", "issues", "nextPageToken")
KINDS = {
    "github": ("github", "list_branches", REPO, serve_github, "name"),
    "notion-body": ("notion", "search", {}, serve_token(*NOTION, "body"), "id"),
    "notion-query": ("notion", "list_comments", {"block_id": "b"}, serve_token(*NOTION, "query"), "id"),
    "jira-token": ("jira", "search", {"jql": "x"}, serve_token(*JIRA, "body"), "id"),
    "jira-offset": ("jira", "list_comments", {"issueIdOrKey": "A-1"}, serve_offset, "id"),
    "confluence": ("confluence", "list_spaces", {}, serve_confluence, "id"),
    "google": (
        "google_calendar", "list_events", {"calendarId": "primary"},
        serve_token("pageToken", "maxResults", "items", "nextPageToken", "query"), "id",
    ),
    "graph": ("microsoft_todo", "list_tasks", {"list_id": "l"}, serve_graph, "id"),
}  # fmt: skip


@pytest.mark.parametrize("limit", [2, 3, 5])
@pytest.mark.parametrize("kind", KINDS)
def test_all_rows_come_once_and_in_order(service, talk, kind, limit):
    module, tool, params, serve, key = KINDS[kind]
    service.answer(serve)
    rows, cursor, more = [], {}, True
    while more:
        answer = talk.call(module, tool, **params, limit=limit, fields=[key], **cursor)
        rows += [row[key] for row in answer["items"]]
        more = answer["has_more"]
        assert ("next_cursor" in answer) is more
        cursor = {"cursor": answer["next_cursor"]} if more else {}
    assert rows == ROWS
    assert len(service.asked) == -(-len(ROWS) // limit)


def test_without_a_total_a_full_page_may_have_a_next_one(service, app):
    """Jira's list of users says nothing of its length."""
    from tokonoma.connectors.jira import SERVICE
    from tokonoma.connectors.paging import Page, find_next
    from tokonoma.core.service import ServiceResponse

    rule = next(tool.page for tool in SERVICE.tools if tool.name == "search_users")
    assert rule is not None
    response = ServiceResponse(200, {}, b"", [])
    assert find_next(rule, response, Page(None, 2, ""), 2) == 2
    assert find_next(rule, response, Page(2, 2, ""), 2) == 4
    assert find_next(rule, response, Page(4, 2, ""), 1) is None
    assert find_next(rule, response, Page(4, 2, ""), 0) is None


@pytest.mark.parametrize(
    "other",
    [{"repo": "other"}, {"fields": ["sha"]}, {"account": "work"}],
    ids=["parameter", "fields", "account"],
)
def test_a_cursor_holds_for_its_own_query_alone(service, talk, other):
    service.answer(serve_github)
    cursor = talk.call("github", "list_branches", **REPO, limit=2)["next_cursor"]
    error = talk.refused("github", "list_branches", **{**REPO, "limit": 2, "cursor": cursor, **other})
    assert error["code"] == "INVALID_ARGUMENT"
    assert error["details"]["field"] == "cursor"
    assert len(service.asked) == 1


def test_a_cursor_is_of_one_tool_and_cannot_be_made_up(service, talk):
    service.answer(serve_github)
    cursor = talk.call("github", "list_branches", **REPO, limit=2)["next_cursor"]
    for tool, given in (("list_commits", cursor), ("list_branches", "2"), ("list_branches", cursor[:-1])):
        assert talk.refused("github", tool, **REPO, cursor=given)["code"] == "INVALID_ARGUMENT"
    assert len(service.asked) == 1


def repeat_url(asked: Asked) -> Reply:
    return Reply({"value": [{"id": "1"}], "@odata.nextLink": f"http://{asked.headers['host']}/me/todo/lists?$skip=1"})


def repeat_link(asked: Asked) -> Reply:
    return Reply([{"name": "m"}], headers={"Link": f'<http://{asked.headers["host"]}/x?page=2>; rel="next"'})


def repeat_token(asked: Asked) -> Reply:
    return Reply({"results": [{"id": "1"}], "next_cursor": "same", "has_more": True})


@pytest.mark.parametrize(
    ("module", "tool", "params", "reply"),
    [
        ("microsoft_todo", "list_lists", {}, repeat_url),
        ("github", "list_branches", REPO, repeat_link),
        ("notion", "search", {}, repeat_token),
    ],
    ids=["url", "link", "token"],
)
def test_the_same_next_page_for_ever_ends_and_says_so(service, talk, module, tool, params, reply):
    service.answer(reply)
    first = talk.call(module, tool, **params)
    assert first["has_more"]
    second = talk.call(module, tool, **params, cursor=first["next_cursor"])
    assert second["has_more"] is False
    assert "next_cursor" not in second
    assert "same next page again" in second["stopped"]
    assert len(service.asked) == 2


def test_a_next_page_at_another_host_is_not_asked(service, talk):
    """Which host is the account's own is known by the client, which refuses the second request."""
    service.answer({"value": [{"id": "1"}], "@odata.nextLink": "http://169.254.169.254/me/todo/lists?$skip=1"})
    cursor = talk.call("microsoft_todo", "list_lists")["next_cursor"]
    assert talk.refused("microsoft_todo", "list_lists", cursor=cursor)["details"]["reason"] == "external"
    assert len(service.asked) == 1


@pytest.mark.parametrize("link", ["http://u@127.0.0.1/x", "ftp://127.0.0.1/x", "//127.0.0.1/x", "/me/x", "http:///x"])
def test_a_next_page_that_is_no_plain_address_is_an_error_of_the_service(service, talk, link):
    service.answer({"value": [{"id": "1"}], "@odata.nextLink": link})
    assert talk.refused("microsoft_todo", "list_lists")["details"]["reason"] == "external"


def test_what_a_list_says_beside_its_rows_is_kept(service, talk):
    service.answer({"items": [{"full_name": "mio/garden"}], "total_count": 41})
    assert talk.call("github", "search_repos", q="x")["total"] == 41
    service.answer({"items": [{"id": "e"}], "nextSyncToken": "sync-9"})
    assert talk.call("google_calendar", "list_events", calendarId="c")["syncToken"] == "sync-9"


def test_a_long_header_of_links_is_not_read(service, talk):
    service.answer(Reply([], headers={"Link": "<x>; rel=prev, " * 1000}))
    assert talk.call("github", "list_branches", **REPO)["has_more"] is False
