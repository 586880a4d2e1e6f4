"""`POST /mcp`: one message in, one answer out. No state survives a request except the running calls."""

import asyncio
import math
import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, cast

from tokonoma.core.call import Caller, Principal
from tokonoma.core.errors import Limited, Refusal, Unauthenticated, Unavailable, Unready, format_refusal
from tokonoma.server.http.asgi import (
    CALLER,
    CORS,
    HEADERS,
    Event,
    HttpLimits,
    HttpResponse,
    PostRequest,
    Receive,
    Send,
    format_event,
)
from tokonoma.server.http.body import SMALL, BodyMemory, BodyShare, EarlyBody, read_body
from tokonoma.server.http.security import (
    PREFLIGHT_HEADERS,
    HeaderList,
    Headers,
    HttpError,
    parse_accept,
)
from tokonoma.server.http.stream import MessageQueue, deliver
from tokonoma.server.mcp import message as rpc
from tokonoma.server.mcp.interface import Dispatcher
from tokonoma.server.mcp.message import Message
from tokonoma.server.mcp.methods import answer_request
from tokonoma.server.mcp.tool_call import ToolCall
from tokonoma.server.mcp.versions import (
    META_CLIENT,
    check_modern,
    check_notification,
    claims_modern,
    format_client,
)

CHALLENGE = 'Bearer realm="tokonoma"'

# The HTTP status of a JSON-RPC error; all others are sent with 200. The handshake era knows the first four only.
_STATUS = {rpc.PARSE_ERROR: 400, rpc.INVALID_REQUEST: 400, rpc.LIMITED: 429, rpc.UNAUTHENTICATED: 401}
_STATUS_MODERN = _STATUS | dict.fromkeys(
    (rpc.INVALID_PARAMS, rpc.HEADER_MISMATCH, rpc.MISSING_CAPABILITY, rpc.UNSUPPORTED_VERSION), 400
)
_STATUS_MODERN[rpc.METHOD_NOT_FOUND] = 404

CancelKey = tuple[str, str, rpc.RequestId]
"""Session, principal and request id."""


