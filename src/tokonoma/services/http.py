"""The one HTTP client of an event loop: kept connections, HTTP/2 where it is offered, no redirects, no cookies."""

import asyncio
import ssl
import zlib
from collections.abc import Callable
from http.cookiejar import CookieJar, DefaultCookiePolicy

import httpx

MAX_BYTES = 16 * 2**20
"""Bytes of one answer, after decompression."""

CONNECT_SECONDS = 10.0
_IDLE_SECONDS = 30.0


class OutgoingHttp:
    """Opens a client in each event loop that asks for one, and closes it with that loop's tasks."""

    def __init__(self) -> None:
        self._opened: dict[asyncio.AbstractEventLoop, tuple[httpx.AsyncClient, asyncio.Task[None]]] = {}

    def get(self) -> httpx.AsyncClient:
        loop = asyncio.get_running_loop()
        found = self._opened.get(loop)
        if found is None:
            self._opened = {each: held for each, held in self._opened.items() if not each.is_closed()}
            client = open_client()
            found = self._opened[loop] = client, loop.create_task(_hold(client))
        return found[0]


async def _hold(client: httpx.AsyncClient) -> None:
    """Wait until the loop's tasks are cancelled at its end: connections can be closed only while it runs."""
    try:
        await asyncio.Event().wait()
    finally:
        await client.aclose()


def open_client() -> httpx.AsyncClient:
    """Proxies and certificates of the environment are ignored: only `app` reads the environment."""
    context = httpx.create_ssl_context(trust_env=False)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return httpx.AsyncClient(
        verify=context,
        http2=True,
        trust_env=False,
        follow_redirects=False,
        # All accounts share the client: what a service sets for one of them must not be sent for another.
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        headers={"User-Agent": "tokonoma", "Accept": "application/json", "Accept-Encoding": "gzip"},
        timeout=httpx.Timeout(None, connect=CONNECT_SECONDS),  # callers have deadlines
        limits=httpx.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=_IDLE_SECONDS),
    )


class AnswerTooLong(Exception):
    """The body has more than the allowed bytes."""


class AnswerIncomplete(Exception):
    """The body ends early, or is compressed in a way that was not asked for."""


async def read_body(response: httpx.Response, most: int = MAX_BYTES) -> bytes:
    """The whole body, decompressed. A small one that unpacks to a huge one is not unpacked beyond the limit."""
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "", "gzip", "x-gzip", "deflate"):
        raise AnswerIncomplete
    unpacker = zlib.decompressobj(47) if encoding not in ("identity", "") else None  # 47: gzip or zlib, by its header
    found = bytearray()
    async for chunk in response.aiter_raw():
        found += chunk if unpacker is None else _unpack(unpacker.decompress, chunk, most + 1 - len(found))
        if len(found) > most:
            raise AnswerTooLong
    if unpacker is not None and found and not unpacker.eof:
        raise AnswerIncomplete
    return bytes(found)


def _unpack(decompress: Callable[[bytes, int], bytes], chunk: bytes, most: int) -> bytes:
    try:
        return decompress(chunk, most)
    except zlib.error as error:
        raise AnswerIncomplete from error
