"""`GET /services/callback`: where a service sends the owner's browser back after a consent; and `GET
/services/client.json`, which says to services who asks for it."""

import asyncio
from collections.abc import Callable

import orjson

from tokonoma.server.http.asgi import Event, HttpResponse, Receive, Send
from tokonoma.server.http.security import HeaderList, HttpError
from tokonoma.services.sign_in import CALLBACK_PATH, DOCUMENT_PATH, build_client_document

ReceiveAnswer = Callable[[str], tuple[int, str, str]]
"""The query of the request → the status, the text of the page, and where a consent leads that began on a page."""

_HEADERS: HeaderList = [
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),  # the address of this page holds the code
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'"),
]


class ConsentCallback:
    """Needs no key: the state in the query is one. Nothing that was sent is repeated on the page."""

    PATH = CALLBACK_PATH

    def __init__(self, receive_answer: ReceiveAnswer) -> None:
        self._receive_answer = receive_answer

    async def __call__(self, scope: Event, receive: Receive, send: Send) -> None:
        if scope["method"] != "GET":  # a HEAD, as some programs send before, must not use the state up
            raise HttpError(405, "Method not allowed. Use GET.", (b"allow", b"GET"))
        query = scope["query_string"].decode("latin-1")
        status, text, location = await asyncio.to_thread(self._receive_answer, query)
        headers = [*_HEADERS, *([(b"location", location.encode("ascii"))] if location else [])]
        await HttpResponse(status, text.encode(), headers, b"text/plain; charset=utf-8").send(send)


class ClientDocument:
    """For authorization servers that know a client by the address of its metadata."""

    PATH = DOCUMENT_PATH

    def __init__(self, public_url: str) -> None:
        self._content = orjson.dumps(build_client_document(public_url))

    async def __call__(self, scope: Event, receive: Receive, send: Send) -> None:
        if scope["method"] not in ("GET", "HEAD"):
            raise HttpError(405, "Method not allowed. Use GET.", (b"allow", b"GET, HEAD"))
        await HttpResponse(200, self._content, [(b"cache-control", b"max-age=3600")]).send(send)
