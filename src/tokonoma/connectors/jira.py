"""Jira: issues, comments, transitions and time."""

from typing import cast

from tokonoma.connectors.adf import render_documents
from tokonoma.connectors.declare import declare_module
from tokonoma.connectors.fields import split_paths
from tokonoma.connectors.jira_texts import wrap_comment, wrap_fields, wrap_link, wrap_worklog
from tokonoma.connectors.model import Draft, FieldChoice, PageRule, Params, Service, ServiceTool

_OFFSETS = PageRule("offset", send="startAt", size="maxResults", most=100, keeps={"total": "total"})
_TOKENS = PageRule("token", send="nextPageToken", size="maxResults", most=100, next="nextPageToken")


def push_fields(tool: ServiceTool, draft: Draft, choice: FieldChoice) -> None:
    """Jira sends the fields of an issue that are named; of the others not even their names."""
    if tool.name not in ("search", "get_issue"):
        return
    names = [path[1] if len(path) > 1 else "*all" for path in split_paths(choice) if path[0] == "fields"]
    # Without a name it would send all fields, or none and no key either.
    names = ["*all"] if choice.paths is None or "*all" in names else list(dict.fromkeys(names)) or ["summary"]
    if tool.method == "GET":
        draft.query.append(("fields", ",".join(names)))
    else:
        cast("Params", draft.body)["fields"] = names


# fmt: off
TOOLS = (
    ServiceTool(
        "get_myself", "GET /rest/api/3/myself", "Your account.", takes="expand?",
        fields="accountId displayName emailAddress timeZone locale",
    ),
    ServiceTool(
        "list_projects", "GET /rest/api/3/project/search", "Projects by text.",
        takes="query?, orderBy?: key|-key|+key|name|-name|+name|category|-category|+category|owner|-owner|+owner|"
        "issueCount|-issueCount|+issueCount|lastIssueUpdatedDate|-lastIssueUpdatedDate|+lastIssueUpdatedDate|archivedDate|"
        "+archivedDate|-archivedDate|deletedDate|+deletedDate|-deletedDate",
        fields="key name projectTypeKey lead.displayName", rows="values", page=_OFFSETS,
    ),
    ServiceTool(
        "get_project", "GET /rest/api/3/project/{projectIdOrKey}", "One project with issue types.", takes="expand?",
        fields="key name description lead.displayName issueTypes.id issueTypes.name issueTypes.subtask",
    ),
    ServiceTool(
        "search", "POST /rest/api/3/search/jql", "Issues by JQL, which must be bounded.",
        takes="jql, expand?",
        fields="key fields.summary fields.status.name fields.priority.name fields.assignee.displayName "
        "fields.labels fields.updated", rows="issues", page=_TOKENS, effect="read", render=render_documents,
    ),
    ServiceTool(
        "get_issue", "GET /rest/api/3/issue/{issueIdOrKey}", "One issue.", takes="expand?",
        fields="key fields.summary fields.status.name fields.priority.name fields.assignee.displayName "
        "fields.labels fields.updated fields.description",
        render=render_documents,
    ),
    ServiceTool(
        "create_issue", "POST /rest/api/3/issue", "New issue.",
        takes="fields: {project: {key}, issuetype: {name}, summary, description?: Text, *: any}, "
        "update?: Update", prepare=wrap_fields,
    ),
    ServiceTool(
        "update_issue", "PUT /rest/api/3/issue/{issueIdOrKey}", "Edit an issue.",
        takes="fields?: {summary?, description?: Text, *: any}, update?: Update",
        query="notifyUsers?: bool", fields="", prepare=wrap_fields,
    ),
    ServiceTool(
        "assign_issue", "PUT /rest/api/3/issue/{issueIdOrKey}/assignee", "Set or clear the assignee.",
        takes="accountId: str | null", fields="",
    ),
    ServiceTool(
        "list_transitions", "GET /rest/api/3/issue/{issueIdOrKey}/transitions", "Moves possible now.",
        fields="id name to.name", rows="transitions",
    ),
    ServiceTool(
        "transition_issue", "POST /rest/api/3/issue/{issueIdOrKey}/transitions", "Move an issue.",
        takes="transition: {id}, fields?: {*: any}, update?: Update", fields="", prepare=wrap_fields,
    ),
    ServiceTool(
        "list_comments", "GET /rest/api/3/issue/{issueIdOrKey}/comment", "Comments.",
        takes="orderBy?: created|-created|+created", fields="id author.displayName created updated body",
        rows="comments", page=_OFFSETS, render=render_documents,
    ),
    ServiceTool(
        "add_comment", "POST /rest/api/3/issue/{issueIdOrKey}/comment", "Comment.",
        takes="body: Text, visibility?: {type: group|role, value}",
        fields="id created", prepare=wrap_comment,
    ),
    ServiceTool(
        "list_worklogs", "GET /rest/api/3/issue/{issueIdOrKey}/worklog", "Time booked.", takes="startedAfter?: int",
        fields="id author.displayName started timeSpent timeSpentSeconds comment", rows="worklogs", page=_OFFSETS,
        render=render_documents,
    ),
    ServiceTool(
        "add_worklog", "POST /rest/api/3/issue/{issueIdOrKey}/worklog", "Book time.",
        takes="timeSpent?, timeSpentSeconds?: int, started?, comment?: Text",
        fields="id timeSpent started", prepare=wrap_worklog,
    ),
    ServiceTool(
        "count_issues", "POST /rest/api/3/search/approximate-count", "How many issues match.", takes="jql",
        fields="count", effect="read", extra=True,
    ),
    ServiceTool(
        "search_users", "GET /rest/api/3/user/search", "Account ids by name or mail.", takes="query?",
        fields="accountId displayName emailAddress active", rows="", page=_OFFSETS, extra=True,
    ),
    ServiceTool(
        "delete_issue", "DELETE /rest/api/3/issue/{issueIdOrKey}", "Delete for good.",
        takes="deleteSubtasks?: bool", fields="", extra=True,
    ),
    ServiceTool(
        "link_issues", "POST /rest/api/3/issueLink", "Link two issues.",
        takes="type: {name}, inwardIssue: {key}, outwardIssue: {key}, comment?: {body: Text}",
        fields="", extra=True, prepare=wrap_link,
    ),
    ServiceTool(
        "list_issue_types", "GET /rest/api/3/issue/createmeta/{projectIdOrKey}/issuetypes",
        "Issue types that can be created.", fields="id name subtask description", rows="issueTypes", page=_OFFSETS,
        extra=True,
    ),
    ServiceTool(
        "list_create_fields", "GET /rest/api/3/issue/createmeta/{projectIdOrKey}/issuetypes/{issueTypeId}",
        "Fields of an issue type.", fields="fieldId name required schema.type allowedValues.id allowedValues.name",
        rows="fields", page=_OFFSETS, extra=True,
    ),
    ServiceTool(
        "list_fields", "GET /rest/api/3/field", "All fields, custom ones too.",
        fields="id key name custom schema.type", rows="", extra=True,
    ),
)
# fmt: on

SERVICE = Service(
    name="jira",
    title="Jira",
    summary="Issues, comments, transitions and time in Jira.",
    api_version="3",
    tools=TOOLS,
    types={"Text": "str | {type: doc, …}", "Update": "{*: [{set|add|remove: any}]}"},
    push_fields=push_fields,
)
MODULE = declare_module(SERVICE)
