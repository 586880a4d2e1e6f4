"""One call of a declared tool, from its parameters to its answer: a list, a record, a text, or `done`."""

from collections.abc import Mapping, Sequence
from http.client import NO_CONTENT
from typing import Any, NotRequired, cast

from typing_extensions import TypedDict

from tokonoma.connectors.fields import choose_fields, project_fields
from tokonoma.connectors.model import Draft, FieldChoice, PageRule, Service, ServiceTool
from tokonoma.connectors.paging import Page, apply_page, find_next, look_up, open_page, read_parameter, seal_position
from tokonoma.connectors.parameters import ServiceParam
from tokonoma.connectors.requests import build_draft, build_request
from tokonoma.core.async_desk import AsyncDesk
from tokonoma.core.errors import Unavailable
from tokonoma.core.ids import Opaque
from tokonoma.core.service import ServiceResponse

COMMON = ("account", "fields", "limit", "cursor")


class ServiceList(TypedDict):
    items: list[Any]
    has_more: bool
    next_cursor: NotRequired[Opaque]
    missing: NotRequired[list[str]]


class ServiceDone(TypedDict):
    done: bool


async def run_tool(
    desk: AsyncDesk, service: Service, tool: ServiceTool, params: Sequence[ServiceParam], given: Mapping[str, Any]
) -> Any:
    own = {param.name for param in params}
    common = {name: given[name] for name in COMMON if name in given and name not in own}
    values = {name: value for name, value in given.items() if name not in common}
    choice = choose_fields(tool, common.get("fields"))
    client = await desk.connect(common.get("account"))
    rule = tool.page
    page = None if rule is None else await open_page(desk, rule, client.account, given)
    if tool.send is not None:
        response = await tool.send(client, tool, values)
    else:
        draft = build_draft(tool, params, tool.prepare(values) if tool.prepare else values)
        draft_answer(service, tool, draft, choice, page)
        response = await client.send(build_request(tool, draft))
    if tool.is_done or (response.value is None and not response.content and _may_be_empty(tool, response)):
        return {"done": True}
    value = tool.read(response, values) if tool.read else _read_value(tool, response)
    rows = _find_rows(service, tool, value)
    if rows is None:
        return _build_record(service, tool, value, choice)
    answer = _build_list(tool, rows, choice)
    if rule is not None and page is not None:
        await _add_next(desk, service, rule, response, page, answer, len(rows))
    return answer


def draft_answer(service: Service, tool: ServiceTool, draft: Draft, choice: FieldChoice, page: Page | None) -> None:
    """Say in the request which fields and which page of the answer are wanted."""
    if service.push_fields is not None and tool.find_effect() == "read":
        service.push_fields(tool, draft, choice)
    if tool.page is not None and page is not None:
        apply_page(tool, tool.page, draft, page)


def _may_be_empty(tool: ServiceTool, response: ServiceResponse) -> bool:
    """What was asked for is not there if a service, or something before it, says nothing and calls it a content."""
    return tool.find_effect() != "read" or response.status == NO_CONTENT


def _read_value(tool: ServiceTool, response: ServiceResponse) -> Any:
    """What the service answered: JSON, or a text as `{text}`. No service answers with a page: something between it and
    here does, which wants a sign-in or refuses."""
    if response.value is not None:
        return response.value
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "text/html":
        problem = "A web page came back instead of the answer of the service. A proxy may want a sign-in."
        check = "" if tool.find_effect() == "read" else " It may have taken effect: check before you repeat it."
        raise Unavailable(problem + check, reason="external")
    if kind.startswith("text/") and response.content:
        return {"text": response.content.decode(errors="replace")}
    raise Unavailable("The service answered with something that is neither JSON nor text.", reason="external")


def _find_rows(service: Service, tool: ServiceTool, value: Any) -> list[Any] | None:
    """The rows of a list; None if the answer is one record."""
    if isinstance(value, list) and not tool.rows:
        return cast("list[Any]", value)
    if tool.rows is None:
        return None
    rows = look_up(value, tool.rows) if tool.rows else None
    if isinstance(rows, list):
        return cast("list[Any]", rows)
    if tool.or_record and isinstance(value, dict):
        return None
    if rows is None and tool.rows and service.push_fields and isinstance(value, dict):
        return []  # a service that was told which fields to send leaves an empty list out
    raise Unavailable(f"{service.title} answered without the list that {tool.name} expects.", reason="external")


def _build_record(service: Service, tool: ServiceTool, value: Any, choice: FieldChoice) -> dict[str, Any]:
    chosen, missing = project_fields(value, choice)
    if value and chosen in ({}, None) and not choice.asked and tool.find_effect() == "read":
        problem = f"{service.title} answered with none of the fields that {tool.name} returns."
        raise Unavailable(f'{problem} With fields ["*"] the answer is returned as it is.', reason="external")
    shown = _render(tool, chosen, choice)
    record = cast("dict[str, Any]", shown) if isinstance(shown, dict) else {"value": shown}
    return {**record, "missing": missing} if missing else record


def _build_list(tool: ServiceTool, rows: list[Any], choice: FieldChoice) -> dict[str, Any]:
    chosen, missing = project_fields(rows, choice)
    answer: dict[str, Any] = {"items": _render(tool, chosen, choice), "has_more": False}
    return {**answer, "missing": missing} if missing else answer


def _render(tool: ServiceTool, value: Any, choice: FieldChoice) -> Any:
    return tool.render(value) if tool.render is not None and choice.paths is not None else value


async def _add_next(
    desk: AsyncDesk,
    service: Service,
    rule: PageRule,
    response: ServiceResponse,
    page: Page,
    answer: dict[str, Any],
    rows: int,
) -> None:
    for name, key in rule.keeps.items():
        found = look_up(response.value, key)
        if isinstance(found, str) and found.startswith(("http:", "https:")):
            found = read_parameter(found, f"${name}")
        if found is not None:
            answer[name] = found
    position = find_next(rule, response, page, rows)
    if position is None:
        return
    if position == page.position:  # for ever the same page
        answer["stopped"] = f"{service.title} named the same next page again. There may be more rows than these."
        return
    answer["has_more"] = True
    answer["next_cursor"] = await seal_position(desk, page, position)
