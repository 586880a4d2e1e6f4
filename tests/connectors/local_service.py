"""A local HTTP server that answers as a test says, and a client for it."""

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx

from tokonoma.core.errors import Unavailable
from tokonoma.core.service import ServiceRequest, ServiceResponse


@dataclass
class Asked:
    """A request as the service received it."""

    method: str
    path: str
    query: list[tuple[str, str]]
    headers: dict[str, str]
    body: Any


@dataclass
class Reply:
    value: Any = None  # sent as JSON
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    content: bytes | None = None


class LocalService:
    """A real HTTP server on this machine. `replies` are sent in order, and the last one again and again."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.replies: list[Reply | Callable[[Asked], Reply]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                parts = urlsplit(self.path)
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                asked = Asked(
                    self.command, parts.path, parse_qsl(parts.query, keep_blank_values=True), headers,
                    json.loads(body) if body else None,
                )  # fmt: skip
                outer.asked.append(asked)
                reply = outer.replies.pop(0) if len(outer.replies) > 1 else outer.replies[0]
                reply = reply(asked) if callable(reply) else reply
                content = reply.content
                if content is None:
                    content = b"" if reply.status == 204 else json.dumps(reply.value).encode()
                self.send_response(reply.status)
                kind = "application/json" if reply.content is None else "text/plain"
                for name, value in {"content-type": kind, **reply.headers}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self._thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def answer(self, *values: Any) -> None:
        replies: list[Any] = [each if isinstance(each, Reply) or callable(each) else Reply(each) for each in values]
        self.replies = replies

    @property
    def last(self) -> Asked:
        return self.asked[-1]

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


class LocalClient:
    """An account of the local service. It asks no other host, as the house's own client."""

    def __init__(self, url: str, account: str) -> None:
        self.url, self.account, self.details = url, account, {"base_url": url}
        self.sent: list[ServiceRequest] = []

    async def send(self, request: ServiceRequest) -> ServiceResponse:
        self.sent.append(request)
        url = request.path if "://" in request.path else self.url + request.path
        if not url.startswith(f"{self.url}/"):
            raise Unavailable("The service refers to another host.", reason="external")
        async with httpx.AsyncClient() as http:
            body = {} if request.body is None else {"json": request.body}
            answer = await http.request(
                request.method, url, params=list(request.query) or None, headers=dict(request.headers), **body
            )
        if not answer.is_success:
            raise Unavailable("The service refused.", reason="external", http_status=answer.status_code)
        is_json = answer.headers.get("content-type") == "application/json" and answer.content
        headers = {name.lower(): value for name, value in answer.headers.items()}
        return ServiceResponse(answer.status_code, headers, answer.content, answer.json() if is_json else None)
