"""A client in memory: speaks MCP with a house over its real wire, as a stream of lines or as HTTP requests."""

import asyncio
import base64
import json
import queue
from typing import Any

import httpx

from tokonoma.app import App
from tokonoma.core.call import Caller
from tokonoma.server.http.app import HttpApp
from tokonoma.server.mcp.session import StdioSession

MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
Json = dict[str, Any]


class Talk:
    """`ask` sends one request and waits for its answer; `value` and `error` call a tool and expect that end."""

    def __init__(self) -> None:
        self._number = 0

    def send(self, message: Json) -> Json:
        raise NotImplementedError

    def ask(self, method: str, **params: Any) -> Json:
        self._number += 1
        answer = self.send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        assert answer["id"] == self._number
        return answer

    def tool(self, name: str, **arguments: Any) -> Json:
        return self.ask("tools/call", name=name, arguments=arguments)["result"]

    def value(self, name: str, **arguments: Any) -> Json:
        """The structured content, which its text repeats if it is short; without a version, a long one is text only."""
        result = self.tool(name, **arguments)
        assert not result.get("isError"), result
        text = result["content"][0]["text"]
        if "structuredContent" not in result or "is in structuredContent" not in text[:100]:
            assert json.loads(text) == result.get("structuredContent", json.loads(text))
        return result["structuredContent"] if "structuredContent" in result else json.loads(text)

    def error(self, name: str, **arguments: Any) -> Json:
        """The error of a refused call."""
        result = self.tool(name, **arguments)
        assert result["isError"] is True, result
        assert "structuredContent" not in result
        told = json.loads(result["content"][0]["text"])
        assert told["request_id"]
        assert told["trace_id"]
        return told["error"]

    def call(self, module: str, tool: str, **params: Any) -> Json:
        return self.value("call", module=module, tool_name=tool, params=params)

    def refused(self, module: str, tool: str, **params: Any) -> Json:
        return self.error("call", module=module, tool_name=tool, params=params)

    def batch(self, *lines: Json, **more: Any) -> Json:
        return self.value("batch", jsonl="\n".join(json.dumps(line) for line in lines), **more)


class Lines(Talk):
    """Over a stream of lines, as stdio does it; with `cli`, as the commands of the terminal call tools."""

    def __init__(self, app: App, transport: str = "stdio") -> None:
        super().__init__()
        self._answers: queue.Queue[Json] = queue.Queue()
        self.notices: list[Json] = []
        self._session = StdioSession(app.dispatcher, Caller(transport), self._take)

    def _take(self, message: bytes) -> None:
        told = json.loads(message)
        if "id" in told:
            self._answers.put(told)
        else:
            self.notices.append(told)

    def send(self, message: Json) -> Json:
        self._session.handle_line(json.dumps(message).encode())
        return self._answers.get(timeout=60)

    def post(self, message: Json) -> None:
        """A request whose answer nobody waits for."""
        self._number = max(self._number, message["id"])
        self._session.handle_line(json.dumps(message).encode())

    def wait_for(self, number: int) -> Json:
        """The answer to an earlier `post`."""
        answer = self._answers.get(timeout=60)
        assert answer["id"] == number
        return answer

    def tell(self, method: str, **params: Any) -> None:
        """A notification."""
        self._session.handle_line(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())


class Http(Talk):
    """Over HTTP, stateless, in the era of 2026-07-28."""

    def __init__(self, app: App, token: str | None = None, remote: str = "127.0.0.1") -> None:
        super().__init__()
        self._asgi = HttpApp(app.dispatcher)
        self._token, self._remote = token, remote

    def post(self, message: Json, **headers: str) -> httpx.Response:
        return asyncio.run(self._post(message, headers))

    async def _post(self, message: Json, headers: dict[str, str]) -> httpx.Response:
        transport = httpx.ASGITransport(app=self._asgi, client=(self._remote, 1))  # type: ignore[arg-type]
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8722") as client:
            return await client.post("/mcp", json=message, headers=headers)

    def send(self, message: Json) -> Json:
        return told_by(self.answered(message))

    def answered(self, message: Json) -> httpx.Response:
        message = {**message, "params": {**message["params"], "_meta": MODERN}}
        headers = {
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": message["method"],
            "accept": "application/json, text/event-stream",
        }
        field = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}.get(message["method"], "")
        if field in message["params"]:
            headers["mcp-name"] = encode_header(message["params"][field])
        if self._token is not None:
            headers["authorization"] = f"Bearer {self._token}"
        return self.post(message, **headers)


def encode_header(value: str) -> str:
    return value if value.isascii() else f"=?base64?{base64.b64encode(value.encode()).decode()}?="


def told_by(response: httpx.Response) -> Json:
    """The answer, plain or at the end of the stream that a slow call opens: on a busy machine any call may be slow."""
    kind = response.headers["content-type"].partition(";")[0]
    if kind == "application/json":
        return response.json()
    assert kind == "text/event-stream"
    events = [json.loads(line[6:]) for line in response.text.splitlines() if line.startswith("data: ")]
    return next(event for event in events if "id" in event)
