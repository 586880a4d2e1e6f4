"""The official Python client with the program itself: it lists the meta-tools of the default surface and uses them."""

import sys
from typing import Any

import anyio
from mcp import Client, StdioServerParameters


def test_the_official_client_lists_and_calls_the_default_surface(tmp_path):
    args = ["-m", "tokonoma", "stdio", "--home", str(tmp_path / "home"), "--no-durable"]

    async def session() -> None:
        async with Client(StdioServerParameters(command=sys.executable, args=args)) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert names[:5] == ["get_module_schema", "call", "batch", "search", "fetch"]
            one = await ask(client, "get_module_schema", module="memory.save")
            assert one["modules"][0]["tools"][0].startswith("save(")
            await ask(client, "call", module="memory", tool_name="save", params={"content": "The fence is green."})
            line = '{"id": "a", "module": "system", "tool": "status"}'
            assert (await ask(client, "batch", jsonl=line))["ok"] is True
            (found,) = (await ask(client, "search", query="fence"))["results"]
            assert (await ask(client, "fetch", id=found["id"]))["text"] == "The fence is green."

    anyio.run(session)


async def ask(client: Client, tool: str, **arguments: Any) -> Any:
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error is False, answer
    return answer.structured_content
