"""`POST /mcp`: one message in, one answer out. Nothing is kept between two requests but the calls under way."""

import math
import os
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, cast

from tokonoma.core.call import Caller, Principal
from tokonoma.core.errors import Limited, Refusal, Unauthenticated, Unavailable, Unready
from tokonoma.server.http.responses import HttpResponse, format_event
from tokonoma.server.http.security import HeaderList, Headers, HttpError, bearer_token, check_content_type, parse_accept
from tokonoma.server.mcp import encode
from tokonoma.server.mcp.errors import log_fault, rpc_code
from tokonoma.server.mcp.headers import check_modern, check_notification, claims_modern
from tokonoma.server.mcp.interface import Dispatcher
from tokonoma.server.mcp.message import Message, ProtocolError, RequestId, is_id, parse_message
from tokonoma.server.mcp.methods import answer_request
from tokonoma.server.mcp.protocol import (
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    LIMITED,
    META_CLIENT,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    PARSE_ERROR,
    REQUEST_CANCELLED,
    UNAUTHENTICATED,
    UNSUPPORTED_VERSION,
)
from tokonoma.server.mcp.tool_call import ToolCall
from tokonoma.server.mcp.versions import format_client

CHALLENGE = 'Bearer realm="tokonoma"'

# The HTTP status of a JSON-RPC error; all others travel with 200. The handshake era knows the first four only.
_STATUS = {PARSE_ERROR: 400, INVALID_REQUEST: 400, LIMITED: 429, UNAUTHENTICATED: 401}
_STATUS_MODERN = _STATUS | dict.fromkeys(
    (INVALID_PARAMS, HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION), 400
)
_STATUS_MODERN[METHOD_NOT_FOUND] = 404


@dataclass(slots=True)
class PostRequest:
    """One request, as its headers describe it."""

    headers: Headers
    caller: Caller
    principal: Principal
    extra: HeaderList
    json: bool
    sse: bool


class Outlet(Protocol):
    """Where the messages of a call go."""

    def bind(self, post: PostRequest, exchange: ToolCall) -> None:
        """Said before the first message can come."""
        ...

    def put(self, message: bytes, last: bool) -> None:
        """From any thread."""
        ...


