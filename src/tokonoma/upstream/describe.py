"""How a server's approved tools, resources and prompts look as tools here. Pure.

Everything that a stranger wrote is cleaned, bounded and marked as the server's own words.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from tokonoma.core.module import Effect, Prompt, PromptArgument
from tokonoma.upstream.pins import PinnedTool, is_idempotent
from tokonoma.upstream.schemas import Schema, simplify_schema
from tokonoma.upstream.servers import UpstreamServer
from tokonoma.upstream.texts import clean_text
from tokonoma.upstream.wire import JsonObject

ANY_OBJECT: Schema = {"type": "object", "additionalProperties": True}

_MAX_TITLE = 80
_MAX_PROMPTS = 50
_MAX_ARGUMENTS = 20
_MAX_PROMPT_TEXT = 300
_NO_WORDS = "It says nothing of itself."

ToolUse = Literal["call", "list_resources", "read_resource", "get_prompt"]


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool as callers meet it. `pinned` is None for one that is ours: for resources and prompts."""

    name: str
    title: str
    description: str
    effect: Effect
    idempotent: bool
    input: Schema
    account_param: str = ""  # names an account, where there are several
    use: ToolUse = "call"
    pinned: PinnedTool | None = None


def list_offered(server: UpstreamServer) -> list[OfferedTool]:
    pinned = [tool for tool in server.tools if tool.approved and tool.state in ("approved", "changed")]
    tools = [_describe_tool(server, tool) for tool in pinned]
    return tools + _list_own(server, {tool.name for tool in tools}) if server.approved_at else []


def find_own_tool(server: UpstreamServer, use: ToolUse) -> str:
    """The name of the tool through which resources or prompts of a server are reached; empty if it has none."""
    return next((tool.name for tool in list_offered(server) if tool.use == use), "")


def describe_summary(server: UpstreamServer) -> str:
    given = clean_text(server.details.get("summary"), 120)
    return given or f"MCP server {server.name}"


def list_prompts(server: UpstreamServer) -> tuple[Prompt, ...]:
    """The prompts that the server had when it was approved. Their texts come from the server."""
    tool = find_own_tool(server, "get_prompt")
    stored = cast("Sequence[JsonObject]", server.details.get("prompts", ()))
    return tuple(
        Prompt(
            name=each["name"],
            title=each["title"] or each["name"],
            description=f"From the MCP server {server.name}: {each['description'] or _NO_WORDS}",
            text="",
            arguments=tuple(PromptArgument(*argument) for argument in each["arguments"]),
            tools=(tool,),
        )
        for each in stored
        if tool
    )


def pick_prompts(listed: Sequence[JsonObject]) -> list[JsonObject]:
    """What is stored of a server's prompts."""
    found: list[JsonObject] = []
    for each in listed[:_MAX_PROMPTS]:
        name = each.get("name")
        arguments: Any = each.get("arguments")
        if not isinstance(name, str) or not name or clean_text(name, 100) != name:
            continue
        given = cast("list[Any]", arguments)[:_MAX_ARGUMENTS] if isinstance(arguments, list) else []
        named = [_pick_argument(cast("JsonObject", one)) for one in given if isinstance(one, dict)]
        words = {key: clean_text(each.get(key), _MAX_PROMPT_TEXT) for key in ("title", "description")}
        found.append({"name": name, **words, "arguments": named})
    return found


def _pick_argument(argument: JsonObject) -> tuple[str, str, bool]:
    note = clean_text(argument.get("description"), _MAX_PROMPT_TEXT)
    return clean_text(argument.get("name"), 100), note, argument.get("required") is True


def _describe_tool(server: UpstreamServer, tool: PinnedTool) -> OfferedTool:
    definition = tool.approved
    schema = simplify_schema(definition.get("inputSchema"))
    account = _add_account(server, schema)
    hints: Any = definition.get("annotations")
    title = clean_text(cast("JsonObject", hints).get("title") if isinstance(hints, dict) else "", _MAX_TITLE)
    words = clean_text(definition.get("description")) or _NO_WORDS
    description = f"{server.name} says of it: {words}"
    facts = tool.short, title or tool.short, description, tool.find_effect(), is_idempotent(definition), schema
    return OfferedTool(*facts, account_param=account, pinned=tool)


def _add_account(server: UpstreamServer, schema: Schema) -> str:
    """Add the parameter that names an account, if there are several. Its name; empty if there is nothing to choose."""
    names = sorted({each.name for each in server.accounts})
    if len(names) < 2:
        return ""
    name = "tokonoma_account" if "account" in schema["properties"] else "account"
    schema["properties"] = {**schema["properties"], name: {"type": "string", "enum": names}}
    return name


def _list_own(server: UpstreamServer, taken: set[str]) -> list[OfferedTool]:
    offers = cast("Sequence[str]", server.details.get("offers", ()))
    text = {"type": "string"}
    found: list[OfferedTool] = []

    def add(use: ToolUse, title: str, description: str, properties: Schema, required: list[str]) -> None:
        schema: Schema = {"type": "object", "properties": properties, "required": required}
        account = _add_account(server, schema)
        name = f"mcp_{use}" if use in taken else use
        found.append(OfferedTool(name, title, description, "read", True, schema, account, use))

    if "resources" in offers:
        add("list_resources", "List resources", "Resources of this server: uri, name and type.", {"cursor": text}, [])
        add("read_resource", "Read a resource", "Read one resource of this server by its uri.", {"uri": text}, ["uri"])
    if "prompts" in offers:
        arguments = {"type": "object", "additionalProperties": {"type": "string"}}
        properties = {"name": text, "arguments": arguments}
        add("get_prompt", "Get a prompt", "The messages of one of this server's prompts.", properties, ["name"])
    return found
