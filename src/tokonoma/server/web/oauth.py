"""OAuth 2.1 over HTTP: discovery, registration, tokens and revocation. `/authorize` is a page, and not here.

Browsers of any site may call these (CORS `*`): they carry no cookie, and what they hold is in the request itself.
"""

import asyncio
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl

from starlette.routing import BaseRoute, Route

from tokonoma.auth.oauth.errors import OAuthError
from tokonoma.auth.oauth.metadata import build_openid_metadata, build_resource_metadata
from tokonoma.auth.oauth.model import ClientRequest
from tokonoma.core.errors import Invalid, Refusal
from tokonoma.core.log import log
from tokonoma.server.http.asgi import CALLER, HEADERS, ORIGIN, Event, HttpLimits, HttpResponse, Receive, Send
from tokonoma.server.http.body import BodyMemory, BodyShare, read_body
from tokonoma.server.http.mcp import RESOURCE_PATH
from tokonoma.server.http.security import CLOSE, HeaderList, HttpError
from tokonoma.server.mcp.message import log_fault
from tokonoma.server.web.parts import OAuthParts, WebParts

Answer = Callable[[Event, bytes], tuple[int, Any]]
"""scope, body → status and JSON value. Runs in a thread."""

_LIMITS = HttpLimits(body=64 * 1024, body_seconds=10.0)
_FORM = b"application/x-www-form-urlencoded"
_MAX_FIELDS = 50
_HEADERS: HeaderList = [
    (b"access-control-allow-origin", b"*"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
]
_PREFLIGHT: HeaderList = [
    (b"access-control-allow-methods", b"GET, POST, OPTIONS"),
    (b"access-control-allow-headers", b"accept, authorization, content-type, mcp-protocol-version"),
    (b"access-control-max-age", b"600"),
]


def list_routes(parts: WebParts) -> list[BaseRoute]:
    oauth = parts.oauth
    server, discovery = "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"
    answers: list[tuple[str, str, Answer]] = [
        ("GET", RESOURCE_PATH.removesuffix("/mcp"), _describe_resource),
        ("GET", RESOURCE_PATH, _describe_resource),
        *(("GET", path, _describe_server(oauth)) for path in (server, f"{server}/mcp")),
        *(("GET", path, _describe_openid(oauth)) for path in (discovery, f"{discovery}/mcp", f"/mcp{discovery}")),
        ("GET", "/jwks", lambda scope, body: (200, {"keys": oauth.list_keys()})),
        ("POST", "/register", _register(oauth)),
        ("POST", "/token", _exchange(oauth)),
        ("POST", "/revoke", _revoke(oauth)),
    ]
    return [Route(path, OAuthEndpoint(oauth.is_offered, method, answer)) for method, path, answer in answers]


class OAuthEndpoint:
    """One path. A class, because Starlette builds a request object for functions."""

    def __init__(self, is_offered: Callable[[str], bool], method: str, answer: Answer) -> None:
        self._is_offered, self._method, self._answer = is_offered, method, answer

    async def __call__(self, scope: Event, receive: Receive, send: Send) -> None:
        await (await self._respond(scope, receive)).send(send)

    async def _respond(self, scope: Event, receive: Receive) -> HttpResponse:
        if scope["method"] == "OPTIONS":
            return HttpResponse(204, b"", [*_HEADERS, *_PREFLIGHT])
        if scope["method"] not in (("GET", "HEAD") if self._method == "GET" else ("POST",)):
            return _encode(405, {"error": "invalid_request"}, (b"allow", self._method.encode()))
        try:
            body = b""
            if self._method == "POST":
                body = await read_body(receive, scope[HEADERS], _LIMITS, BodyShare(BodyMemory(_LIMITS)))
            status, value = await asyncio.to_thread(self._work, scope, body)
        except HttpError as error:
            return _encode(error.status, {"error": "invalid_request", "error_description": error.message}, CLOSE)
        except OAuthError as error:
            return _encode(error.status, error.to_response(), *_explain(error, scope))
        except Refusal as refusal:
            return _to_response(refusal, scope)
        except Exception as error:
            log_fault(error, scope["path"])
            return _encode(500, {"error": "server_error"})
        return _encode(status, value)

    def _work(self, scope: Event, body: bytes) -> tuple[int, Any]:
        if not self._is_offered(scope[ORIGIN]):
            raise OAuthError("not_found", "Clients cannot sign in here with OAuth", 404)
        return self._answer(scope, body)


def _describe_resource(scope: Event, body: bytes) -> tuple[int, Any]:
    return 200, build_resource_metadata(scope[ORIGIN])


def _describe_server(oauth: OAuthParts) -> Answer:
    return lambda scope, body: (200, oauth.describe(scope[ORIGIN]))


def _describe_openid(oauth: OAuthParts) -> Answer:
    return lambda scope, body: (200, build_openid_metadata(oauth.describe(scope[ORIGIN])))


def _register(oauth: OAuthParts) -> Answer:
    def answer(scope: Event, body: bytes) -> tuple[int, Any]:
        try:
            metadata: Any = json.loads(body)
        except (ValueError, RecursionError):
            raise OAuthError("invalid_client_metadata", "The body must be a JSON object") from None
        return 201, oauth.register(metadata, scope[CALLER].remote)

    return answer


def _exchange(oauth: OAuthParts) -> Answer:
    return lambda scope, body: (200, oauth.exchange(_read_form(scope, body)))


def _revoke(oauth: OAuthParts) -> Answer:
    def answer(scope: Event, body: bytes) -> tuple[int, Any]:
        oauth.revoke(_read_form(scope, body))
        return 200, {}

    return answer


def _read_form(scope: Event, body: bytes) -> ClientRequest:
    headers = scope[HEADERS]
    if headers.get(b"content-type", b"").partition(b";")[0].strip().lower() != _FORM:
        raise OAuthError("invalid_request", f"Content-Type must be {_FORM.decode()}")
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=_MAX_FIELDS, errors="strict")
    except ValueError:
        raise OAuthError("invalid_request", "The body is not a form") from None
    form = dict(pairs)
    if len(form) != len(pairs):
        raise OAuthError("invalid_request", "A parameter was sent twice")
    authorization = headers.get(b"authorization", b"").decode("latin-1")
    return ClientRequest(form, authorization, scope[ORIGIN], scope[CALLER].remote)


def _explain(error: OAuthError, scope: Event) -> HeaderList:
    headers: HeaderList = []
    if error.status == 401 and b"authorization" in scope[HEADERS]:
        headers.append((b"www-authenticate", b'Basic realm="tokonoma"'))
    if error.retry_after:
        headers.append((b"retry-after", b"%d" % error.retry_after))
    return headers


def _to_response(refusal: Refusal, scope: Event) -> HttpResponse:
    """What the rest of the server refuses: a text that cannot be stored, or a store or keyring that does not open."""
    if isinstance(refusal, Invalid):
        return _encode(400, {"error": "invalid_request", "error_description": refusal.message})
    log("warning", "oauth", path=scope["path"], reason=refusal.reason or refusal.kind)
    return _encode(503, {"error": "temporarily_unavailable"}, (b"retry-after", b"1"))


def _encode(status: int, value: Any, *more: tuple[bytes, bytes]) -> HttpResponse:
    return HttpResponse(status, json.dumps(value).encode(), [*_HEADERS, *more])