class McpEndpoint:
    """Decides, and never waits: how bytes come and go is left to those who ask."""

    def __init__(self, front: Dispatcher, challenge: str) -> None:
        self._front = front
        self._challenge = challenge
        self._open: set[ToolCall] = set()
        # What a client may cancel, by session, principal and request; and the words that then end its response.
        self._cancellable: dict[tuple[str, str, RequestId], tuple[ToolCall, bytes]] = {}

    def stop(self) -> None:
        for exchange in list(self._open):
            exchange.stop()

    def identify(self, caller: Caller) -> Principal:
        """Who calls; Halt with 401, 403, 429 or 503."""
        try:
            principal = self._front.identify(caller)
        except Refusal as refusal:
            raise self._refuse(caller, refusal) from refusal
        except Exception as error:
            log_fault(error, "identify")
            raise HttpError(500, "Internal error", code=INTERNAL_ERROR) from error
        caller.principal = principal
        return principal

    def admit(self, headers: Headers, remote: str | None, extra: HeaderList) -> PostRequest:
        """What can be said before the body is read; Halt if it need not be."""
        check_content_type(headers)
        json, sse = parse_accept(headers.get(b"accept"))
        if not json and not sse:
            raise HttpError(406, "Accept application/json or text/event-stream")
        caller = build_caller(headers, remote)
        return PostRequest(headers, caller, self.identify(caller), extra, json, sse)

    def handle(self, post: PostRequest, raw: bytes, outlet: Outlet) -> HttpResponse | None:
        """The response; None if a call was begun, whose messages go to the outlet."""
        modern = False
        try:
            message = parse_message(raw)
            modern = message is not None and claims_modern(message, post.headers)
            if message is None or message.id is None:
                return self._accept_notification(post, message, modern)
            if modern:
                check_modern(message, post.headers)
                post.caller.client = format_client(message.meta.get(META_CLIENT)) or post.caller.client
            if message.method == "tools/call":
                return self._start_call(post, message, modern, outlet)
            return self._answer(post, message, modern)
        except ProtocolError as problem:
            return self._to_error_response(post, problem, modern)

    def _answer(self, post: PostRequest, message: Message, modern: bool) -> HttpResponse:
        answer = answer_request(self._front, message, post.caller, modern)
        extra = post.extra
        if message.method == "initialize":
            # A token to find a call again when its client cancels it. Nothing depends on it: any is welcome later,
            # so that a restart of this server breaks no client.
            extra = [*extra, (b"mcp-session-id", os.urandom(16).hex().encode())]
        return (
            HttpResponse(200, answer, extra)
            if post.json
            else HttpResponse(200, format_event(answer), extra, b"text/event-stream")
        )

    def _start_call(self, post: PostRequest, message: Message, modern: bool, outlet: Outlet) -> None:
        key = None if modern else _cancel_key(post, message.id)
        ended = self._open.discard if key is None else partial(self._forget, key)
        exchange = ToolCall(self._front, message, modern, outlet.put, ended)
        outlet.bind(post, exchange)
        self._open.add(exchange)
        if key is not None:
            self._cancellable[key] = exchange, _cancelled_body(post, message)
        try:
            traced = post.headers.get(b"traceparent", b"").decode("latin-1")
            exchange.start(post.caller, traced, listening=post.sse)
        except BaseException:
            ended(exchange)
            raise

    def _forget(self, key: tuple[str, str, RequestId], exchange: ToolCall) -> None:
        self._open.discard(exchange)
        if self._cancellable.get(key, (None,))[0] is exchange:  # a careless client may have used its id again
            self._cancellable.pop(key, None)

    def _accept_notification(self, post: PostRequest, message: Message | None, modern: bool) -> HttpResponse:
        """A notification, or (None) a response: accepted, and no more is said about it."""
        if message is not None:
            check_notification(message, post.headers)
        if message is not None and not modern and message.method == "notifications/cancelled":
            key = _cancel_key(post, message.params.get("requestId"))
            found = self._cancellable.get(key) if key is not None else None
            if found is not None:
                exchange, last_words = found
                exchange.cancel(last_words)
        return HttpResponse(202, b"", post.extra)

    def _to_error_response(self, post: PostRequest, problem: ProtocolError, modern: bool) -> HttpResponse:
        status = (_STATUS_MODERN if modern else _STATUS).get(problem.code, 200)
        extra = post.extra
        if status == 429:
            extra = [*extra, *_retry_after(problem.data)]
        elif status == 401:
            extra = [*extra, self._www_authenticate(post.caller)]
        return HttpResponse(status, encode.encode_protocol_error(problem), extra)

    def _refuse(self, caller: Caller, refusal: Refusal) -> HttpError:
        code = rpc_code(refusal)
        if isinstance(refusal, Unauthenticated):
            return HttpError(401, refusal.message, self._www_authenticate(caller), code=code)
        if isinstance(refusal, Limited):
            return HttpError(429, refusal.message, *_retry_after(refusal.details), code=code)
        return HttpError(503 if isinstance(refusal, Unready | Unavailable) else 403, refusal.message, code=code)

    def _www_authenticate(self, caller: Caller) -> tuple[bytes, bytes]:
        words = self._challenge if caller.token is None else f'{self._challenge}, error="invalid_token"'
        return (b"www-authenticate", words.encode("latin-1"))


def build_caller(headers: Headers, remote: str | None) -> Caller:
    # Behind a proxy on this machine everybody would seem to come from this machine, and so be its owner.
    told = headers.get(b"x-forwarded-for") or headers.get(b"forwarded")
    if told is not None:
        remote = f"{told.split(b',')[0].strip()[:100].decode('latin-1')} via {remote}"
    agent = headers.get(b"user-agent")
    return Caller(
        "http",
        token=bearer_token(headers),
        remote=remote,
        client=None if agent is None else agent[:200].decode("latin-1"),
    )


def _cancel_key(post: PostRequest, id: Any) -> tuple[str, str, RequestId] | None:
    session = post.headers.get(b"mcp-session-id")
    return (session.decode("latin-1"), post.principal.name, id) if session and is_id(id) else None


def _cancelled_body(post: PostRequest, message: Message) -> bytes:
    """A cancelled request is not answered: its stream just ends. Who takes no streams still needs a body."""
    return b"" if post.sse else encode.encode_error(message.id, REQUEST_CANCELLED, "Request cancelled")


def _retry_after(details: Any) -> HeaderList:
    seconds = cast("dict[str, Any]", details).get("retry_after") if isinstance(details, dict) else None
    if not isinstance(seconds, int | float):
        return []
    return [(b"retry-after", b"%d" % max(1, math.ceil(seconds)))]
