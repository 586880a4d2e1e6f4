"""Servers that others have written: on the official Python SDK, one of PyPI, and three of npm."""

import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from conformance.node import NODE, packages
from talk import Lines

from tokonoma.app import App
from tokonoma.app.servers import NO_SECRETS, approve_tools, look_at, store_server
from tokonoma.upstream.servers import NewServer, UpstreamServer

SDK = Path(__file__).with_name("sdk_server.py")


def put(app: App, name: str, command: tuple[str, ...] = (), url: str = "") -> UpstreamServer:
    new = NewServer(name, command, url)
    store_server(app, new, NO_SECRETS, look_at(app, new, NO_SECRETS))
    return approve_tools(app, name)


@contextmanager
def serve(kind: str) -> Generator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen([sys.executable, str(SDK), kind, str(port)], stderr=subprocess.DEVNULL)
    try:
        while True:
            try:
                httpx.get(f"http://127.0.0.1:{port}/", trust_env=False)
                break
            except httpx.ConnectError:
                assert process.poll() is None
                time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/{'sse' if kind == 'sse' else 'mcp'}"
    finally:
        process.kill()
        process.wait()


def use_oracle(app: App, server: UpstreamServer) -> None:
    talk = Lines(app)
    assert {tool.short: tool.find_effect() for tool in server.tools} == {
        "add": "read",
        "count": "destroy",
        "fail": "destroy",
    }
    assert talk.call("oracle", "add", a=2, b=3) == {"sum": 5}
    told = {"name": "call", "arguments": {"module": "oracle", "tool_name": "count", "params": {"upto": 2}}}
    talk.ask("tools/call", **told, _meta={"progressToken": 1})
    assert "at 1" in [each["params"].get("message") for each in talk.notices]
    assert "Error executing tool fail" in talk.refused("oracle", "fail", why="no tea")["message"]
    assert talk.call("oracle", "read_resource", uri="note://tea")["contents"][0]["text"] == "the note tea"


def test_the_sdk_over_stdio(house):
    server = put(house, "oracle", (sys.executable, str(SDK), "stdio"))
    use_oracle(house, server)


@pytest.mark.parametrize("kind", ["http", "sse"])
def test_the_sdk_over_http(house, kind):
    with serve(kind) as url:
        server = put(house, "oracle", url=url)
        assert server.details["transport"] == kind
        use_oracle(house, server)


def test_a_server_of_pypi_in_a_batch_with_memory(house):
    put(house, "clock", (sys.executable, "-m", "mcp_server_time", "--local-timezone", "UTC"))
    talk = Lines(house)
    asked = {"source_timezone": "Asia/Tokyo", "time": "16:30", "target_timezone": "UTC"}
    assert "T07:30" in talk.call("clock", "convert_time", **asked)["target"]["datetime"]
    found = talk.batch(
        {"id": "time", "module": "clock", "tool": "convert_time", "params": asked},
        {"id": "memo", "module": "memory", "tool": "save", "params": {"content": "Tea at ${time.target.datetime}"}},
    )
    assert found["ok"], found
    assert "T07:30" in talk.call("memory", "search", query="tea")["items"][0]["content"]
    assert "zone" in talk.refused("clock", "convert_time", **{**asked, "source_timezone": "Nowhere"})["message"].lower()


@pytest.mark.xdist_group("node")
def test_three_servers_of_npm_in_one_batch(house, tmp_path):
    place = packages() / "@modelcontextprotocol"
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "tea.md").write_text("Steep it for two minutes.")
    for name, arguments in {"everything": ("stdio",), "memory": (), "filesystem": (str(notes),)}.items():
        short = "graph" if name == "memory" else name
        put(house, short, (str(NODE), str(place / f"server-{name}" / "dist" / "index.js"), *arguments))
    talk = Lines(house)
    entity = {"name": "tea", "entityType": "drink", "observations": ["${text.content}"]}
    found = talk.batch(
        {"id": "text", "module": "filesystem", "tool": "read_text_file", "params": {"path": str(notes / "tea.md")}},
        {"id": "save", "module": "graph", "tool": "create_entities", "params": {"entities": [entity]}},
        {"id": "sum", "module": "everything", "tool": "get-sum", "params": {"a": 2, "b": 40}, "output": True},
        {"id": "found", "module": "graph", "tool": "search_nodes", "params": {"query": "tea"}, "after": ["save"],
         "output": True},
    )  # fmt: skip
    assert found["ok"], found
    assert "42" in found["results"]["sum"]["text"]
    assert found["results"]["found"]["entities"][0]["observations"] == ["Steep it for two minutes."]
    image = talk.tool("call", module="everything", tool_name="get-tiny-image", params={})
    assert "image" in [each["type"] for each in image["content"]]
    assert (notes / "tea.md").exists()
