"""The HTTP side as a plain ASGI application: `POST /mcp`, and three pages for machines that watch over it."""

import asyncio
from collections.abc import Callable, Collection, Sequence

import orjson

from tokonoma.server.http.body import HttpLimits, check_size, read_body
from tokonoma.server.http.mcp import CHALLENGE, McpEndpoint, Outlet, build_caller
from tokonoma.server.http.responses import Event, HttpResponse, Receive, Send, to_response
from tokonoma.server.http.security import (
    LOOPBACK,
    PREFLIGHT_HEADERS,
    HeaderList,
    Headers,
    HttpError,
    OriginGuard,
    collect_headers,
)
from tokonoma.server.http.stream import MessageQueue, deliver
from tokonoma.server.mcp import encode
from tokonoma.server.mcp.errors import log_fault
from tokonoma.server.mcp.interface import Dispatcher
from tokonoma.server.mcp.protocol import INTERNAL_ERROR

ReadyCheck = Callable[[], Sequence[str]]
MetricsText = Callable[[], bytes]


def create_app(
    front: Dispatcher,
    *,
    host_names: Collection[str] | None = LOOPBACK,
    origins: Collection[str] = (),
    limits: HttpLimits | None = None,
    ready: ReadyCheck | None = None,
    metrics: MetricsText | None = None,
    challenge: str = CHALLENGE,
) -> "HttpApp":
    """The application.

    `host_names`: what it answers to, without ports (None: to any, which is safe only where keys are required).
    `origins`: web pages that may call it, besides its own. `ready`: reasons why it is not; none when it is.
    `metrics`: Prometheus text. `challenge`: the WWW-Authenticate header of a 401.
    """
    gate, posts = OriginGuard(host_names, origins), McpEndpoint(front, challenge)
    return HttpApp(gate, posts, limits or HttpLimits(), ready or (lambda: ()), metrics)


class HttpApp:
    def __init__(
        self, gate: OriginGuard, posts: McpEndpoint, limits: HttpLimits, ready: ReadyCheck, metrics: MetricsText | None
    ) -> None:
        self.limits = limits
        self._gate = gate
        self._posts = posts
        self._ready = ready
        self._metrics = metrics

    def stop(self) -> None:
        """Ask every call under way to end early; each still answers."""
        self._posts.stop()

    def answer(self, pairs: HeaderList, remote: str | None, raw: bytes, outlet: Outlet) -> HttpResponse | None:
        """`POST /mcp` whose body is already here: what the coroutines below do, in the same order, without waiting.

        None: a call was begun, and its messages go to the outlet.
        """
        extra: HeaderList = []
        try:
            headers = collect_headers(pairs)
            extra = self._gate.check(headers)
            post = self._posts.admit(headers, remote, extra)
            return self._posts.handle(post, check_size(raw, self.limits), outlet)
        except HttpError as halt:
            return to_response(halt, extra)

    async def __call__(self, scope: Event, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        extra: HeaderList = []
        try:
            headers = collect_headers(scope["headers"])
            path: str = scope["path"]
            if path == "/health":
                await self._page(scope, send, 200, b'{"status":"ok"}')
                return
            extra = self._gate.check(headers)
            if path in ("/mcp", "/mcp/"):
                await self._mcp(scope, receive, send, headers, extra)
            elif path == "/ready":
                await self._readiness(scope, send)
            elif path == "/metrics" and self._metrics is not None:
                await self._measures(scope, send, headers)
            else:
                raise HttpError(404, "There is nothing here; MCP is at /mcp")
        except HttpError as halt:
            await to_response(halt, extra).send(send)

    async def _mcp(self, scope: Event, receive: Receive, send: Send, headers: Headers, extra: HeaderList) -> None:
        method: str = scope["method"]
        if method == "POST":
            post = self._posts.admit(headers, _remote(scope), extra)
            outbox = MessageQueue()
            reply = self._posts.handle(post, await read_body(receive, headers, self.limits), outbox)
            await (deliver(outbox, self.limits, receive, send) if reply is None else reply.send(send))
        elif method == "OPTIONS" and extra:
            await HttpResponse(200, b"", [*PREFLIGHT_HEADERS, *extra]).send(send)
        else:
            # No stream for messages of the server's own, and no session that could be ended.
            raise HttpError(405, "Use POST", (b"allow", b"POST"))

    async def _readiness(self, scope: Event, send: Send) -> None:
        try:
            reasons = list(await asyncio.to_thread(self._ready))
        except Exception as error:
            log_fault(error, "/ready")
            reasons = ["the check itself failed; see the log"]
        page = {"ready": not reasons, "reasons": reasons}
        await self._page(scope, send, 503 if reasons else 200, orjson.dumps(page))

    async def _measures(self, scope: Event, send: Send, headers: Headers) -> None:
        assert self._metrics is not None
        self._posts.identify(build_caller(headers, _remote(scope)))
        try:
            text = await asyncio.to_thread(self._metrics)
        except Exception as error:
            log_fault(error, "/metrics")
            await HttpResponse(500, encode.encode_error(None, INTERNAL_ERROR, "Internal error")).send(send)
            return
        await self._page(scope, send, 200, text, b"text/plain; version=0.0.4; charset=utf-8")

    async def _page(
        self, scope: Event, send: Send, status: int, content: bytes, kind: bytes = b"application/json"
    ) -> None:
        if scope["method"] not in ("GET", "HEAD"):
            raise HttpError(405, "Use GET", (b"allow", b"GET, HEAD"))
        await HttpResponse(status, content, [(b"cache-control", b"no-store")], kind).send(send)


def _remote(scope: Event) -> str | None:
    client = scope.get("client")
    return None if client is None else str(client[0])
