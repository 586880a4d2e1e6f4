"""A server on the official Python SDK: `python sdk_server.py stdio`, or `http PORT` for Streamable HTTP, `sse PORT` for
the older way."""

import sys
from typing import Any

from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("oracle")


@server.tool(annotations={"readOnlyHint": True})  # type: ignore[arg-type]
def add(a: int, b: int) -> dict[str, int]:
    """Add two numbers."""
    return {"sum": a + b}


@server.tool()
async def count(upto: int, ctx: Context[Any, Any]) -> str:
    """Count, and report progress."""
    for number in range(upto):
        await ctx.report_progress(number + 1, upto, f"at {number + 1}")
    return f"counted to {upto}"


@server.tool()
def fail(why: str) -> str:
    """Fail."""
    raise ValueError(why)


@server.resource("note://{name}")
def note(name: str) -> str:
    """A note."""
    return f"the note {name}"


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        server.run("stdio")
    else:
        kind = "sse" if sys.argv[1] == "sse" else "streamable-http"
        server.run(kind, host="127.0.0.1", port=int(sys.argv[2]))  # type: ignore[call-overload]
