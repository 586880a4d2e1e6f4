"""A call of a tool that asks a service, and one of GitHub's `get_issue`, against a bare httpx client that asks the same
server: CPU time of each."""

import asyncio
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import median
from typing import Any

import httpx

from tokonoma import catalogue
from tokonoma.app import App
from tokonoma.app.accounts import store_account
from tokonoma.core import providers
from tokonoma.core.async_desk import AsyncDesk
from tokonoma.core.call import Call, Caller
from tokonoma.core.module import Module, Tool
from tokonoma.core.service import ServiceRequest
from tokonoma.keyring.accounts import NewAccount

from .peers import Peers
from .plan import Plan
from .report import Goal, Row

CALLS = 200
ROUNDS = 5
SERVER = """
import asyncio
BODY = b'{"number":1,"title":"An issue","state":"open","user":{"login":"a","id":2},"labels":[{"name":"b","id":3}],' + \\
    b'"comments":2,"updated_at":"2026-03-01T09:00:00Z","body":"' + b"Some words of it. " * 40 + b'"}'
HEAD = b"HTTP/1.1 200 OK\\r\\ncontent-type: application/json\\r\\ncontent-length: %d\\r\\n\\r\\n" % len(BODY)
async def serve(reader, writer):
    try:
        while await reader.readuntil(b"\\r\\n\\r\\n"):
            writer.write(HEAD + BODY)
    except asyncio.IncompleteReadError:
        writer.close()
async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""


async def read(desk: AsyncDesk) -> dict[str, Any]:
    """One record."""
    client = await desk.connect()
    return (await client.send(ServiceRequest("GET", "/repos/a/b/issues/1"))).value


MODULE = Module("service_bench", "Asks a service.", (Tool("read", read, "Read", outside=True),))
ASKED: dict[str, tuple[str, str, dict[str, Any]]] = {
    "call": (MODULE.name, "read", {}),
    "connector": ("github", "get_issue", {"owner": "a", "repo": "b", "issue_number": 1}),
}


def measure(peers: Peers, plan: Plan) -> list[Row]:
    del peers, plan
    words = [sys.executable, "-c", SERVER]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = f"http://127.0.0.1:{int(server.stdout.readline())}"
            with tempfile.TemporaryDirectory(prefix="tokonoma-services-") as home:
                times = _measure_all(Path(home), url)
        finally:
            server.kill()
    middles = {name: median(values) for name, values in times.items()}
    bare, called, connector = (middles[name] for name in ("bare", "call", "connector"))
    return [
        Row("services: a request by httpx alone", "CPU ms", {"tokonoma": bare}),
        Row("services: a call that asks a service", "CPU ms", {"tokonoma": called}),
        Row("services: call − request", "CPU ms", {"tokonoma": called - bare}, Goal("≤", 1.5)),
        Row("services: a call of github.get_issue", "CPU ms", {"tokonoma": connector}),
        Row("services: github.get_issue − request", "CPU ms", {"tokonoma": connector - bare}, Goal("≤", 1.5)),
    ]


def _measure_all(home: Path, url: str) -> dict[str, list[float]]:
    """All three take turns, so that a machine that slows down slows all alike."""
    providers._PROVIDERS[MODULE.name] = "github"  # type: ignore[index]
    described = catalogue.describe_module(MODULE, "bench.services:MODULE")
    (home / "plugins.json").write_bytes(catalogue.dump_catalogue([described]))
    app = App({"home": str(home), "durable": False, "embed_provider": "none"}, {})
    try:
        store_account(app, NewAccount("github", "work", details={"base_url": url}), {"token": "t"})
        for asked in ASKED.values():
            _call(app, *asked)  # everything is loaded
        return _take_turns(app, url)
    finally:
        app.close()


def _take_turns(app: App, url: str) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {"bare": [], **{name: [] for name in ASKED}}
    for _ in range(ROUNDS):
        times["bare"].append(asyncio.run(_time_bare(url)))
        for name, asked in ASKED.items():
            begin = time.process_time()
            for _ in range(CALLS):
                _call(app, *asked)
            times[name].append(1000 * (time.process_time() - begin) / CALLS)
    return times


def _call(app: App, module: str, tool: str, params: dict[str, Any]) -> None:
    ended, errors = threading.Event(), list[BaseException]()

    def done(call: Call, error: BaseException | None) -> None:
        errors.extend([error] if error is not None else [])
        ended.set()

    app.calls.submit(Call(module, tool, params, Caller("cli")), done)
    ended.wait()
    if errors:
        raise errors[0]


async def _time_bare(url: str) -> float:
    async with httpx.AsyncClient(base_url=url, headers={"Authorization": "Bearer t"}) as client:
        (await client.get("/repos/a/b/issues/1")).json()
        begin = time.process_time()
        for _ in range(CALLS):
            (await client.get("/repos/a/b/issues/1")).json()
        return 1000 * (time.process_time() - begin) / CALLS
