"""The HTTP application: security checks, then Starlette's route table."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import partial

import orjson
from starlette.routing import Route, Router

from tokonoma.core.call import Caller, Principal
from tokonoma.core.errors import Denied
from tokonoma.server.http.asgi import (
    CALLER,
    CORS,
    HEADERS,
    ORIGIN,
    AsgiApp,
    Event,
    HttpLimits,
    HttpResponse,
    Receive,
    Send,
)
from tokonoma.server.http.callback import ClientDocument, ConsentCallback, ReceiveAnswer
from tokonoma.server.http.listen import WatchStore
from tokonoma.server.http.mcp import McpEndpoint
from tokonoma.server.http.proxies import TrustedProxies, is_forwarded
from tokonoma.server.http.security import (
    LOOPBACK,
    HeaderList,
    HttpError,
    OriginGuard,
    build_caller,
    collect_headers,
    find_origin,
)
from tokonoma.server.mcp import message as rpc
from tokonoma.server.mcp.interface import Dispatcher

PageBuilder = Callable[[Event], Awaitable[HttpResponse]]
OnRefused = Callable[[Caller, str, str], None]
"""A caller that was turned away, why (`denied.host`), and the path that it asked for."""
RenderMetrics = Callable[[Principal | None], bytes]
"""The Prometheus text for a principal, or for anybody (None); Denied if it may not see it."""

_NO_STORE = (b"cache-control", b"no-store")


class HttpApp:
    """`host_names`: Host names that it answers to, without ports (None: any, which is safe only where keys are
    required). `origins`: web pages that may call it, besides its own. `ready`: returns the reasons why it is not ready.
    `metrics`: Prometheus text; with `metrics_public` for callers without a key, too. `offers_oauth`: whether clients
    may sign in under this origin, as far as is known in memory; a 401 then says where. `trusted_proxies`: addresses
    whose `X-Forwarded-For` counts. `receive_answer`: takes what services send back after a consent. `public_url`: the
    origin under which browsers reach it. `web`: builds what answers all other paths, OAuth and pages; it is asked with
    the first such request, and checks the Origin itself. `watches`: what sessions watch, for all servers of one store.
    """

    HEALTH = "/health"  # a probe may use any Host
    PATHS = ("/mcp", "/mcp/", HEALTH, "/ready", "/metrics", ConsentCallback.PATH, ClientDocument.PATH)

    def __init__(
        self,
        dispatcher: Dispatcher,
        *,
        host_names: Collection[str] | None = LOOPBACK,
        origins: Collection[str] = (),
        limits: HttpLimits | None = None,
        ready: Callable[[], Sequence[str]] = tuple,
        metrics: RenderMetrics | None = None,
        metrics_public: bool = False,
        offers_oauth: Callable[[str], bool] = lambda origin: False,
        trusted_proxies: Sequence[str] = (),
        on_refused: OnRefused = lambda caller, code, path: None,
        receive_answer: ReceiveAnswer | None = None,
        public_url: str = "",
        web: Callable[[], AsgiApp] | None = None,
        watches: WatchStore | None = None,
    ) -> None:
        self._public_url, self._load_web = public_url, web
        self._web: AsgiApp | None = None
        self._proxies, self._on_refused = TrustedProxies(trusted_proxies), on_refused
        self._guard = OriginGuard(host_names, origins)
        endpoint = McpEndpoint(dispatcher, limits or HttpLimits(), offers_oauth, watches)
        self.stop = endpoint.stop
        routes = [
            Route("/mcp", endpoint),
            Route("/mcp/", endpoint),
            Route(self.HEALTH, _Page(_report_health)),
            Route("/ready", _Page(partial(_report_readiness, ready))),
        ]
        if metrics is not None:
            routes.append(Route("/metrics", _Page(partial(_report_metrics, endpoint, metrics, metrics_public))))
        if receive_answer is not None:
            routes.append(Route(ConsentCallback.PATH, ConsentCallback(receive_answer)))
        if public_url:
            routes.append(Route(ClientDocument.PATH, ClientDocument(public_url)))
        self._router = Router(routes, redirect_slashes=False, default=self._serve_other)

    async def __call__(self, scope: Event, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        cors: HeaderList = []
        try:
            headers = scope[HEADERS] = collect_headers(scope["headers"])
            peer = scope["client"][0] if scope.get("client") else None  # None on a Unix socket
            remote = self._proxies.find_remote(headers, peer)
            scope[CALLER] = build_caller(headers, remote, is_forwarded(headers))
            if scope["path"] in self.PATHS or self._load_web is None:
                if scope["path"] != self.HEALTH:
                    cors = self._guard.check(headers)
            else:
                self._guard.check_host(headers)
            scope[CORS] = cors
            scope[ORIGIN] = scope[CALLER].origin = find_origin(headers, self._public_url, _is_tls(scope))
            await self._router(scope, receive, send)
            return
        except HttpError as error:
            if error.refusal:
                self._on_refused(scope[CALLER], error.refusal, scope["path"] if scope["path"] in self.PATHS else "*")
            content = rpc.encode_error(None, error.code, error.message)
            response = HttpResponse(error.status, content, [*error.headers, *cors])
        except Exception as error:
            rpc.log_fault(error, scope["path"])
            response = HttpResponse(500, rpc.encode_error(None, rpc.INTERNAL_ERROR, "Internal error"))
        await response.send(send)

    async def _serve_other(self, scope: Event, receive: Receive, send: Send) -> None:
        if self._load_web is None:
            raise HttpError(404, "Not found. The MCP endpoint is /mcp.")
        if self._web is None:
            self._web = await asyncio.to_thread(self._load_web)
        await self._web(scope, receive, send)


def _is_tls(scope: Event) -> bool:
    return scope.get("scheme") == "https"


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


async def _report_metrics(endpoint: McpEndpoint, metrics: RenderMetrics, public: bool, scope: Event) -> HttpResponse:
    caller: Caller = scope[CALLER]
    principal = None if public else await endpoint.identify(caller)
    try:
        text = await asyncio.to_thread(metrics, principal)
    except Denied as refusal:
        raise endpoint.to_http_error(caller, refusal) from refusal
    return HttpResponse(200, text, [_NO_STORE], b"text/plain; version=0.0.4; charset=utf-8")
