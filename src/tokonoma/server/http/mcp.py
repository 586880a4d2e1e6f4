"""`POST /mcp`: one message in, one answer out. No state survives a request except the running calls, and what sessions
watch."""

import asyncio
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial

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
    choose_status,
)
from tokonoma.server.http.body import SMALL, BodyMemory, BodyShare, EarlyBody, read_body
from tokonoma.server.http.listen import NotificationStreams, SessionKey, WatchStore, find_session_key
from tokonoma.server.http.posts import (
    CancelKey,
    build_answer,
    check_post_headers,
    find_cancel_key,
    format_retry_after,
)
from tokonoma.server.http.security import (
    PREFLIGHT_HEADERS,
    HeaderList,
    HttpError,
    parse_accept,
)
from tokonoma.server.http.stream import MessageQueue, deliver, deliver_notifications
from tokonoma.server.mcp import message as rpc
from tokonoma.server.mcp.interface import Dispatcher
from tokonoma.server.mcp.listen import LISTEN, Listening
from tokonoma.server.mcp.message import Message
from tokonoma.server.mcp.methods import answer_request
from tokonoma.server.mcp.resource_calls import takes_call
from tokonoma.server.mcp.subscribe import UNSUBSCRIBE, convert_for, unsubscribe
from tokonoma.server.mcp.tool_call import ToolCall
from tokonoma.server.mcp.versions import (
    META_CLIENT,
    check_modern,
    check_notification,
    claims_modern,
    format_client,
)
from tokonoma.server.mcp.watch import ResourceWatch

CHALLENGE = 'Bearer realm="tokonoma"'
RESOURCE_PATH = "/.well-known/oauth-protected-resource/mcp"
"""Where a client learns how to sign in (RFC 9728)."""


