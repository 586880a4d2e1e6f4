"""MCP over HTTP: each message is a POST, answered by JSON or by a stream of events."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Protocol
from urllib.parse import SplitResult, urlsplit

import httpx

from tokonoma.core.errors import Invalid, Refusal, Unavailable
from tokonoma.core.network import is_loopback
from tokonoma.services.http import AnswerIncomplete, AnswerTooLong, read_body
from tokonoma.upstream import wire
from tokonoma.upstream.sse import StreamPosition, read_events
from tokonoma.upstream.transport import FailRequest
from tokonoma.upstream.wire import MAX_MESSAGE, ConnectionLost, JsonObject, RpcFailure

_SESSION = "Mcp-Session-Id"
_ACCEPT = "application/json, text/event-stream"
_MAX_RESUMES = 3
_MAX_ERROR = 2**20
_NO_SUCH_METHOD = (404, 405)
_LARGE = Unavailable(f"The server sent a message of more than {MAX_MESSAGE} bytes.", reason="too_large")

Receive = Callable[[JsonObject], None]


class HttpAuth(Protocol):
    """The headers that open the server, and what to do if it refuses them."""

    async def get_headers(self) -> Mapping[str, str]: ...

    # After a status of 401 or 403: True if the request is to be sent again, with other headers.
    async def renew(self, status: int, challenge: str) -> bool: ...

    # If it was not: the error that says what to do.
    def explain(self, status: int, challenge: str) -> Refusal: ...


def check_server_url(url: str) -> str:
    """`https://…`, or `http://` on this machine alone."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        parts = SplitResult("", "", "", "", "")
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or ""))
    if not is_safe or not parts.hostname or "@" in parts.netloc or parts.fragment or not url.isascii() or " " in url:
        message = "The address of a server must begin with https://, or with http:// on this machine alone."
        raise Invalid(f"{message} Keys belong into a header, not into the address.", field="url")
    return url


