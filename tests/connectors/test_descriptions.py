"""All 156 declared tools against the services' published descriptions, if these lie beside the project."""

import asyncio
from typing import Any

import pytest
from connectors.descriptions import Description, is_there, load_tools

from tokonoma import catalogue
from tokonoma.connectors.answers import run_tool
from tokonoma.connectors.model import Service, ServiceTool
from tokonoma.connectors.parameters import ServiceParam, list_params
from tokonoma.core.service import ServiceRequest, ServiceResponse

SERVICES: dict[str, Service] = {
    name: catalogue.importlib.import_module(source.partition(":")[0]).SERVICE
    for name, source in catalogue.SERVICE_MODULES.items()
}
LINES = [(service, tool) for service in SERVICES.values() for tool in service.tools]
NAMES = [f"{service.name}.{tool.name}" for service, tool in LINES]

TEXT = [{"text": {"content": "x"}}]
BLOCK = {
    "object": "block",
    "type": "paragraph",
    "paragraph": {"rich_text": [{"type": "text", "text": {"content": "x"}}]},
}
TIME = {"dateTime": "2026-11-16T09:00:00", "timeZone": "UTC"}
ADF = {"project": {"key": "A"}, "issuetype": {"name": "Bug"}, "summary": "s", "description": "# a\n- b"}
EXAMPLES: dict[str, Any] = {  # by parameter, or by module and parameter, or by tool and parameter
    "since": "2026-11-16T09:00:00Z",
    "until": "2026-11-16T09:00:00Z",
    "timeMin": "2026-11-16T09:00:00Z",
    "timeMax": "2026-11-17T09:00:00Z",
    "updatedMin": "2026-11-16T09:00:00Z",
    "children": [BLOCK],
    "rich_text": TEXT,
    "iso_timestamp_start": "2026-11-16T09:00:00Z",
    "iso_timestamp_end": "2026-11-16T09:00:00Z",
    "from_ref": "3f786850e387550fdab836ed7e6dc881de23001b",
    "start": TIME,
    "end": TIME,
    "dueDateTime": TIME,
    "reminderDateTime": TIME,
    "path": "docs/a b.md",
    "basehead": "main...dev",
    "branch_id_or_ref": "abcdefghijklmnopqrst",
    "attendees": [{"email": "a@example.com", "optional": True}],
    "reminders": {"useDefault": False, "overrides": [{"method": "popup", "minutes": 5}]},
    "recurrence": ["RRULE:FREQ=WEEKLY;COUNT=5"],
    "icon": {"emoji": "🌱"},
    "cover": {"external": {"url": "https://example.com/a.png"}},
    "sorts": [{"property": "Name", "direction": "ascending"}],
    "properties": {"title": {"title": TEXT}},
    "jira.visibility": {"type": "role", "value": "Administrators"},
    "transition": {"id": "5"},
    "update": {"labels": [{"add": "x"}], "comment": [{"add": {"body": "**x**"}}]},
    "labels": [{"prefix": "global", "name": "x"}],
    "items": [{"id": "primary"}],
    "parameters": [1, "a"],
    "inputs": {"name": "x"},
    "comments": [{"path": "a.md", "line": 3, "side": "RIGHT", "body": "x"}],
    "linkedResources": [{"webUrl": "https://example.com", "applicationName": "a", "displayName": "d"}],
    "version": {"number": 4, "message": "m"},
    "confluence.get_page.version": 3,
    "confluence.id": "12",
    "confluence.spaceId": "3",
    "confluence.space_id": ["3"],
    "confluence.pageId": "4",
    "confluence.parentId": "5",
    "confluence.parentCommentId": "6",
    "confluence.status": "current",
    "confluence.list_pages.status": ["current"],
    "confluence.sort": "id",
    "confluence.body": {"representation": "storage", "value": "<p>x</p>"},
    "notion.sort": {"timestamp": "last_edited_time", "direction": "ascending"},
    "content": "eDE=",
    "github.labels": ["x"],
    "github.list_issues.labels": "a,b",
    "github.path": "docs/a b.md",
    "jira.fields": ADF,
    "jira.comment": "text",
    "jira.link_issues.comment": {"body": "text"},
    "jira.type": {"name": "Blocks"},
    "jira.inwardIssue": {"key": "A-1"},
    "jira.outwardIssue": {"key": "A-2"},
    "jira.body": "a *text*",
    "jira.started": "2026-11-16T09:30:00+09:00",
    "microsoft_todo.body": {"content": "x", "contentType": "text"},
    "microsoft_todo.recurrence": {
        "pattern": {"type": "weekly", "interval": 1, "daysOfWeek": ["monday"]},
        "range": {"type": "noEnd", "startDate": "2026-11-16"},
    },
    "microsoft_todo.clear": ["reminderDateTime"],
    "notion.parent": {"page_id": "59833787-2cf9-4fdf-8782-e53db20768a5"},
    "notion.move_page.parent": {"type": "page_id", "page_id": "59833787-2cf9-4fdf-8782-e53db20768a5"},
    "notion.create_data_source.parent": {"database_id": "59833787-2cf9-4fdf-8782-e53db20768a5"},
    "notion.create_data_source.properties": {"Name": {"title": {}}},
    "notion.update_data_source.properties": {"Name": {"title": {}}},
    "notion.title": TEXT,
    "notion.filter": {"property": "object", "value": "page"},
    "notion.content": {"paragraph": {"rich_text": TEXT}},
    "notion.update_content": {"content_updates": [{"old_str": "a", "new_str": "b"}]},
    "notion.replace_content": {"new_str": "b"},
    "supabase.ref": "abcdefghijklmnopqrst",
    "supabase.project_ref": "abcdefghijklmnopqrst",
    "supabase.services": ["auth", "db"],
    "supabase.migration_version": "20261116",
    "supabase.slug": "acme",
}

