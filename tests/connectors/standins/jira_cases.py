"""Requests to Jira, one for each tool."""

from .cases import Case

API = "/rest/api/3"
DOC = {"type": "doc", "version": 1, "content": [{"type": "paragraph", "content": [{"type": "text", "text": "Hm"}]}]}
SHORT = "key fields.summary fields.status.name fields.priority.name fields.assignee fields.labels fields.updated"

CASES = [
    Case("jira.get_myself", f"GET {API}/myself?expand=groups", "accountId displayName emailAddress timeZone locale"),
    Case(
        "jira.list_projects",
        f"GET {API}/project/search?query=gar&orderBy=-key&maxResults=10&startAt=0",
        "key name projectTypeKey lead.displayName",
        "values",
    ),
    Case(
        "jira.get_project",
        f"GET {API}/project/GARDEN?expand=description",
        "key name description lead.displayName issueTypes.0.id issueTypes.0.name issueTypes.0.subtask",
    ),
    Case(
        "jira.search",
        f"POST {API}/search/jql",
        SHORT,
        "issues",
        {
            "jql": "project = GARDEN AND status = 'To Do' ORDER BY updated DESC",
            "fields": ["summary", "status", "priority", "assignee", "labels", "updated"],
            "maxResults": 2,
        },
    ),
    Case("jira.get_issue", f"GET {API}/issue/GARDEN-1?fields=*all&expand=names", f"{SHORT} fields.description.content"),
    Case(
        "jira.create_issue",
        f"POST {API}/issue",
        "id key",
        body={
            "fields": {
                "project": {"key": "GARDEN"},
                "issuetype": {"name": "Bug"},
                "summary": "Moles",
                "description": DOC,
            },
            "update": {"labels": [{"add": "pest"}]},
        },
        status=201,
    ),
    Case(
        "jira.update_issue",
        f"PUT {API}/issue/GARDEN-1?notifyUsers=false",
        body={"fields": {"summary": "No snails"}, "update": {"labels": [{"set": ["done"]}]}},
        status=204,
    ),
    Case(
        "jira.assign_issue",
        f"PUT {API}/issue/GARDEN-1/assignee",
        body={"accountId": "5f0000000000000000000a02"},
        status=204,
    ),
    Case("jira.list_transitions", f"GET {API}/issue/GARDEN-1/transitions", "id name to.name", "transitions"),
    Case(
        "jira.transition_issue",
        f"POST {API}/issue/GARDEN-1/transitions",
        body={"transition": {"id": "31"}, "fields": {}},
        status=204,
    ),
    Case(
        "jira.list_comments",
        f"GET {API}/issue/GARDEN-1/comment?orderBy=-created&maxResults=5",
        "id author.displayName created updated body.content",
        "comments",
    ),
    Case(
        "jira.add_comment",
        f"POST {API}/issue/GARDEN-1/comment",
        "id created",
        body={"body": DOC, "visibility": {"type": "role", "value": "Administrators"}},
        status=201,
    ),
    Case(
        "jira.list_worklogs",
        f"GET {API}/issue/GARDEN-1/worklog?startedAfter=0",
        "id author.displayName started timeSpent timeSpentSeconds comment",
        "worklogs",
    ),
    Case(
        "jira.add_worklog",
        f"POST {API}/issue/GARDEN-1/worklog",
        "id timeSpent started",
        body={"timeSpent": "1h 30m", "started": "2026-03-01T09:00:00.000+0900", "comment": DOC},
        status=201,
    ),
    Case("jira.count_issues", f"POST {API}/search/approximate-count", "count", body={"jql": "text ~ snails"}),
    Case("jira.search_users", f"GET {API}/user/search?query=aka", "accountId displayName emailAddress active", ""),
    Case("jira.delete_issue", f"DELETE {API}/issue/GARDEN-2?deleteSubtasks=true", status=204),
    Case(
        "jira.link_issues",
        f"POST {API}/issueLink",
        body={
            "type": {"name": "Blocks"},
            "inwardIssue": {"key": "GARDEN-1"},
            "outwardIssue": {"key": "GARDEN-2"},
            "comment": {"body": DOC},
        },
        status=201,
    ),
    Case(
        "jira.list_issue_types",
        f"GET {API}/issue/createmeta/GARDEN/issuetypes?maxResults=200",
        "id name subtask description",
        "issueTypes",
    ),
    Case(
        "jira.list_create_fields",
        f"GET {API}/issue/createmeta/GARDEN/issuetypes/10001",
        "fieldId name required schema.type",
        "fields",
    ),
    Case("jira.list_fields", f"GET {API}/field", "id key name custom schema.type", ""),
]
