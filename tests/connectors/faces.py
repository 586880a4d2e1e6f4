"""What is asked of each service in tests that are the same for all of them."""

from dataclasses import dataclass
from itertools import count
from typing import Any

from connectors.standins import Standin

TEXT = [{"text": {"content": "Moles"}}]
DAY = {name: {"date": "2026-09-01"} for name in ("start", "end")}
_NUMBERS = count()
Asking = tuple[str, dict[str, Any]]  # the tool, and its parameters


@dataclass(frozen=True)
class Face:
    """`read` and `search` give the same again and again; `search` asks by POST. `place` takes one value into its path,
    and `nothing` is a value that the service has nothing for. `listed` has pages, of which `fill` makes more rows."""

    read: Asking
    create: Asking
    remove: Asking
    place: tuple[str, dict[str, Any], str, str]  # tool, other parameters, the parameter, path up to the value
    nothing: str
    listed: Asking
    fill: Asking
    search: Asking | None = None
    removable: Asking | None = None  # makes what `remove` may remove, by the parameter `named`
    named: str = ""


def get_face(standin: Standin) -> Face:
    return _MAKERS[standin.service](standin.state.ids)


def _face_notion(ids: dict[str, Any]) -> Face:
    new = ("create_page", {"parent": {"page_id": ids["page"]}, "properties": {"title": TEXT}})
    blocks = [{"type": "paragraph", "paragraph": {"rich_text": TEXT}}]
    more = ("append_blocks", {"block_id": ids["row"], "children": blocks})
    return Face(
        ("get_block", {"block_id": ids["block"]}), new, ("delete_block", {"block_id": ids["block"]}),
        ("get_page", {}, "page_id", "/v1/pages/"), "00000000-0000-0000-0000-000000000000",
        ("get_blocks", {"block_id": ids["row"]}), more, ("search", {"query": "plants"}), more, "block_id",
    )  # fmt: skip


def _face_github(ids: dict[str, Any]) -> Face:
    repo = {"owner": "mio", "repo": "garden"}
    new = ("create_issue", {**repo, "title": "Moles"})
    return Face(
        ("get_file", {**repo, "path": "docs/plan.md"}), new,
        ("run_workflow", {**repo, "workflow_id": "ci.yml", "ref": "main"}),  # it has nothing to delete
        ("get_repo", {"owner": "mio"}, "repo", "/repos/mio/"), "nothing",
        ("list_issues", {**repo, "state": "all"}), new,
    )  # fmt: skip


def _face_jira(ids: dict[str, Any]) -> Face:
    facts = {"project": {"key": "GARDEN"}, "issuetype": {"name": "Bug"}, "summary": "Moles"}
    return Face(
        ("list_fields", {}), ("create_issue", {"fields": facts}),
        ("delete_issue", {"issueIdOrKey": "GARDEN-2"}),
        ("get_project", {}, "projectIdOrKey", "/rest/api/3/project/"), "NOTHING",
        ("search", {"jql": "project = GARDEN order by created asc"}), ("create_issue", {"fields": facts}),
        ("search", {"jql": "project = POND"}), ("create_issue", {"fields": facts}), "issueIdOrKey",
    )  # fmt: skip


def _face_confluence(ids: dict[str, Any]) -> Face:
    # No two pages of a space have the same title.
    new = ("create_page", {"spaceId": ids["space"], "title": f"Moles {next(_NUMBERS)}"})
    return Face(
        ("get_page", {"id": ids["page"]}), new, ("delete_page", {"id": ids["page"]}),
        ("get_space", {}, "id", "/wiki/api/v2/spaces/"), "123456", ("list_pages", {"sort": "id"}), new,
        None, new, "id",
    )  # fmt: skip


def _face_supabase(ids: dict[str, Any]) -> Face:
    ref = {"ref": ids["ref"]}
    return Face(
        ("get_project", ref), ("execute_sql", {**ref, "query": "insert into plants (name) values ('moss')"}),
        ("delete_branch", {"branch_id_or_ref": ids["branch"]}),
        ("get_project", {}, "ref", "/v1/projects/"), "z" * 20, ("list_snippets", {}), ("list_snippets", {}),
        ("query", {**ref, "query": "select 1 as one"}),
        ("create_branch", {**ref, "branch_name": "next"}), "branch_id_or_ref",
    )  # fmt: skip


def _face_google(ids: dict[str, Any]) -> Face:
    home = {"calendarId": "primary"}
    span = {"timeMin": "2026-04-01T00:00:00Z", "timeMax": "2026-04-03T00:00:00Z", "items": [{"id": "primary"}]}
    new = ("create_event", {"calendarId": "garden@group.calendar.google.com", "summary": "Moles", **DAY})
    return Face(
        ("get_event", {**home, "eventId": ids["event"]}), new, ("delete_event", {**home, "eventId": ids["weekly"]}),
        ("get_calendar", {}, "calendarId", "/calendars/"), "nobody@example.org",
        ("list_events", {"calendarId": "garden@group.calendar.google.com"}), new, ("freebusy", span),
        ("create_event", {**home, "summary": "Moles", **DAY}), "eventId",
    )  # fmt: skip


def _face_microsoft(ids: dict[str, Any]) -> Face:
    new = ("create_task", {"list_id": ids["other"], "title": "Moles"})
    return Face(
        ("get_task", {"list_id": ids["list"], "task_id": ids["task"]}), new,
        ("delete_task", {"list_id": ids["list"], "task_id": ids["task"]}),
        ("get_list", {}, "list_id", "/me/todo/lists/"), "nothing", ("list_tasks", {"list_id": ids["other"]}), new,
        None, ("create_task", {"list_id": ids["list"], "title": "Moles"}), "task_id",
    )  # fmt: skip


_MAKERS = {
    "notion": _face_notion,
    "github": _face_github,
    "jira": _face_jira,
    "confluence": _face_confluence,
    "supabase": _face_supabase,
    "google_calendar": _face_google,
    "microsoft_todo": _face_microsoft,
}
