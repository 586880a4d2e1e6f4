"""The official client uses the resources of a real server: over a spawned stdio process and over HTTP, in both eras."""

import sys
from collections.abc import Generator
from typing import Any, cast

import anyio
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp_types import ResourceUpdatedNotification
from server.web import served
from talk import Lines

from tokonoma.app import App


@pytest.fixture
def house(tmp_path) -> Generator[App]:
    """Another process than the spawned one, on the same store."""
    made = App({"home": str(tmp_path), "durable": False}, {})
    yield made
    made.close()


@pytest.fixture(params=["stdio", "http"])
def target(request, house, tmp_path):
    if request.param == "stdio":
        yield StdioServerParameters(command=sys.executable, args=["-m", "tokonoma", "stdio", "--home", str(tmp_path)])
    else:
        with served(house.dispatcher) as (url, _):
            yield f"{url}/mcp"


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_list_read_and_watch(house, target, mode):
    writer = Lines(house)
    memo = writer.call("memory", "save", title="Cat", content="one")
    uri = f"tokonoma://memory/{memo['memo_id']}"

    def edit() -> None:
        writer.call("memory", "save", memo_id=memo["memo_id"], content="two")

    async def go() -> None:
        updated: list[str] = []
        told = anyio.Event()

        async def take(message: Any) -> None:
            if isinstance(message, ResourceUpdatedNotification):
                updated.append(str(message.params.uri))
                told.set()

        async with Client(target, mode=mode, message_handler=take) as client:
            await look(client, uri)
            if mode == "legacy":
                assert client.server_capabilities.resources is not None
                assert client.server_capabilities.resources.subscribe is True
                with pytest.warns(Warning, match="subscribe"):
                    await client.subscribe_resource(uri)  # pyright: ignore[reportDeprecated]
                await anyio.to_thread.run_sync(edit)
                await told.wait()
                assert updated == [uri]
            else:
                async with client.listen(resource_subscriptions=[uri, "tokonoma://memory/none"]) as events:
                    assert events.honored.resource_subscriptions == [uri]
                    await anyio.to_thread.run_sync(edit)
                    async for event in events:
                        assert str(cast("Any", event).uri) == uri
                        break
            assert await read(client, uri) == ("# Cat\n\ntwo", "text/markdown")

    anyio.run(go)


async def read(client: Client, uri: str) -> tuple[str, str]:
    (content,) = cast("Any", (await client.read_resource(uri)).contents)
    return content.text, content.mime_type


async def look(client: Client, uri: str) -> None:
    names = {str(each.uri): each.name for each in (await client.list_resources()).resources}
    assert names[uri] == "Cat"
    templates = (await client.list_resource_templates()).resource_templates
    assert "tokonoma://memory/{memo_id}" in [each.uri_template for each in templates]
    assert await read(client, uri) == ("# Cat\n\none", "text/markdown")
    with pytest.raises(MCPError) as caught:
        await client.read_resource("tokonoma://memory/none")
    assert caught.value.code in (-32002, -32602)
