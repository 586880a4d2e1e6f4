"""What a request must look like before anybody reads its body: Host, Origin, content type, what it accepts."""

from collections.abc import Collection, Sequence
from functools import lru_cache
from ipaddress import ip_address

from tokonoma.server.mcp.protocol import INVALID_REQUEST

Headers = dict[bytes, bytes]
HeaderList = list[tuple[bytes, bytes]]

CLOSE = (b"connection", b"close")  # where what is still on its way is not read
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")

# Two copies of one of these would let a proxy and this server read two different requests.
_SINGLE = frozenset(
    b"host origin authorization content-type content-length "
    b"mcp-protocol-version mcp-method mcp-name mcp-session-id".split()
)


class HttpError(Exception):
    """A response that ends the request here."""

    def __init__(self, status: int, message: str, *headers: tuple[bytes, bytes], code: int = INVALID_REQUEST) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = list(headers)
        self.code = code


class OriginGuard:
    """Against DNS rebinding: a page of another site can make a browser send requests here, but not choose the
    Host and Origin that it sends with them."""

    def __init__(self, host_names: Collection[str] | None, origins: Collection[str]) -> None:
        self._hosts = None if host_names is None else frozenset(name.lower().encode() for name in host_names)
        self._origins = frozenset(origin.lower().rstrip("/").encode() for origin in origins)

    def check(self, headers: Headers) -> HeaderList:
        """Raise Halt, or return what a browser must be told."""
        host = headers.get(b"host", b"").lower()
        if self._hosts is not None and strip_port(host) not in self._hosts:
            raise HttpError(421, "This server does not answer to that Host")
        origin = headers.get(b"origin")
        if origin is None:
            return []
        folded = origin.lower()
        if folded not in self._origins and folded not in (b"http://" + host, b"https://" + host):
            raise HttpError(403, "This Origin is not allowed")
        return [
            (b"access-control-allow-origin", origin),
            (b"access-control-expose-headers", b"mcp-session-id, www-authenticate"),
            (b"vary", b"origin"),
        ]


def collect_headers(pairs: Sequence[tuple[bytes, bytes]]) -> Headers:
    """The headers as a dictionary; Halt if one that decides something came twice."""
    headers = dict(pairs)
    if len(headers) != len(pairs):
        seen: set[bytes] = set()
        for name, _ in pairs:
            if name in _SINGLE and name in seen:
                raise HttpError(400, f"{name.decode('latin-1')} was sent twice")
            seen.add(name)
    return headers


def strip_port(host: bytes) -> bytes:
    """The name without its port. The port may differ from ours behind a forwarding."""
    if host.startswith(b"["):
        return host[: host.find(b"]") + 1]
    return host.partition(b":")[0]


def is_loopback(host: str) -> bool:
    """Whether binding to this address keeps other machines out."""
    try:
        return host == "localhost" or ip_address(host.strip("[]")).is_loopback
    except ValueError:  # a name, which may lead anywhere
        return False


def check_content_type(headers: Headers) -> None:
    kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    if kind != b"application/json":
        raise HttpError(415, "Content-Type must be application/json")


@lru_cache(maxsize=64)
def parse_accept(header: bytes | None) -> tuple[bool, bool]:
    """Whether JSON, and whether an event stream, is acceptable. No header accepts all."""
    if header is None:
        return True, True
    kinds: set[bytes] = set()
    for part in header.lower().split(b","):
        kind, _, parameters = part.partition(b";")
        if parameters.replace(b" ", b"") not in (b"q=0", b"q=0.0", b"q=0.00", b"q=0.000"):
            kinds.add(kind.strip())
    every = b"*/*" in kinds
    json = every or b"application/*" in kinds or b"application/json" in kinds
    return json, every or b"text/*" in kinds or b"text/event-stream" in kinds


def bearer_token(headers: Headers) -> str | None:
    scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
    return token.strip().decode("latin-1") or None if scheme.lower() == b"bearer" else None


PREFLIGHT_HEADERS: HeaderList = [
    (b"access-control-allow-methods", b"POST"),
    (
        b"access-control-allow-headers",
        b"accept, authorization, content-type, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id, traceparent",
    ),
    (b"access-control-max-age", b"600"),
]
