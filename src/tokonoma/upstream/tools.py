"""The tools that a server lists: those that can be used here, and why others cannot."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tokonoma.core.errors import Invalid
from tokonoma.upstream.client import UpstreamClient
from tokonoma.upstream.schemas import check_schema
from tokonoma.upstream.wire import JsonObject, find_mirrored


@dataclass(frozen=True, slots=True)
class ListedTools:
    tools: list[JsonObject]
    rejected: dict[str, str] = field(default_factory=dict[str, str])  # name → why


async def list_tools(client: UpstreamClient) -> ListedTools:
    listed = await client.list_all("tools/list", "tools") if "tools" in client.facts.capabilities else []
    found = ListedTools([])
    for tool in listed:
        name = tool.get("name")
        if not isinstance(name, str) or not name:
            continue
        problem = find_problem(name, tool) or (
            "it is listed twice" if any(name == t["name"] for t in found.tools) else ""
        )
        if problem:
            found.rejected[name] = problem
        else:
            found.tools.append(tool)
    return found


def find_problem(name: str, tool: Mapping[str, Any]) -> str:
    """Why a tool cannot be used; empty if it can."""
    schema = tool.get("inputSchema")
    try:
        check_schema(name, schema)
    except Invalid as error:
        return error.message
    return "" if find_mirrored(schema) is not None else "its schema marks a header that cannot be one"
