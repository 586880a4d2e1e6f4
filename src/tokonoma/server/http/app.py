"""The HTTP application: security checks, then Starlette's route table."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import partial

import orjson
from starlette.routing import Route, Router

from tokonoma.server.http.asgi import CORS, HEADERS, Event, HttpLimits, HttpResponse, Receive, Send
from tokonoma.server.http.mcp import CHALLENGE, McpEndpoint
from tokonoma.server.http.security import LOOPBACK, HeaderList, HttpError, OriginGuard, build_caller, collect_headers
from tokonoma.server.mcp import message as rpc
from tokonoma.server.mcp.interface import Dispatcher

PageBuilder = Callable[[Event], Awaitable[HttpResponse]]

_NO_STORE = (b"cache-control", b"no-store")


class HttpApp:
    """`host_names`: Host names that it answers to, without ports (None: any, which is safe only where keys are
    required). `origins`: web pages that may call it, besides its own. `ready`: returns the reasons why it is not ready.
    `metrics`: Prometheus text. `challenge`: the WWW-Authenticate header of a 401.
    """

    HEALTH = "/health"  # a probe may use any Host

    def __init__(
        self,
        dispatcher: Dispatcher,
        *,
        host_names: Collection[str] | None = LOOPBACK,
        origins: Collection[str] = (),
        limits: HttpLimits | None = None,
        ready: Callable[[], Sequence[str]] = tuple,
        metrics: Callable[[], bytes] | None = None,
        challenge: str = CHALLENGE,
    ) -> None:
        self._guard = OriginGuard(host_names, origins)
        endpoint = McpEndpoint(dispatcher, limits or HttpLimits(), challenge)
        self.stop = endpoint.stop
        routes = [
            Route("/mcp", endpoint),
            Route("/mcp/", endpoint),
            Route(self.HEALTH, _Page(_report_health)),
            Route("/ready", _Page(partial(_report_readiness, ready))),
        ]
        if metrics is not None:
            routes.append(Route("/metrics", _Page(partial(_report_metrics, endpoint, metrics))))
        self._router = Router(routes, redirect_slashes=False, default=_refuse_path)

    async def __call__(self, scope: Event, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        cors: HeaderList = []
        try:
            headers = scope[HEADERS] = collect_headers(scope["headers"])
            if scope["path"] != self.HEALTH:
                cors = self._guard.check(headers)
            scope[CORS] = cors
            await self._router(scope, receive, send)
            return
        except HttpError as error:
            content = rpc.encode_error(None, error.code, error.message)
            response = HttpResponse(error.status, content, [*error.headers, *cors])
        except Exception as error:
            rpc.log_fault(error, scope["path"])
            response = HttpResponse(500, rpc.encode_error(None, rpc.INTERNAL_ERROR, "Internal error"))
        await response.send(send)


class _Page:
    """GET and HEAD of one path. A class, because Starlette builds a request object for functions."""

    def __init__(self, build: PageBuilder) -> None:
        self._build = build

    async def __call__(self, scope: Event, receive: Receive, send: Send) -> None:
        response = await self._build(scope)
        if scope["method"] not in ("GET", "HEAD"):
            raise HttpError(405, "Method not allowed. Use GET.", (b"allow", b"GET, HEAD"))
        await response.send(send)


async def _report_health(scope: Event) -> HttpResponse:
    return HttpResponse(200, b'{"status":"ok"}', [_NO_STORE])


async def _report_readiness(ready: Callable[[], Sequence[str]], scope: Event) -> HttpResponse:
    try:
        reasons = list(await asyncio.to_thread(ready))
    except Exception as error:
        rpc.log_fault(error, "/ready")
        reasons = ["the readiness check failed; see the server's log"]
    content = orjson.dumps({"ready": not reasons, "reasons": reasons})
    return HttpResponse(503 if reasons else 200, content, [_NO_STORE])


async def _report_metrics(endpoint: McpEndpoint, metrics: Callable[[], bytes], scope: Event) -> HttpResponse:
    endpoint.identify(build_caller(scope[HEADERS], scope.get("client")))
    text = await asyncio.to_thread(metrics)
    return HttpResponse(200, text, [_NO_STORE], b"text/plain; version=0.0.4; charset=utf-8")


async def _refuse_path(scope: Event, receive: Receive, send: Send) -> None:
    raise HttpError(404, "Not found. The MCP endpoint is /mcp.")
