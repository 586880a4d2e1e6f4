"""The headers of a POST, and the response to one."""

import math
from typing import Any, cast

from tokonoma.server.http.asgi import HttpResponse, PostRequest, format_event
from tokonoma.server.http.security import HeaderList, Headers, HttpError, parse_accept
from tokonoma.server.mcp import message as rpc

CancelKey = tuple[str, str, rpc.RequestId]
"""Session, principal and request id."""


def build_answer(post: PostRequest, content: bytes, extra: HeaderList) -> HttpResponse:
    if post.json:
        return HttpResponse(200, content, extra)
    return HttpResponse(200, format_event(content), extra, b"text/event-stream")


def check_post_headers(headers: Headers) -> tuple[bool, bool]:
    """Check what needs neither the caller nor the body; whether the client takes JSON, and a stream."""
    if headers.get(b"content-type", b"").partition(b";")[0].strip().lower() != b"application/json":
        raise HttpError(415, "Content-Type must be application/json")
    json, sse = parse_accept(headers.get(b"accept"))
    if not json and not sse:
        raise HttpError(406, "The Accept header must allow application/json or text/event-stream")
    return json, sse


def find_cancel_key(post: PostRequest, id: Any) -> CancelKey | None:
    session = post.headers.get(b"mcp-session-id")
    return (session.decode("latin-1"), post.principal.name, id) if session and rpc.is_id(id) else None


def format_retry_after(details: Any) -> HeaderList:
    seconds = cast("dict[str, Any]", details).get("retry_after") if isinstance(details, dict) else None
    if not isinstance(seconds, int | float):
        return []
    return [(b"retry-after", b"%d" % max(1, math.ceil(seconds)))]
