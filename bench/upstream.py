"""MCP servers behind modules: what thirty of them cost a cold start, and a call of our client over stdio against one of
the official SDK's client with the same server. CPU time of each."""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from mcp import StdioServerParameters
from mcp.client.session import ClientSession
from mcp.client.stdio import stdio_client

from tokonoma.app import App
from tokonoma.app.servers import NO_SECRETS, approve_tools, store_server
from tokonoma.upstream.client import UpstreamClient
from tokonoma.upstream.inspect import Inspection
from tokonoma.upstream.servers import NewServer
from tokonoma.upstream.stdio import StdioTransport, TextRing

from .peers import Peers
from .plan import Plan
from .report import Goal, Row

SERVERS, TOOLS = 30, 10
STARTS, CALLS, ROUNDS = 15, 300, 5
ECHO = """
import json, sys
def send(id, result): print(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}), flush=True)
for line in sys.stdin:
    told = json.loads(line)
    method, id = told.get("method"), told.get("id")
    if method == "initialize":
        info = {"name": "echo", "version": "1"}
        send(id, {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info})
    elif method == "tools/call":
        send(id, {"content": [{"type": "text", "text": told["params"]["arguments"]["text"]}]})
    elif method == "tools/list":
        tool = {"name": "echo", "inputSchema": {"type": "object"}}
        send(id, {"tools": [tool]})
    elif id is not None:
        print(json.dumps({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no"}}), flush=True)
"""
COMMAND = (sys.executable, "-S", "-c", ECHO)


def measure(peers: Peers, plan: Plan) -> list[Row]:
    del peers, plan
    with tempfile.TemporaryDirectory(prefix="tokonoma-upstream-") as folder:
        empty, full = Path(folder, "empty"), Path(folder, "full")
        fill_home(empty, 0)
        fill_home(full, SERVERS)
        without, with_servers = measure_starts(empty, full)
    own, sdk = (median(each) for each in zip(*[_measure_round() for _ in range(ROUNDS)], strict=True))
    return [
        Row("upstream: cold start without servers", "CPU ms", {"tokonoma": without}),
        Row(f"upstream: {SERVERS} servers − none", "CPU ms", {"tokonoma": with_servers - without}, Goal("≤", 3.0)),
        Row("upstream: a stdio call by our client", "CPU ms", {"tokonoma": own}),
        Row("upstream: a stdio call by the SDK's client", "CPU ms", {"tokonoma": sdk}),
        Row("upstream: ours / the SDK's", "", {"tokonoma": own / sdk}, Goal("≤", 0.35)),
    ]


def fill_home(home: Path, servers: int) -> None:
    """A home with servers that were approved; none of them is ever started."""
    app = App({"home": str(home), "durable": False, "embed_provider": "none"}, {})
    text = {"type": "string", "description": "A path below the folder that the server may use."}
    schema = {"type": "object", "properties": dict.fromkeys(("path", "pattern", "content"), text), "required": ["path"]}
    tools = [
        {"name": f"tool_{number}", "description": "Reads, lists or writes a file. " * 5, "inputSchema": schema}
        for number in range(TOOLS)
    ]
    for number in range(servers):
        name = f"server{number}"
        store_server(app, NewServer(name, COMMAND), NO_SECRETS, Inspection(list(tools), {}, {"offers": ["resources"]}))
        approve_tools(app, name)
    app.warm()
    app.close()


def measure_starts(*homes: Path) -> list[float]:
    """CPU milliseconds from the start to the answer of `tools/list`, in turns; the median of each."""
    found: list[list[float]] = [[] for _ in homes]
    for number in range(STARTS + 1):
        for home, values in zip(homes, found, strict=True):
            spent = _start(home)
            if number:  # the first one writes bytecode
                values.append(spent)
    return [median(values) for values in found]


def _start(home: Path) -> float:
    environ = {"PATH": os.environ["PATH"], "HOME": str(home), "TOKONOMA_HOME": str(home), "TOKONOMA_DURABLE": "false"}
    words = [sys.executable, "-m", "tokonoma", "stdio"]
    pipe = subprocess.PIPE
    process = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=environ)
    assert process.stdin is not None
    assert process.stdout is not None
    hello: dict[str, Any] = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "b", "version": "1"},
    }
    for number, (method, params) in enumerate((("initialize", hello), ("tools/list", {}))):
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
        process.stdout.readline()
    stat = Path(f"/proc/{process.pid}/schedstat").read_text().split()
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()
    return int(stat[0]) / 1e6


def _measure_round() -> tuple[float, float]:
    return asyncio.run(_measure_own()), asyncio.run(_measure_sdk())


async def _measure_own() -> float:
    client = UpstreamClient(StdioTransport(COMMAND, {"PATH": os.environ["PATH"]}, TextRing()))
    await client.open()
    begin = time.process_time()
    for number in range(CALLS):
        await client.call_tool("echo", {"text": str(number)})
    spent = time.process_time() - begin
    await client.close()
    return 1000 * spent / CALLS


async def _measure_sdk() -> float:
    server = StdioServerParameters(command=COMMAND[0], args=list(COMMAND[1:]))
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        begin = time.process_time()
        for number in range(CALLS):
            await session.call_tool("echo", {"text": str(number)})
        return 1000 * (time.process_time() - begin) / CALLS
