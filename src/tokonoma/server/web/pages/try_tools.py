"""`/admin/try`: call any tool from a form that its schema makes, and see what a client would get."""

import json
import shlex
from collections.abc import Mapping
from typing import Any

from starlette.routing import BaseRoute, Route

from tokonoma.core.errors import Invalid, Missing, Refusal
from tokonoma.server.web.page_parts import PageParts
from tokonoma.server.web.pages.handler import PROBLEMS, PageHandler
from tokonoma.server.web.pages.request import PageRequest, PageResponse
from tokonoma.server.web.pages.tool_form import build_params, format_error, format_result, list_fields, read_typed
from tokonoma.server.web.pages.try_batch import BATCH, run_batch, show_batch

PATH = "/admin/try"


def list_routes(pages: PageParts) -> list[BaseRoute]:
    return [
        Route(PATH, PageHandler(pages, show_tools, run_tool, needs_session=True)),
        Route(BATCH, PageHandler(pages, show_batch, run_batch, needs_session=True)),
    ]


def show_tools(request: PageRequest) -> PageResponse:
    """Without a tool the list of all; the query may hold values for the fields, as a link from elsewhere."""
    path = request.get_parameter("tool").strip()
    if not path:
        modules = _ask_schema(request, module="*")["modules"]
        return PageResponse("try/tools.html", {"modules": modules})
    module, tool = read_schema(request, path)
    typed = {name: request.get_parameter(f"p.{name}") for name in tool["inputSchema"].get("properties", {})}
    return PageResponse("try/tool.html", _describe(request, module, tool, typed))


def run_tool(request: PageRequest) -> PageResponse:
    module, tool = read_schema(request, request.get_field("tool"))
    typed = read_typed(request.form)
    values = _describe(request, module, tool, typed)
    try:
        params = build_params(tool["inputSchema"], typed)
    except Invalid as error:
        return PageResponse("try/tool.html", {**values, "problem": error.message}, 400)
    values["copies"] = list_copies(request.origin, module, tool["name"], params)
    if values["destroys"] and not request.get_field("sure"):
        text = "This tool can delete or overwrite. Tick the box to run it."
        return PageResponse("try/tool.html", {**values, "problem": text}, 400)
    try:
        # Not `request.call`: a tool may have parameters that are called `module` or `tool`.
        answer = request.run_tool(request.person_caller, module, tool["name"], params)
    except Refusal as error:
        status = PROBLEMS[error.kind][1] if error.kind in PROBLEMS else 503
        return PageResponse("try/tool.html", {**values, "error": format_error(error)}, status)
    return PageResponse("try/tool.html", {**values, **format_result(answer)})


def read_schema(request: PageRequest, path: str) -> tuple[str, dict[str, Any]]:
    """The module and the tool with its JSON Schemas, by `module.tool`. Missing if this person sees none."""
    module, _, name = path.partition(".")
    found: dict[str, Any] = {"name": "", "tools": []}
    if name:
        found = _ask_schema(request, module=path, format="json")["modules"][0]
    if found["name"] != module or [each["name"] for each in found["tools"]] != [name]:
        raise Missing(f"There is no tool called {path[:100]!r}.")
    return module, found["tools"][0]


def _ask_schema(request: PageRequest, **params: Any) -> Any:
    return request.run_tool(request.person_caller, "gateway", "get_module_schema", params)


def _describe(request: PageRequest, module: str, tool: Mapping[str, Any], typed: Mapping[str, str]) -> dict[str, Any]:
    hints = tool.get("annotations", {})
    return {
        "module": module,
        "tool": tool,
        "fields": list_fields(tool["inputSchema"], typed),
        "reads": bool(hints.get("readOnlyHint")),
        "destroys": bool(hints.get("destructiveHint")) and not hints.get("readOnlyHint"),
        "problem": "",
        "result": None,
        "error": None,
        "is_cut": False,
        "copies": [],
    }


def list_copies(origin: str, module: str, tool: str, params: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The same call for a terminal and for a program."""
    given = json.dumps(params, ensure_ascii=False)
    arguments = {"module": module, "tool_name": tool, "params": params}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "call", "arguments": arguments}}
    curl = (
        f"curl {origin}/mcp \\\n"
        '  -H "Authorization: Bearer $TOKONOMA_KEY" \\\n'
        "  -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \\\n"
        f"  -d {shlex.quote(json.dumps(message, ensure_ascii=False))}"
    )
    python = (
        "from os import environ\n\nimport httpx\n\n"
        f"message = {message!r}\n"
        'key = environ["TOKONOMA_KEY"]\n'
        'headers = {"Authorization": f"Bearer {key}", "Accept": "application/json, text/event-stream"}\n'
        f'answer = httpx.post("{origin}/mcp", json=message, headers=headers)\n'
        "print(answer.text)"
    )
    line = f"tokonoma call {module} {tool} {shlex.quote(given)}"
    return [("tokonoma call", line), ("curl", curl), ("Python", python)]
