"""HTTP+SSE of 2024-11-05, the way before Streamable HTTP: all answers come on one stream."""

import asyncio
from collections.abc import Callable, Mapping
from urllib.parse import urljoin, urlsplit

import httpx

from tokonoma.core.errors import Refusal, Unavailable
from tokonoma.services.http import AnswerIncomplete
from tokonoma.upstream import wire
from tokonoma.upstream.http import HttpAuth
from tokonoma.upstream.sse import ServerEvent, read_events
from tokonoma.upstream.transport import FailRequest
from tokonoma.upstream.wire import ConnectionLost, JsonObject, RpcFailure


class SseTransport:
    """The stream says where messages are posted to."""

    patience = 10.0

    def __init__(self, http: httpx.AsyncClient, url: str, auth: HttpAuth) -> None:
        self._http, self._url, self._auth = http, url, auth
        self._reader: asyncio.Task[None] | None = None

    async def start(self, receive: Callable[[JsonObject], None], fail: FailRequest) -> None:
        self._receive, self._fail = receive, fail
        loop = asyncio.get_running_loop()
        self._endpoint: asyncio.Future[str] = loop.create_future()
        self._reader = loop.create_task(self._read())
        await self._endpoint

    async def send(self, message: JsonObject, headers: Mapping[str, str]) -> None:
        url = await asyncio.shield(self._endpoint)
        sent = {"Content-Type": "application/json", **await self._auth.get_headers()}
        try:
            response = await self._http.post(url, headers=sent, content=wire.encode(message))
        except httpx.HTTPError as error:
            raise ConnectionLost(f"The server cannot be reached ({type(error).__name__}).") from error
        if response.status_code >= 300:
            raise self._explain(response)

    def settle(self, version: str, modern: bool) -> None:
        pass

    def abandon(self, request_id: int) -> bool:
        return False

    async def close(self) -> None:
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)

    async def _read(self) -> None:
        why: Exception = ConnectionLost("The server has closed its stream.")
        try:
            headers = {"Accept": "text/event-stream", **await self._auth.get_headers()}
            async with self._http.stream("GET", self._url, headers=headers) as response:
                if response.status_code != 200:
                    why = self._explain(response)
                else:
                    async for event in read_events(response):
                        self._take(event)
        except (httpx.HTTPError, AnswerIncomplete) as error:
            why = ConnectionLost(f"The server cannot be reached ({type(error).__name__}).")
        except (Refusal, ValueError) as error:
            why = error if isinstance(error, Refusal) else RpcFailure(-32700, "The server's stream cannot be read.")
        if not self._endpoint.done():
            self._endpoint.set_exception(why)
        self._fail(why)

    def _explain(self, response: httpx.Response) -> Refusal | RpcFailure:
        if response.status_code in (401, 403):
            return self._auth.explain(response.status_code, ", ".join(response.headers.get_list("www-authenticate")))
        return RpcFailure(-32603, f"The server answered with status {response.status_code}.")

    def _take(self, event: ServerEvent) -> None:
        if event.event == "endpoint" and not self._endpoint.done():
            url = urljoin(self._url, event.data)
            if urlsplit(url)[:2] != urlsplit(self._url)[:2]:
                raise Unavailable("The server wants its messages at another host, which is not asked.", reason="origin")
            self._endpoint.set_result(url)
        elif event.event == "message" and event.data:
            for message in wire.parse_messages(event.data):
                self._receive(message)
