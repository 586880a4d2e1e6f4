"""Fetching a client's metadata from a host that a stranger names.

The name is resolved once, all its addresses must be public, and the connection goes to one of exactly these: a second
answer of the name server cannot lead to the machines around this one. Nothing is followed, and everything is bounded.
"""

import asyncio
import json
import queue
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network
from typing import Any
from urllib.parse import SplitResult, urlsplit

import httpx

from tokonoma.core.errors import Invalid, Unavailable
from tokonoma.core.network import IpAddress, parse_ip

MAX_BYTES = 10 * 1024
SECONDS = 5.0
"""For everything together, from the name to the last byte."""

Resolve = Callable[[str, int], Sequence[str]]

_MAX_URL = 2_000  # characters
_UNSAFE = re.compile(r"[^\x21-\x7e]|[\\#\"<>^`{|}]")
_DOTS = re.compile(r"(?:^|/)(?:\.|%2e){1,2}(?:/|$)", re.IGNORECASE)
_HOST = re.compile(r"[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]")
_TRANSLATED = IPv6Network("64:ff9b::/96")  # IPv4 addresses behind a gateway


def resolve_name(host: str, port: int) -> Sequence[str]:
    return [str(each[4][0]) for each in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


def open_transport() -> httpx.AsyncBaseTransport:
    """Proxies and certificates of the environment are ignored: only `app` reads the environment."""
    context = httpx.create_ssl_context(trust_env=False)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return httpx.AsyncHTTPTransport(verify=context, trust_env=False)


@dataclass(frozen=True, slots=True)
class DocumentFetcher:
    """Tests give another resolver, and a transport that reaches their own server."""

    resolve: Resolve = resolve_name
    open_transport: Callable[[], httpx.AsyncBaseTransport] = open_transport
    seconds: float = SECONDS

    def fetch(self, url: str) -> dict[str, Any]:
        """The JSON object at this URL. Invalid for what can never work, Unavailable while the host is away. Blocks, so
        it is never called on an event loop, nor inside a transaction."""
        parts = check_document_url(url)
        until = time.monotonic() + self.seconds
        addresses = _resolve_in_time(self.resolve, parts, self.seconds)
        if not addresses or not all(is_public(each) for each in addresses):
            raise Invalid("The host of the client's metadata is not on the public internet.", reason="address")
        return asyncio.run(self._fetch_from(parts, addresses[0], until))

    async def _fetch_from(self, parts: SplitResult, address: str, until: float) -> dict[str, Any]:
        try:
            async with asyncio.timeout(until - time.monotonic()):
                return await self._request(parts, address)
        except TimeoutError:
            raise Unavailable("The client's metadata did not arrive in time.", reason="timeout") from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            message = f"The client's metadata cannot be fetched ({type(error).__name__})."
            raise Unavailable(message, reason="unreachable") from None

    async def _request(self, parts: SplitResult, address: str) -> dict[str, Any]:
        shown = f"[{address}]" if ":" in address else address
        port = "" if parts.port is None else f":{parts.port}"
        target = parts._replace(netloc=shown + port).geturl()
        headers = {"Host": parts.netloc, "Accept": "application/json", "Accept-Encoding": "identity"}
        headers["User-Agent"] = "tokonoma"
        # The certificate must be that of the name, though the connection goes to the address.
        extensions = {"sni_hostname": (parts.hostname or "").strip("[]")}
        async with (
            httpx.AsyncClient(transport=self.open_transport(), trust_env=False, timeout=self.seconds) as client,
            client.stream("GET", target, headers=headers, extensions=extensions) as response,
        ):
            if response.status_code >= 500 or response.status_code == 429:
                raise Unavailable("The host of the client's metadata has a fault.", reason="status")
            if response.status_code != 200:
                raise Invalid(f"The client's metadata was answered with {response.status_code}.", reason="status")
            return _parse(await _read(response))


def check_document_url(url: str) -> SplitResult:
    """An https URL with a path that every program reads in the same way; Invalid otherwise."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise Invalid("The client id is not a URL.", reason="url") from None
    host = parts.netloc.removesuffix(f":{port}")
    is_plain = url.startswith("https://") and len(url) <= _MAX_URL and not _UNSAFE.search(url)
    if not is_plain or not _HOST.fullmatch(host) or port == 0:
        raise Invalid("The client id must be an https URL without a user or a fragment.", reason="url")
    if parts.path in ("", "/") or _DOTS.search(parts.path):
        raise Invalid("The client id must have a path, without the segments . and ..", reason="url")
    return parts


def is_public(address: str) -> bool:
    """Whether an address belongs to the public internet, also one that carries another inside."""
    found = parse_ip(address.partition("%")[0])
    if found is None or (isinstance(found, IPv6Address) and (found.sixtofour or found.teredo)):
        return False  # tunnels that are out of use, and that Python's versions do not agree on
    return all(each.is_global and not each.is_multicast for each in _list_carried(found))


def _list_carried(address: IpAddress) -> list[IpAddress]:
    if isinstance(address, IPv4Address):
        return [address]
    inside: list[IpAddress] = [address]
    if address in _TRANSLATED or int(address) >> 32 == 0:
        inside.append(IPv4Address(int(address) & 0xFFFFFFFF))
    return inside


def _resolve_in_time(resolve: Resolve, parts: SplitResult, seconds: float) -> Sequence[str]:
    """A name server that does not answer keeps a thread of its own waiting, which ends with the process."""
    host, port = (parts.hostname or "").strip("[]"), parts.port or 443
    answers: queue.SimpleQueue[Sequence[str]] = queue.SimpleQueue()

    def ask() -> None:
        try:
            answers.put(list(dict.fromkeys(resolve(host, port))))
        except (OSError, UnicodeError):
            answers.put([])

    threading.Thread(target=ask, name="tokonoma-resolve", daemon=True).start()
    found: Sequence[str] = ()
    with suppress(queue.Empty):
        found = answers.get(timeout=seconds)
    if not found:
        raise Unavailable("The host of the client's metadata is not known.", reason="name")
    return found


async def _read(response: httpx.Response) -> bytes:
    if response.headers.get("content-encoding", "identity") != "identity":
        raise Invalid("The client's metadata is compressed, which was not asked for.", reason="encoding")
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > MAX_BYTES:
            raise Invalid(f"The client's metadata has more than {MAX_BYTES} bytes.", reason="size")
    return bytes(body)


def _parse(body: bytes) -> dict[str, Any]:
    try:
        value: Any = json.loads(body)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise Invalid("The client's metadata is not a JSON object.", reason="json")
    return value  # type: ignore[reportUnknownVariableType]
