"""HTTP in tests: the application in memory, or a real server on a port of its own."""

import asyncio
import contextlib
import json
import ssl
import threading
from collections.abc import Generator
from typing import Any

import httpx
from server.fixture import Workshop

from tokonoma.server.http.app import HttpApp
from tokonoma.server.http.run import HttpServer, listen

ACCEPT = "application/json, text/event-stream"
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


def headers_of(message: Any, **changed: str | None) -> dict[str, str]:
    """What a good client sends with this message; `changed` replaces, and None leaves out."""
    headers = {"accept": ACCEPT, "content-type": "application/json"}
    params: Any = message.get("params") if isinstance(message, dict) else None
    meta = params.get("_meta") if isinstance(params, dict) else None
    version = meta.get("io.modelcontextprotocol/protocolVersion") if isinstance(meta, dict) else None
    if version is not None:
        headers |= {"mcp-protocol-version": str(version), "mcp-method": message["method"]}
        name = params.get(NAMED.get(message["method"], ""))
        if name is not None:
            headers["mcp-name"] = str(name)
    headers |= {key.replace("_", "-"): value for key, value in changed.items() if value is not None}
    return {key: value for key, value in headers.items() if changed.get(key.replace("-", "_"), "") is not None}


def send(app: HttpApp, method: str, path: str, **options: Any) -> httpx.Response:
    async def go() -> httpx.Response:
        transport = httpx.ASGITransport(app, client=("127.0.0.9", 4))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8722") as client:
            return await client.request(method, path, **options)

    return asyncio.run(go())


def post(app: HttpApp, message: Any, **changed: str | None) -> httpx.Response:
    content = message if isinstance(message, bytes) else json.dumps(message).encode()
    return send(app, "POST", "/mcp", content=content, headers=headers_of(message, **changed))


def events(response: httpx.Response) -> list[Any]:
    assert response.headers["content-type"] == "text/event-stream"
    blocks = response.text.split("\n\n")
    data = [line[6:] for block in blocks for line in block.split("\n") if line.startswith("data: ")]
    return [json.loads(each) for each in data]


@contextlib.contextmanager
def served(
    front: Any = None, port: int = 0, tls: ssl.SSLContext | None = None, **options: Any
) -> Generator[tuple[str, Any]]:
    """`(url, front)` of a server on 127.0.0.1, ended when the block is left."""
    front = Workshop() if front is None else front
    listener = listen("127.0.0.1", port)
    started = threading.Event()
    running = HttpServer(HttpApp(front, **options), tls=tls, on_started=started.set, grace=0.0)
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]})
    thread.start()
    started.wait()
    try:
        yield f"{'http' if tls is None else 'https'}://127.0.0.1:{listener.getsockname()[1]}", front
    finally:
        running.should_exit = True
        thread.join()
