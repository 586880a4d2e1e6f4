"""The official Python client, a full session over both transports and in both eras."""

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest
from mcp import Client, MCPError, StdioServerParameters
from server.fixture import TOOLS
from server.web import served

PROGRAM = StdioServerParameters(command=sys.executable, args=[str(Path(__file__).parent / "program.py")])


@pytest.fixture(params=["stdio", "http"])
def target(request):
    if request.param == "stdio":
        yield PROGRAM
    else:
        with served() as (url, _):
            yield f"{url}/mcp"


async def refused(awaitable: Any) -> int:
    with pytest.raises(MCPError) as caught:
        await awaitable
    return caught.value.code


@pytest.mark.parametrize(("mode", "version"), [("legacy", "2025-11-25"), ("auto", "2026-07-28"), ("2026-07-28",) * 2])
def test_a_full_session(target, mode, version):
    async def session() -> None:
        async with Client(target, mode=mode) as client:
            assert client.protocol_version == version
            if mode != "2026-07-28":  # a client that pins a version asks the server nothing about itself
                assert client.server_info is not None
                assert (client.server_info.name, client.server_info.version) == ("workshop", "1.2.3")
                assert client.instructions == "Call echo first."
                assert client.server_capabilities.tools is not None
            await lists(client)
            await calls(client)
            await at_once(client)
            if mode == "legacy":
                with pytest.warns(Warning, match="ping"):
                    await client.send_ping()  # pyright: ignore[reportDeprecated]

    anyio.run(session)


async def lists(client: Client) -> None:
    assert [tool.name for tool in (await client.list_tools()).tools] == [tool["name"] for tool in TOOLS]
    assert (await client.list_resources()).resources == []
    assert (await client.list_resource_templates()).resource_templates == []
    assert (await client.list_prompts()).prompts == []
    assert await refused(client.get_prompt("x")) == -32602
    assert await refused(client.read_resource("test://x")) in (-32002, -32602)


async def calls(client: Client) -> None:
    said = await client.call_tool("echo", {"text": "床の間"})
    assert (said.structured_content, said.is_error) == ({"text": "床の間"}, False)
    assert (await client.call_tool("fail")).is_error is True
    assert await refused(client.call_tool("nothing")) == -32602
    steps: list[float] = []

    async def see(progress: float, total: float | None, message: str | None) -> None:
        steps.append(progress)

    counted = await client.call_tool("count", {"to": 3}, progress_callback=see)
    assert (counted.structured_content, steps) == ({"to": 3}, [0, 1, 2, 3])


async def at_once(client: Client) -> None:
    """A call that waits for another one; and one that is given up, which the server then ends."""
    waited: list[Any] = []

    async def wait(gate: str) -> None:
        waited.append(await client.call_tool("wait", {"gate": gate}))

    async with anyio.create_task_group() as group:
        group.start_soon(wait, "one")
        await client.call_tool("stubborn", {"gate": "one reached"})
        await client.call_tool("open", {"gate": "one"})
    assert waited[0].content[0].text == "opened"
    async with anyio.create_task_group() as group:
        group.start_soon(wait, "two")
        await client.call_tool("stubborn", {"gate": "two reached"})
        group.cancel_scope.cancel()
    left = await client.call_tool("stubborn", {"gate": "two left"})
    assert (left.is_error, len(waited)) == (False, 1)


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_a_restart_of_the_server_breaks_no_client(mode):
    async def session(stack: ExitStack) -> None:
        before = ExitStack()
        url, _ = before.enter_context(served())
        async with Client(f"{url}/mcp", mode=mode) as client:
            assert (await client.call_tool("echo", {"text": "1"})).structured_content == {"text": "1"}
            await anyio.to_thread.run_sync(before.close)
            stack.enter_context(served(port=int(url.rpartition(":")[2])))
            assert (await client.call_tool("echo", {"text": "2"})).structured_content == {"text": "2"}

    with ExitStack() as stack:
        anyio.run(session, stack)
