"""Small exports of other trackers in their real shapes."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

# `gh issue list --state all --json number,title,body,state,stateReason,labels,assignees,milestone,author,createdAt,…`
GH: list[dict[str, Any]] = [
    {
        "assignees": [{"id": "MDQ6VXNlcjE=", "login": "mia", "name": "Mia"}],
        "author": {"id": "MDQ6VXNlcjI=", "is_bot": False, "login": "taro", "name": ""},
        "body": "The printer does not answer.\r\n\r\nBlocked by #8, see also #9.",
        "comments": [
            {
                "id": "IC_1", "author": {"login": "mia"}, "authorAssociation": "MEMBER", "body": "床の間 too",
                "createdAt": "2026-02-02T00:00:00Z", "includesCreatedEdit": False, "isMinimized": False,
                "reactionGroups": [], "url": "https://github.com/acme/lamp/issues/7#issuecomment-1", "viewerDidAuthor": False,
            }
        ],
        "createdAt": "2026-02-01T09:30:00Z",
        "labels": [{"id": "LA_1", "name": "Bug", "description": "", "color": "d73a4a"}],
        "milestone": {"number": 1, "title": "v2", "description": "", "dueOn": "2026-12-31T00:00:00Z"},
        "number": 7,
        "state": "OPEN",
        "stateReason": "",
        "title": "Printer is offline",
        "updatedAt": "2026-02-03T00:00:00Z",
        "url": "https://github.com/acme/lamp/issues/7",
    },
    {
        "assignees": [], "author": {"login": "taro"}, "body": "", "comments": [], "createdAt": "2026-01-01T00:00:00Z",
        "labels": [], "milestone": None, "number": 8, "state": "CLOSED", "stateReason": "NOT_PLANNED",
        "title": "Buy paper", "updatedAt": "2026-01-02T00:00:00Z", "url": "https://github.com/acme/lamp/issues/8",
    },
]  # fmt: skip

# `gh api repos/acme/lamp/issues?state=all --paginate`: the same issues by the other interface, and a pull request.
REST: list[dict[str, Any]] = [
    {
        "url": "https://api.github.com/repos/acme/lamp/issues/7", "html_url": "https://github.com/acme/lamp/issues/7",
        "id": 1, "node_id": "I_7", "number": 7, "title": "Printer is offline", "user": {"login": "taro", "id": 2},
        "labels": [{"id": 1, "name": "Bug", "color": "d73a4a", "default": True}], "state": "open", "locked": False,
        "assignee": {"login": "mia"}, "assignees": [{"login": "mia"}], "comments": 1, "type": {"id": 5, "name": "Bug"},
        "milestone": {"title": "v2", "due_on": "2026-12-31T00:00:00Z"}, "created_at": "2026-02-01T09:30:00Z",
        "updated_at": "2026-02-03T00:00:00Z", "closed_at": None, "state_reason": None, "body": "The printer does not answer.",
        "parent_issue_url": "https://api.github.com/repos/acme/lamp/issues/9",
        "sub_issues_summary": {"total": 0, "completed": 0, "percent_completed": 0},
    },
    {
        "html_url": "https://github.com/acme/lamp/pull/9", "number": 9, "title": "Fix", "user": {"login": "mia"},
        "labels": [], "state": "closed", "assignees": [], "milestone": None, "comments": 0, "body": None,
        "created_at": "2026-03-01T00:00:00Z", "updated_at": "2026-03-01T00:00:00Z", "state_reason": None,
        "pull_request": {"url": "https://api.github.com/repos/acme/lamp/pulls/9", "merged_at": None},
    },
]  # fmt: skip

LINEAR_COLUMNS = [
    "ID",
    "Team",
    "Title",
    "Description",
    "Status",
    "Estimate",
    "Priority",
    "Project ID",
    "Project",
    "Creator",
    "Assignee",
    "Labels",
    "Cycle Number",
    "Cycle Name",
    "Cycle Start",
    "Cycle End",
    "Created",
    "Updated",
    "Started",
    "Triaged",
    "Completed",
    "Canceled",
    "Archived",
    "Due Date",
    "Parent issue",
    "Initiatives",
    "Project Milestone ID",
    "Project Milestone",
    "SLA Status",
    "UUID",
    "Time in status (minutes)",
    "Related to",
    "Blocked by",
    "Duplicate of",
]
LINEAR = [
    {
        "ID": "ACME-1", "Team": "ACME", "Title": "Rebuild pages", "Description": 'Line one\nline "two", ✓',
        "Status": "In Review", "Estimate": "3", "Priority": "Urgent", "Project": "Site", "Creator": "alex@acme.test",
        "Assignee": "mia@acme.test", "Labels": "agent-ready, seo", "Project Milestone": "Launch", "UUID": "u1",
        "Created": "Wed May 13 2026 11:21:41 GMT+0000 (GMT+00:00)", "Updated": "Wed Jul 01 2026 11:51:28 GMT+0000 (GMT+00:00)",
        "Due Date": "Thu Jun 25 2026 23:00:00 GMT+0000 (GMT+00:00)", "Related to": "ACME-3", "Blocked by": "ACME-2, ACME-3",
    },
    {
        "ID": "ACME-2", "Team": "ACME", "Title": "Child", "Status": "Done", "Priority": "No priority",
        "Created": "2026-05-13T00:00:00.000Z", "Updated": "2026-05-14T00:00:00.000Z", "Parent issue": "ACME-1",
        "Completed": "2026-05-14T00:00:00.000Z",
    },
    {"ID": "ACME-3", "Team": "ACME", "Title": "Odd", "Status": "Shipped?", "Priority": "Low", "Parent issue": "ACME-99"},
]  # fmt: skip

BEADS: list[dict[str, Any]] = [
    {
        "id": "bd-a1", "title": "Epic of lamps", "description": "All of them.", "design": "Round.", "status": "open",
        "acceptance_criteria": "They glow.", "priority": 0, "issue_type": "epic", "created_at": "2026-01-07T04:40:23Z",
        "created_by": "dave", "updated_at": "2026-01-07T06:07:23Z", "work_type": "mutex",
    },
    {
        "id": "bd-b2", "title": "A lamp", "status": "in_progress", "priority": 2, "issue_type": "task", "assignee": "mia",
        "created_at": "2026-01-08T00:00:00Z", "updated_at": "2026-01-09T00:00:00.5+09:00", "due_at": "2026-02-01T00:00:00Z",
        "labels": ["light", "Light"], "external_ref": "gh-9",
        "dependencies": [
            {"issue_id": "bd-b2", "depends_on_id": "bd-a1", "type": "parent-child", "created_at": "2026-01-08T00:00:00Z"},
            {"issue_id": "bd-b2", "depends_on_id": "bd-c3", "type": "blocks", "created_at": "2026-01-08T00:00:00Z"},
            {"issue_id": "bd-b2", "depends_on_id": "bd-gone", "type": "discovered-from", "created_at": "2026-01-08T00:00:00Z"},
        ],
        "comments": [
            {"id": 1, "issue_id": "bd-b2", "author": "dave", "text": "Use oil.", "created_at": "2026-01-08T01:00:00Z"}
        ],
    },
    {
        "id": "bd-c3", "title": "x" * 300, "status": "closed", "priority": 4, "issue_type": "bug", "notes": "Done well.",
        "created_at": "2026-01-08T00:00:00Z", "updated_at": "2026-01-08T00:00:00Z", "closed_at": "2026-01-08T00:00:00Z",
        "close_reason": "fixed",
    },
    {"id": "bd-t", "title": "(deleted)", "status": "tombstone", "priority": 2, "deleted_at": "2026-01-08T00:00:00Z"},
]  # fmt: skip

_BEADS_TABLES = """
create table issues (
    id text primary key, content_hash text, title text not null, description text not null default '',
    design text not null default '', acceptance_criteria text not null default '', notes text not null default '',
    status text not null default 'open', priority integer not null default 2, issue_type text not null default 'task',
    assignee text, estimated_minutes integer, created_at datetime not null, created_by text default '',
    owner text default '', updated_at datetime not null default '2026-01-08 00:00:00', closed_at datetime,
    close_reason text default '', due_at datetime, external_ref text, deleted_at datetime, pinned integer default 0
);
create table dependencies (
    issue_id text not null, depends_on_id text not null, type text not null default 'blocks',
    created_at datetime not null, created_by text not null default '', primary key (issue_id, depends_on_id)
);
create table labels (issue_id text not null, label text not null, primary key (issue_id, label));
create table comments (
    id integer primary key autoincrement, issue_id text not null, author text not null, text text not null,
    created_at datetime not null default current_timestamp
);
"""


def write_json(path: Path, *values: Any) -> Path:
    """Several values one after the other, as `--paginate` writes them."""
    path.write_text("\n".join(json.dumps(value, ensure_ascii=False) for value in values), encoding="utf-8")
    return path


def write_linear(path: Path, rows: list[dict[str, str]]) -> Path:
    def quote(text: str) -> str:
        return '"' + text.replace('"', '""') + '"'

    lines = [",".join(map(quote, LINEAR_COLUMNS))]
    lines += [",".join(quote(row.get(column, "")) for column in LINEAR_COLUMNS) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_beads_lines(path: Path, issues: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(each) + "\n" for each in issues), encoding="utf-8")
    return path


def write_beads_database(path: Path, issues: list[dict[str, Any]]) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(_BEADS_TABLES)
        for issue in issues:
            plain = {
                key: value
                for key, value in issue.items()
                if key not in ("dependencies", "labels", "comments", "work_type")
            }
            plain.setdefault("created_at", "2026-01-08T00:00:00Z")
            _insert(connection, "issues", plain)
            for each in issue.get("dependencies", ()):
                _insert(connection, "dependencies", each)
            for label in issue.get("labels", ()):
                _insert(connection, "labels", {"issue_id": issue["id"], "label": label})
            for each in issue.get("comments", ()):
                _insert(connection, "comments", each)
        connection.commit()
    return path


def _insert(connection: sqlite3.Connection, table: str, row: dict[str, Any]) -> None:
    marks = ", ".join("?" for _ in row)
    connection.execute(f"insert into {table} ({', '.join(row)}) values ({marks})", tuple(row.values()))