# Parameters of which one is needed, or only one may be given.
ALWAYS = {"github.create_branch": ("from_ref",), "notion.add_comment": ("parent",)}
NOT_WITH_ALL = {"notion.add_comment": ("discussion_id",)}


class Desk:
    """Its client notes the request and sends nothing."""

    def __init__(self) -> None:
        self.account, self.details = "home", dict[str, Any]()
        self.sent: list[ServiceRequest] = []

    async def connect(self, account: str | None = None) -> "Desk":
        return self

    async def send(self, request: ServiceRequest) -> ServiceResponse:
        self.sent.append(request)
        raise InterruptedError


def build_value(module: str, tool: ServiceTool, param: ServiceParam) -> Any:
    for key in (f"{module}.{tool.name}.{param.name}", f"{module}.{param.name}", param.name):
        if key in EXAMPLES:
            return EXAMPLES[key]
    known = {"str": "x1", "int": 3, "bool": True, "[str]": ["x1"], "str | null": "x1"}
    shape = param.types.get(param.shape, param.shape)
    assert shape in known or is_choice(shape), (tool.name, param)
    return known[shape] if shape in known else shape.split("|")[0]


def is_choice(shape: str) -> bool:
    return "|" in shape and shape[0] not in "{[" and " " not in shape


def list_calls(service: Service, tool: ServiceTool) -> list[dict[str, Any]]:
    """Calls with all parameters, with the required ones alone, and with each word of each choice."""
    params = list_params(service, tool)
    whole = {param.name: build_value(service.name, tool, param) for param in params}
    for left_out in NOT_WITH_ALL.get(f"{service.name}.{tool.name}", ()):
        del whole[left_out]
    always = ALWAYS.get(f"{service.name}.{tool.name}", ())
    least = {param.name: whole[param.name] for param in params if param.required or param.name in always}
    shapes = {param.name: param.types.get(param.shape, param.shape) for param in params}
    words = [(name, word) for name, shape in shapes.items() if is_choice(shape) for word in shape.split("|")]
    return [whole, least, *({**least, name: word} for name, word in words)]


def build_request(service: Service, tool: ServiceTool, given: dict[str, Any]) -> ServiceRequest:
    desk = Desk()
    with pytest.raises(InterruptedError):
        asyncio.run(run_tool(desk, service, tool, list_params(service, tool), given))  # type: ignore[arg-type]
    return desk.sent[0]


def test_there_are_as_many_tools_as_were_meant():
    assert len(NAMES) == len(set(NAMES)) == 156
    assert sum(not tool.extra for _, tool in LINES) == 108


@pytest.mark.parametrize(("service", "tool"), LINES, ids=NAMES)
def test_every_tool_makes_a_request_of_its_parameters(service, tool):
    for given in list_calls(service, tool):
        request = build_request(service, tool, given)
        assert request.method == tool.method
        assert request.path.startswith("/")
        assert "{" not in request.path


@pytest.fixture(scope="module")
def described() -> dict[str, Description]:
    return {name: Description(name) for name in SERVICES} if is_there() else {}


needs_descriptions = pytest.mark.skipif(
    not is_there(), reason="the services' descriptions (../shared/connectors) are not beside the project"
)


@needs_descriptions
@pytest.mark.parametrize(("service", "tool"), LINES, ids=NAMES)
def test_the_service_describes_every_request(described, service, tool):
    for given in list_calls(service, tool):
        request = build_request(service, tool, given)
        problems = list(described[service.name].find_problems(f"{service.name}.{tool.name}", request))
        assert problems == [], request


@needs_descriptions
def test_tools_are_those_that_were_researched():
    researched = load_tools()
    assert set(researched) == set(NAMES)
    for name, (_, tool) in zip(NAMES, LINES, strict=True):
        facts = researched[name]
        hints = facts["annotations"]
        assert (tool.method, tool.extra) == (facts["method"], facts["tier"] == "extra"), name
        effect = "read" if hints["readOnlyHint"] else "destroy" if hints["destructiveHint"] else "write"
        assert tool.find_effect() == effect, name
