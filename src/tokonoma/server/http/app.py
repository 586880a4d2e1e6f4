"""The HTTP side as a plain ASGI application: `POST /mcp`, and three pages for machines that watch over it."""

import asyncio
from collections.abc import Callable, Collection, Sequence

import orjson

from tokonoma.server.http.body import Limits, bounded, read
from tokonoma.server.http.mcp import CHALLENGE, Outlet, Posts, caller_of
from tokonoma.server.http.responses import Event, Receive, Reply, Send, halted
from tokonoma.server.http.security import LOOPBACK, PREFLIGHT, Gate, Halt, Headers, Pairs, folded
from tokonoma.server.http.stream import Outbox, deliver
from tokonoma.server.mcp import encode
from tokonoma.server.mcp.errors import fault
from tokonoma.server.mcp.interface import Front
from tokonoma.server.mcp.protocol import INTERNAL_ERROR

Ready = Callable[[], Sequence[str]]
Metrics = Callable[[], bytes]


def asgi(
    front: Front,
    *,
    host_names: Collection[str] | None = LOOPBACK,
    origins: Collection[str] = (),
    limits: Limits | None = None,
    ready: Ready | None = None,
    metrics: Metrics | None = None,
    challenge: str = CHALLENGE,
) -> "Endpoint":
    """The application.

    `host_names`: what it answers to, without ports (None: to any, which is safe only where keys are required).
    `origins`: web pages that may call it, besides its own. `ready`: reasons why it is not; none when it is.
    `metrics`: Prometheus text. `challenge`: the WWW-Authenticate header of a 401.
    """
    gate, posts = Gate(host_names, origins), Posts(front, challenge)
    return Endpoint(gate, posts, limits or Limits(), ready or (lambda: ()), metrics)


class Endpoint:
    def __init__(self, gate: Gate, posts: Posts, limits: Limits, ready: Ready, metrics: Metrics | None) -> None:
        self.limits = limits
        self._gate = gate
        self._posts = posts
        self._ready = ready
        self._metrics = metrics

    def stop(self) -> None:
        """Ask every call under way to end early; each still answers."""
        self._posts.stop()

    def answer(self, pairs: Pairs, remote: str | None, raw: bytes, outlet: Outlet) -> Reply | None:
        """`POST /mcp` whose body is already here: what the coroutines below do, in the same order, without waiting.

        None: a call was begun, and its messages go to the outlet.
        """
        extra: Pairs = []
        try:
            headers = folded(pairs)
            extra = self._gate.check(headers)
            post = self._posts.admit(headers, remote, extra)
            return self._posts.take(post, bounded(raw, self.limits), outlet)
        except Halt as halt:
            return halted(halt, extra)

    async def __call__(self, scope: Event, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        extra: Pairs = []
        try:
            headers = folded(scope["headers"])
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
                raise Halt(404, "There is nothing here; MCP is at /mcp")
        except Halt as halt:
            await halted(halt, extra).send(send)

    async def _mcp(self, scope: Event, receive: Receive, send: Send, headers: Headers, extra: Pairs) -> None:
        method: str = scope["method"]
        if method == "POST":
            post = self._posts.admit(headers, _remote(scope), extra)
            outbox = Outbox()
            reply = self._posts.take(post, await read(receive, headers, self.limits), outbox)
            await (deliver(outbox, self.limits, receive, send) if reply is None else reply.send(send))
        elif method == "OPTIONS" and extra:
            await Reply(200, b"", [*PREFLIGHT, *extra]).send(send)
        else:
            # No stream for messages of the server's own, and no session that could be ended.
            raise Halt(405, "Use POST", (b"allow", b"POST"))

    async def _readiness(self, scope: Event, send: Send) -> None:
        try:
            reasons = list(await asyncio.to_thread(self._ready))
        except Exception as error:
            fault(error, "/ready")
            reasons = ["the check itself failed; see the log"]
        page = {"ready": not reasons, "reasons": reasons}
        await self._page(scope, send, 503 if reasons else 200, orjson.dumps(page))

    async def _measures(self, scope: Event, send: Send, headers: Headers) -> None:
        assert self._metrics is not None
        self._posts.identify(caller_of(headers, _remote(scope)))
        try:
            text = await asyncio.to_thread(self._metrics)
        except Exception as error:
            fault(error, "/metrics")
            await Reply(500, encode.error(None, INTERNAL_ERROR, "Internal error")).send(send)
            return
        await self._page(scope, send, 200, text, b"text/plain; version=0.0.4; charset=utf-8")

    async def _page(
        self, scope: Event, send: Send, status: int, content: bytes, kind: bytes = b"application/json"
    ) -> None:
        if scope["method"] not in ("GET", "HEAD"):
            raise Halt(405, "Use GET", (b"allow", b"GET, HEAD"))
        await Reply(status, content, [(b"cache-control", b"no-store")], kind).send(send)


def _remote(scope: Event) -> str | None:
    client = scope.get("client")
    return None if client is None else str(client[0])