class McpEndpoint:
    """A raw ASGI endpoint: builds no request object and keeps no session."""

    def __init__(self, dispatcher: Dispatcher, limits: HttpLimits, challenge: str) -> None:
        self._dispatcher = dispatcher
        self._limits = limits
        self._memory = BodyMemory(limits)
        self._challenge = challenge
        # Only one thread: of many requests with one credential, the first asks and the others find what it found.
        self._identifying = ThreadPoolExecutor(1, "tokonoma-identify")
        self._running: set[ToolCall] = set()
        # Calls that a client may cancel, each with the body that then ends its response.
        self._cancellable: dict[CancelKey, tuple[ToolCall, bytes]] = {}

    async def __call__(self, scope: Event, receive: Receive, send: Send) -> None:
        cors: HeaderList = scope[CORS]
        if scope["method"] == "POST":
            json, sse = _check_headers(scope[HEADERS])
            caller: Caller = scope[CALLER]
            if self._dispatcher.recall(caller) is None:
                receive = EarlyBody(receive)
            share = BodyShare(self._memory)
            try:
                post = PostRequest(scope[HEADERS], caller, await self.identify(caller), cors, json, sse)
                await self._serve_post(post, share, receive, send)
            finally:
                share.release()
                if isinstance(receive, EarlyBody):
                    receive.drop()
        elif scope["method"] == "OPTIONS" and cors:
            await HttpResponse(200, b"", [*PREFLIGHT_HEADERS, *cors]).send(send)
        else:
            # The server sends no messages of its own, and there is no session to end.
            raise HttpError(405, "Method not allowed. Use POST.", (b"allow", b"POST"))

    async def _serve_post(self, post: PostRequest, share: BodyShare, receive: Receive, send: Send) -> None:
        queue = MessageQueue()
        # The body is an argument only: a variable would keep it for as long as the call runs.
        outcome = await self._handle(post, await read_body(receive, post.headers, self._limits, share), queue)
        if isinstance(outcome, HttpResponse):
            await outcome.send(send)
        else:
            await deliver(outcome, post, queue, self._limits, receive, send)

    def stop(self) -> None:
        """Ask every running call to end early; each still answers."""
        for call in list(self._running):
            call.stop()

    async def identify(self, caller: Caller) -> Principal:
        """Return the caller's principal; HttpError with 401, 403, 429, 500 or 503. A database that does not answer
        keeps this request waiting, and not the others."""
        try:
            principal = self._dispatcher.recall(caller)
            if principal is None:
                loop = asyncio.get_running_loop()
                principal = await loop.run_in_executor(self._identifying, self._dispatcher.identify, caller)
        except Refusal as refusal:
            raise self.to_http_error(caller, refusal) from refusal
        except Exception as error:
            rpc.log_fault(error, "identify")
            raise HttpError(500, "Internal error", code=rpc.INTERNAL_ERROR) from error
        caller.principal = principal
        return principal

    async def _handle(self, post: PostRequest, raw: bytes, queue: MessageQueue) -> HttpResponse | ToolCall:
        """Return the response, or the call that was started; its messages go to the queue."""
        modern = False
        try:
            message = rpc.parse_message(raw) if len(raw) <= SMALL else await asyncio.to_thread(rpc.parse_message, raw)
            modern = message is not None and claims_modern(message, post.headers)
            if message is None or message.id is None:
                return self._accept_notification(post, message, modern)
            if modern:
                check_modern(message, post.headers)
                post.caller.client = format_client(message.meta.get(META_CLIENT)) or post.caller.client
            if message.method == "tools/call":
                return self._start_call(post, message, modern, queue)
            return self._answer(post, message, modern)
        except rpc.ProtocolError as error:
            return self._to_response(post, error, modern)

    def _answer(self, post: PostRequest, message: Message, modern: bool) -> HttpResponse:
        content = answer_request(self._dispatcher, message, post.caller, modern)
        extra = post.cors
        if message.method == "initialize":
            # Lets a client cancel its calls. Nothing else depends on it, and any value is accepted later, so a
            # restart of this server breaks no client.
            extra = [*extra, (b"mcp-session-id", os.urandom(16).hex().encode())]
        if post.json:
            return HttpResponse(200, content, extra)
        return HttpResponse(200, format_event(content), extra, b"text/event-stream")

    def _start_call(self, post: PostRequest, message: Message, modern: bool, queue: MessageQueue) -> ToolCall:
        key = None if modern else _cancel_key(post, message.id)
        on_end = self._running.discard if key is None else partial(self._forget, key)
        call = ToolCall(self._dispatcher, message, modern, queue.put, on_end)
        self._running.add(call)
        if key is not None:
            # A cancelled request is not answered: its stream ends. A client that takes no streams still needs a body.
            body = b"" if post.sse else rpc.encode_error(message.id, rpc.REQUEST_CANCELLED, "Request cancelled")
            self._cancellable[key] = call, body
        try:
            trace = post.headers.get(b"traceparent", b"").decode("latin-1")
            call.start(post.caller, trace, listening=post.sse)
        except BaseException:
            on_end(call)
            raise
        return call

    def _forget(self, key: CancelKey, call: ToolCall) -> None:
        self._running.discard(call)
        if self._cancellable.get(key, (None,))[0] is call:  # a client may have used the id again
            self._cancellable.pop(key, None)

    def _accept_notification(self, post: PostRequest, message: Message | None, modern: bool) -> HttpResponse:
        """Accept a notification, or (None) a response, with an empty body."""
        if message is not None:
            check_notification(message, post.headers)
            if not modern and message.method == "notifications/cancelled":
                key = _cancel_key(post, message.params.get("requestId"))
                if key in self._cancellable:
                    call, body = self._cancellable[key]
                    call.cancel(body)
        return HttpResponse(202, b"", post.cors)

    def _to_response(self, post: PostRequest, error: rpc.ProtocolError, modern: bool) -> HttpResponse:
        status = (_STATUS_MODERN if modern else _STATUS).get(error.code, 200)
        extra = post.cors
        if status == 429:
            extra = [*extra, *_retry_after(error.data)]
        elif status == 401:
            extra = [*extra, self._www_authenticate(post.caller)]
        return HttpResponse(status, rpc.encode_protocol_error(error), extra)

    def to_http_error(self, caller: Caller, refusal: Refusal) -> HttpError:
        code, reason = rpc.rpc_code(refusal), format_refusal(refusal)
        if isinstance(refusal, Unauthenticated):
            return HttpError(401, refusal.message, self._www_authenticate(caller), code=code, refusal=reason)
        if isinstance(refusal, Limited):
            return HttpError(429, refusal.message, *_retry_after(refusal.details), code=code)
        if isinstance(refusal, Unready | Unavailable):
            return HttpError(503, refusal.message, *_retry_after(refusal.details), code=code)
        return HttpError(403, refusal.message, code=code, refusal=reason)

    def _www_authenticate(self, caller: Caller) -> tuple[bytes, bytes]:
        challenge = self._challenge if caller.token is None else f'{self._challenge}, error="invalid_token"'
        return (b"www-authenticate", challenge.encode("latin-1"))


def _check_headers(headers: Headers) -> tuple[bool, bool]:
    """Check what needs neither the caller nor the body; whether the client takes JSON, and a stream."""
    if headers.get(b"content-type", b"").partition(b";")[0].strip().lower() != b"application/json":
        raise HttpError(415, "Content-Type must be application/json")
    json, sse = parse_accept(headers.get(b"accept"))
    if not json and not sse:
        raise HttpError(406, "The Accept header must allow application/json or text/event-stream")
    return json, sse


def _cancel_key(post: PostRequest, id: Any) -> CancelKey | None:
    session = post.headers.get(b"mcp-session-id")
    return (session.decode("latin-1"), post.principal.name, id) if session and rpc.is_id(id) else None


def _retry_after(details: Any) -> HeaderList:
    seconds = cast("dict[str, Any]", details).get("retry_after") if isinstance(details, dict) else None
    if not isinstance(seconds, int | float):
        return []
    return [(b"retry-after", b"%d" % max(1, math.ceil(seconds)))]
