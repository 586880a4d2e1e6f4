"""A whole server behind its HTTP application, for callers of any address with any headers."""

import asyncio
import json
from typing import Any

import httpx
from talk import told_by

from tokonoma.app import App
from tokonoma.auth import api_keys
from tokonoma.auth.api_keys import build_reach
from tokonoma.cli.serve import build_endpoint
from tokonoma.journal.verify import list_recent

PING = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
HeaderPairs = list[tuple[str, str]]


class Door:
    """`app` with the HTTP application that `tokonoma serve` builds for it."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.endpoint = build_endpoint(app)

    def create_key(self, name: str, expires_at: int | None = None, **reach: Any) -> str:
        with self.app.database.writing() as statements:
            key = api_keys.create_key(statements, name, build_reach(**reach), expires_at)
        self.app.authenticator.forget()
        return key

    def send(self, method: str, path: str, remote: str | None, headers: HeaderPairs, content: bytes) -> httpx.Response:
        async def ask(scope: Any, receive: Any, send: Any) -> None:
            await self.endpoint({**scope, "client": None if remote is None else (remote, 1)}, receive, send)

        async def go() -> httpx.Response:
            transport = httpx.ASGITransport(ask)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8722") as client:
                return await client.request(method, path, headers=headers, content=content)

        return asyncio.run(go())

    def post(
        self, message: Any = PING, remote: str | None = "127.0.0.1", headers: HeaderPairs | None = None
    ) -> httpx.Response:
        content = message if isinstance(message, bytes) else json.dumps(message).encode()
        sent = [("content-type", "application/json"), ("accept", "application/json, text/event-stream")]
        return self.send("POST", "/mcp", remote, [*sent, *(headers or [])], content)

    def get(self, path: str, remote: str | None = "127.0.0.1", headers: HeaderPairs | None = None) -> httpx.Response:
        return self.send("GET", path, remote, headers or [], b"")

    def ask(self, key: str, tool: str, **arguments: Any) -> dict[str, Any]:
        """The whole answer to one `tools/call` with this key."""
        message = {**PING, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        return told_by(self.post(message, headers=[("authorization", f"Bearer {key}")]))

    def read_journal(self) -> list[dict[str, Any]]:
        """The entries of callers that were turned away, the newest first."""
        self.app.journal.flush()
        with self.app.database.reading() as rows:
            return [each for each in list_recent(rows, None, 10_000, None)[0] if each.get("module") == "access"]
