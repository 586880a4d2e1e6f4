"""A three-tool server on the official SDK's low-level `Server`: `sdk.py stdio | http PORT` (stateless, JSON)."""

import sys
from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
TOOLS = [
    types.Tool(name="echo", description="Answer with the same text.", input_schema=TEXT),
    types.Tool(name="upper", description="Answer with the text in capitals.", input_schema=TEXT),
    types.Tool(name="count", description="Answer with the number of characters.", input_schema=TEXT),
]
WORK = {"echo": str, "upper": str.upper, "count": lambda text: str(len(text))}


async def list_tools(
    _context: ServerRequestContext[Any], _params: types.PaginatedRequestParams | None
) -> types.ListToolsResult:
    return types.ListToolsResult(tools=TOOLS)


async def call_tool(_context: ServerRequestContext[Any], params: types.CallToolRequestParams) -> types.CallToolResult:
    text = WORK[params.name]((params.arguments or {})["text"])
    return types.CallToolResult(content=[types.TextContent(text=text)])


def make_server() -> Server[Any]:
    return Server("bench-sdk", version="1", on_list_tools=list_tools, on_call_tool=call_tool)


async def serve_stdio() -> None:
    server = make_server()
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def serve_http(port: int) -> None:
    import uvicorn  # the stdio server must not pay for it

    app = make_server().streamable_http_app(json_response=True, stateless_http=True)
    # No access log: the quickest that this server can be without a change to it.
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning", access_log=False)


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        anyio.run(serve_stdio)
    else:
        serve_http(int(sys.argv[2]))
