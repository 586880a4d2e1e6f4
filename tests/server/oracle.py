"""The tools of the workshop on the official SDK's low-level server: what our wire is compared with."""

from typing import Any

import anyio
import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

FRESH = CacheHint(ttl_ms=60_000, scope="private")


def build(tools: list[dict[str, Any]]) -> Server[Any]:
    async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
        if params is not None and params.cursor is not None:
            raise MCPError(types.INVALID_PARAMS, "no such cursor")
        return types.ListToolsResult(tools=[types.Tool.model_validate(tool) for tool in tools])

    async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> Any:
        arguments = params.arguments or {}
        if params.name == "echo":
            words = str(arguments.get("text", ""))
            return said(words, {"text": words})
        if params.name == "fail":
            return said('{"error":{"code":"INVALID_ARGUMENT","message":"as asked"}}', None, True)
        if params.name == "count":
            for step in range(arguments["to"] + 1):
                await ctx.session.report_progress(step, arguments["to"], f"step {step}")
            return said(f"counted to {arguments['to']}", {"to": arguments["to"]})
        raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}", {"nearest": ["echo"]})

    async def list_resources(ctx: Any, params: Any) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=[])

    async def list_templates(ctx: Any, params: Any) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=[])

    async def read_resource(ctx: Any, params: Any) -> types.ReadResourceResult:
        code = types.INVALID_PARAMS if ctx.protocol_version == "2026-07-28" else -32002
        raise MCPError(code, "Resource not found", {"uri": str(params.uri)})

    async def subscribe(ctx: Any, params: Any) -> types.EmptyResult:
        raise MCPError(-32002, "Resource not found", {"uri": str(params.uri)})

    async def unsubscribe(ctx: Any, params: Any) -> types.EmptyResult:
        return types.EmptyResult()

    async def listen(ctx: Any, params: Any) -> types.SubscriptionsListenResult:
        raise NotImplementedError

    async def complete(ctx: Any, params: Any) -> types.CompleteResult:
        return types.CompleteResult(completion=types.Completion(values=[], total=0, has_more=False))

    async def list_prompts(ctx: Any, params: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[])

    async def get_prompt(ctx: Any, params: Any) -> types.GetPromptResult:
        raise MCPError(types.INVALID_PARAMS, "Unknown prompt", {"name": params.name})

    return Server(
        "workshop",
        title="The Workshop",
        version="1.2.3",
        instructions="Call echo first.",
        cache_hints={
            "tools/list": FRESH,
            "resources/list": FRESH,
            "resources/templates/list": FRESH,
            "prompts/list": FRESH,
            "server/discover": FRESH,
        },
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_subscribe_resource=subscribe,
        on_unsubscribe_resource=unsubscribe,
        on_subscriptions_listen=listen,
        on_completion=complete,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )


def said(words: str, structured: dict[str, Any] | None, is_error: bool = False) -> types.CallToolResult:
    content: Any = [types.TextContent(type="text", text=words)]
    return types.CallToolResult(content=content, structured_content=structured, is_error=is_error)


if __name__ == "__main__":
    from fixture import TOOLS

    async def main() -> None:
        server = build(TOOLS)
        async with stdio_server() as (read, write):
            await server.run(
                read, write, server.create_initialization_options(NotificationOptions(resources_changed=True))
            )

    anyio.run(main)