class HttpTransport:
    """Streamable HTTP, in either era."""

    patience = 30.0

    def __init__(self, http: httpx.AsyncClient, url: str, auth: HttpAuth) -> None:
        self._http, self._url, self._auth = http, url, auth
        self._session = self._version = ""
        self._modern = False
        self._posts: dict[int, asyncio.Task[None]] = {}
        self._listener: asyncio.Task[None] | None = None

    async def start(self, receive: Receive, fail: FailRequest) -> None:
        self._receive, self._fail = receive, fail

    async def send(self, message: JsonObject, headers: Mapping[str, str]) -> None:
        request_id = message.get("id") if "method" in message else None
        if not isinstance(request_id, int):
            await self._post(message, headers, None)
            return
        task = asyncio.get_running_loop().create_task(self._post(message, headers, request_id))
        self._posts[request_id] = task
        task.add_done_callback(lambda _: self._posts.pop(request_id, None))

    def settle(self, version: str, modern: bool) -> None:
        self._version, self._modern = version, modern
        if not modern and self._session:
            self._listener = asyncio.get_running_loop().create_task(self._listen())

    def abandon(self, request_id: int) -> bool:
        """In the stateless era the closed stream says it; before, the server goes on until it is told."""
        task = self._posts.get(request_id)
        if task is not None:
            task.cancel()
        return self._modern

    async def close(self) -> None:
        tasks = [*self._posts.values(), *filter(None, [self._listener])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._session and not self._modern:
            try:
                async with asyncio.timeout(1):
                    await self._http.delete(self._url, headers=await self._build_headers({}))
            except (httpx.HTTPError, TimeoutError, Refusal):
                pass  # it forgets the session by itself

    async def _build_headers(self, given: Mapping[str, str]) -> dict[str, str]:
        headers = {"Accept": _ACCEPT, "Content-Type": "application/json", **await self._auth.get_headers()}
        if self._session:
            headers[_SESSION] = self._session
        if self._version and not self._modern:
            headers["MCP-Protocol-Version"] = self._version
        return {**headers, **given}

    async def _post(self, message: JsonObject, given: Mapping[str, str], request_id: int | None) -> None:
        try:
            await self._post_until_allowed(wire.encode(message), given, request_id)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            self._fail(ConnectionLost(f"The server cannot be reached ({type(error).__name__})."), request_id)
        except AnswerTooLong:
            self._fail(_LARGE, request_id)
        except (AnswerIncomplete, ValueError):
            self._fail(RpcFailure(-32700, "The server's answer cannot be read."), request_id)
        except (Refusal, ConnectionLost, RpcFailure) as error:
            self._fail(error, request_id)

    async def _post_until_allowed(self, content: bytes, given: Mapping[str, str], request_id: int | None) -> None:
        status, challenge = 401, ""
        for _ in range(3):
            headers = await self._build_headers(given)
            async with self._http.stream("POST", self._url, headers=headers, content=content) as response:
                if response.status_code not in (401, 403):
                    await self._take_response(response, request_id)
                    return
                challenge = ", ".join(response.headers.get_list("www-authenticate"))
                status = response.status_code
            if not await self._auth.renew(status, challenge):
                break
        raise self._auth.explain(status, challenge)

    async def _take_response(self, response: httpx.Response, request_id: int | None) -> None:
        self._session = response.headers.get(_SESSION, self._session)
        status, kind = response.status_code, response.headers.get("content-type", "").partition(";")[0].strip()
        if status >= 300:
            await self._take_refusal(response, request_id)
        elif request_id is not None and kind == "text/event-stream":
            await self._take_events(response, request_id)
        elif request_id is not None and status == 202:
            raise RpcFailure(-32600, "The server has accepted the request without an answer (202).")
        elif request_id is not None:
            for message in wire.parse_messages(await read_body(response, MAX_MESSAGE)):
                self._receive(message)

    async def _take_refusal(self, response: httpx.Response, request_id: int | None) -> None:
        status = response.status_code
        if status == 404 and self._session:
            self._fail(ConnectionLost("The server has forgotten this session."))
            return
        if 300 <= status < 400:
            raise RpcFailure(-32600, f"The server redirects (status {status}): add it with its final address.")
        try:
            told = wire.parse_messages(await read_body(response, _MAX_ERROR))[0]
        except (ValueError, IndexError, AnswerTooLong, AnswerIncomplete):
            told = {}
        if "error" in told:
            raise wire.to_failure(told["error"])
        code = wire.METHOD_NOT_FOUND if status in _NO_SUCH_METHOD else -32603
        raise RpcFailure(code, f"The server answered with status {status}.", {"http_status": status})

    async def _take_events(self, response: httpx.Response, request_id: int) -> None:
        """Until the answer has come. A stream that ends before is asked for again, from where it ended."""
        position = StreamPosition()
        if await self._read_stream(response, position, request_id):
            return
        for _ in range(_MAX_RESUMES):
            if position.event_id is None or self._modern:
                break
            await asyncio.sleep(position.pause)
            headers = await self._build_headers({"Last-Event-ID": position.event_id})
            async with self._http.stream("GET", self._url, headers=headers) as again:
                if again.status_code != 200:
                    break
                if await self._read_stream(again, position, request_id):
                    return
        raise ConnectionLost("The server has ended its answer early.")

    async def _read_stream(self, response: httpx.Response, position: StreamPosition, request_id: int | None) -> bool:
        """True once the answer to this request has come."""
        async for event in read_events(response):
            position.take(event)
            if not event.data or event.event != "message":
                continue
            for message in wire.parse_messages(event.data):
                self._receive(message)
                if request_id is not None and message.get("id") == request_id and "method" not in message:
                    return True
        return False

    async def _listen(self) -> None:
        """What a server of the era with a handshake says by itself. Many offer no such stream."""
        position, failures = StreamPosition(), 0
        while failures < _MAX_RESUMES:
            given = {} if position.event_id is None else {"Last-Event-ID": position.event_id}
            try:
                headers = await self._build_headers(given)
                async with self._http.stream("GET", self._url, headers=headers) as response:
                    kind = response.headers.get("content-type", "")
                    if response.status_code != 200 or not kind.startswith("text/event-stream"):
                        return
                    await self._read_stream(response, position, None)
            except (httpx.HTTPError, Refusal, ValueError, AnswerIncomplete):
                failures += 1
            await asyncio.sleep(position.pause)