class McpEndpoint:
    """A raw ASGI endpoint: builds no request object and keeps no session."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        limits: HttpLimits,
        offers_oauth: Callable[[str], bool],
        watches: WatchStore | None = None,
    ) -> None:
        self._dispatcher = dispatcher
        self._limits = limits
        self._memory = BodyMemory(limits)
        self._offers_oauth = offers_oauth
        # Only one thread: of many requests with one credential, the first asks and the others find what it found.
        self._identifying = ThreadPoolExecutor(1, "tokonoma-identify")
        self._running: set[ToolCall] = set()
        # Calls that a client may cancel, each with the body that then ends its response.
        self._cancellable: dict[CancelKey, tuple[ToolCall, bytes]] = {}
        self._streams = NotificationStreams(dispatcher, limits.streams, watches)

    async def __call__(self, scope: Event, receive: Receive, send: Send) -> None:
        cors: HeaderList = scope[CORS]
        if scope["method"] == "POST":
            json, sse = check_post_headers(scope[HEADERS])
            caller: Caller = scope[CALLER]
            caller.principal = self._dispatcher.recall(caller)
            if caller.principal is None:
                receive = EarlyBody(receive)
            share = BodyShare(self._memory)
            try:
                principal = caller.principal or await self.identify(caller)
                post = PostRequest(scope[HEADERS], caller, principal, cors, json, sse)
                await self._serve_post(post, share, receive, send)
            finally:
                share.release()
                if isinstance(receive, EarlyBody):
                    receive.drop()
        elif scope["method"] == "OPTIONS" and cors:
            await HttpResponse(200, b"", [*PREFLIGHT_HEADERS, *cors]).send(send)
        elif scope["method"] in ("GET", "DELETE") and b"mcp-session-id" in scope[HEADERS]:
            await self._serve_session(scope, receive, send)
        else:
            # Without a session there is nothing to listen to, and nothing to end.
            raise HttpError(405, "Method not allowed. Use POST.", (b"allow", b"POST"))

    async def _serve_session(self, scope: Event, receive: Receive, send: Send) -> None:
        """GET opens the stream of a session with a handshake, DELETE forgets what it watches."""
        caller: Caller = scope[CALLER]
        principal = self._dispatcher.recall(caller) or await self.identify(caller)
        key = find_session_key(scope[HEADERS], principal)
        if key is None:
            raise HttpError(400, "Mcp-Session-Id must be the one that initialize has returned")
        if scope["method"] == "DELETE":
            await self._forget_watched(caller, key)
            await HttpResponse(200, b"", scope[CORS]).send(send)
            return
        if not parse_accept(scope[HEADERS].get(b"accept"))[1]:
            raise HttpError(406, "The Accept header must allow text/event-stream")
        try:
            session, queue = await self._streams.open_stream(key, caller)
        except Limited as refusal:
            raise self.to_http_error(caller, refusal) from refusal

        def on_gone() -> None:
            session.close_stream(queue)
            self._streams.close_later(key)

        await deliver_notifications(queue, scope[CORS], self._limits.beat, receive, send, on_gone)

    async def _serve_post(self, post: PostRequest, share: BodyShare, receive: Receive, send: Send) -> None:
        queue = MessageQueue()
        # The body is an argument only: a variable would keep it for as long as the call runs.
        outcome = await self._handle(post, await read_body(receive, post.headers, self._limits, share), queue)
        if isinstance(outcome, HttpResponse):
            await outcome.send(send)
        elif isinstance(outcome, Listening):
            share.release()  # it stays open for long, and its body is not needed any more
            first = await queue.get(None)
            await deliver_notifications(queue, post.cors, self._limits.beat, receive, send, outcome.cancel, first)
        else:
            follow = partial(self._follow, outcome, post.caller)
            await deliver(outcome, post, queue, self._limits, receive, send, follow)

    def _follow(self, call: ToolCall, caller: Caller) -> Callable[[], None]:
        def on_loss(refusal: Refusal, ended: bool) -> None:
            name, value = self._www_authenticate(caller)
            call.refuse(refusal, {name.decode(): value.decode("latin-1")} if ended else None)

        return self._dispatcher.follow_access(caller, on_loss)

    def stop(self) -> None:
        """Ask every running call to end early; each still answers."""
        for call in list(self._running):
            call.stop()
        self._streams.stop()

    async def identify(self, caller: Caller) -> Principal:
        """Return the caller's principal; HttpError with 401, 403, 429, 500 or 503. A database that does not answer
        keeps this request waiting, and not the others."""
        loop = asyncio.get_running_loop()
        try:
            principal = await loop.run_in_executor(self._identifying, self._dispatcher.identify, caller)
        except Refusal as refusal:
            raise self.to_http_error(caller, refusal) from refusal
        except Exception as error:
            rpc.log_fault(error, "identify")
            raise HttpError(500, "Internal error", code=rpc.INTERNAL_ERROR) from error
        caller.principal = principal
        return principal

    async def _handle(self, post: PostRequest, raw: bytes, queue: MessageQueue) -> HttpResponse | ToolCall | Listening:
        """Return the response, or what was started; its messages go to the queue."""
        modern = False
        try:
            message = rpc.parse_message(raw) if len(raw) <= SMALL else await asyncio.to_thread(rpc.parse_message, raw)
            modern = message is not None and claims_modern(message, post.headers)
            if message is None or message.id is None:
                return self._accept_notification(post, message, modern)
            if modern:
                check_modern(message, post.headers)
                post.caller.client = format_client(message.meta.get(META_CLIENT)) or post.caller.client
            if takes_call(self._dispatcher, message, post.caller, modern):
                return self._start_call(post, message, modern, queue)
            if message.method == LISTEN and modern:
                return self._listen(post, message, queue)
            if message.method == UNSUBSCRIBE and not modern:
                return await self._unsubscribe(post, message)
            return self._answer(post, message, modern)
        except rpc.ProtocolError as error:
            return self._to_response(post, error, modern)

    def _listen(self, post: PostRequest, message: Message, queue: MessageQueue) -> Listening:
        if not post.sse:
            raise message.error(f"{LISTEN} is answered by a stream: accept text/event-stream")
        try:
            return self._streams.listen(post, message, queue)
        except Limited as refusal:
            raise rpc.to_protocol_error(message, refusal) from refusal

    def _answer(self, post: PostRequest, message: Message, modern: bool) -> HttpResponse:
        content = answer_request(self._dispatcher, message, post.caller, modern)
        extra = post.cors
        if message.method == "initialize":
            # Lets a client cancel its calls. Nothing else depends on it, and any value is accepted later, so a
            # restart of this server breaks no client.
            extra = [*extra, (b"mcp-session-id", os.urandom(16).hex().encode())]
        return build_answer(post, content, extra)

    async def _unsubscribe(self, post: PostRequest, message: Message) -> HttpResponse:
        content = unsubscribe(message, self._streams.find_watch(post, message))
        key = find_session_key(post.headers, post.principal)
        if key is not None:
            await self._forget_watched(post.caller, key, message.params["uri"])
        return build_answer(post, content, post.cors)

    async def _forget_watched(self, caller: Caller, key: SessionKey, uri: str | None = None) -> None:
        try:
            await self._streams.forget(key, uri)
        except Refusal as refusal:
            raise self.to_http_error(caller, refusal) from refusal

    def _note_watched(self, post: PostRequest, marks: Mapping[str, str]) -> None:
        """On a worker thread."""
        key = find_session_key(post.headers, post.principal)
        if self._streams.store is not None and key is not None:
            self._streams.store.save(key, marks)

    def _start_call(self, post: PostRequest, message: Message, modern: bool, queue: MessageQueue) -> ToolCall:
        key = None if modern else find_cancel_key(post, message.id)
        on_end = self._running.discard if key is None else partial(self._forget, key)
        watch = None if modern else self._find_watch(post, message)
        convert = convert_for(message, watch, partial(self._note_watched, post))
        call = ToolCall(self._dispatcher, message, modern, queue.put, on_end, convert)
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

    def _find_watch(self, post: PostRequest, message: Message) -> ResourceWatch | None:
        try:
            return self._streams.find_watch(post, message)
        except Limited as refusal:
            raise rpc.to_protocol_error(message, refusal) from refusal

    def _forget(self, key: CancelKey, call: ToolCall) -> None:
        self._running.discard(call)
        if self._cancellable.get(key, (None,))[0] is call:  # a client may have used the id again
            self._cancellable.pop(key, None)

    def _accept_notification(self, post: PostRequest, message: Message | None, modern: bool) -> HttpResponse:
        """Accept a notification, or (None) a response, with an empty body."""
        if message is not None:
            check_notification(message, post.headers)
            if not modern and message.method == "notifications/cancelled":
                key = find_cancel_key(post, message.params.get("requestId"))
                if key in self._cancellable:
                    call, body = self._cancellable[key]
                    call.cancel(body)
        return HttpResponse(202, b"", post.cors)

    def _to_response(self, post: PostRequest, error: rpc.ProtocolError, modern: bool) -> HttpResponse:
        status = choose_status(error.code, modern)
        extra = post.cors
        if status == 429:
            extra = [*extra, *format_retry_after(error.data)]
        elif status == 401:
            extra = [*extra, self._www_authenticate(post.caller)]
        return HttpResponse(status, rpc.encode_protocol_error(error), extra)

    def to_http_error(self, caller: Caller, refusal: Refusal) -> HttpError:
        code, reason = rpc.rpc_code(refusal), format_refusal(refusal)
        if isinstance(refusal, Unauthenticated):
            return HttpError(401, refusal.message, self._www_authenticate(caller), code=code, refusal=reason)
        if isinstance(refusal, Limited):
            return HttpError(429, refusal.message, *format_retry_after(refusal.details), code=code)
        if isinstance(refusal, Unready | Unavailable):
            return HttpError(503, refusal.message, *format_retry_after(refusal.details), code=code)
        return HttpError(403, refusal.message, code=code, refusal=reason)

    def _www_authenticate(self, caller: Caller) -> tuple[bytes, bytes]:
        challenge = CHALLENGE
        if self._offers_oauth(caller.origin):
            challenge += f', resource_metadata="{caller.origin}{RESOURCE_PATH}", scope="mcp"'
        if caller.token is not None:
            challenge += ', error="invalid_token"'
        return (b"www-authenticate", challenge.encode("latin-1"))
