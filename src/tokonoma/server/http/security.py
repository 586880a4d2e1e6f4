"""The checks before a request's body is read: Host, Origin, content type, accepted types."""

from collections.abc import Collection, Sequence
from functools import lru_cache

from tokonoma.core.call import Caller
from tokonoma.server.mcp.message import INVALID_REQUEST

Headers = dict[bytes, bytes]
HeaderList = list[tuple[bytes, bytes]]

CLOSE = (b"connection", b"close")  # for a request whose body is not read to its end
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")

# Two copies of one of these would let a proxy and this server read two different requests.
_SINGLE = frozenset(
    b"host origin authorization content-type content-length "
    b"mcp-protocol-version mcp-method mcp-name mcp-session-id".split()
)

_LISTS = frozenset((b"x-forwarded-for", b"forwarded"))  # several of them are one list


class HttpError(Exception):
    """A response that ends the request here."""

    def __init__(
        self,
        status: int,
        message: str,
        *headers: tuple[bytes, bytes],
        code: int = INVALID_REQUEST,
        refusal: str = "",
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = list(headers)
        self.code = code
        self.refusal = refusal  # why the caller was turned away, as the journal writes it: `denied.host`


class OriginGuard:
    """Protects against DNS rebinding: a page of another site can make a browser send requests here, but cannot choose
    the Host and Origin headers of these requests."""

    def __init__(self, host_names: Collection[str] | None, origins: Collection[str]) -> None:
        self._hosts = None if host_names is None else frozenset(name.lower().encode() for name in host_names)
        self._origins = frozenset(origin.lower().rstrip("/").encode() for origin in origins)

    def check_host(self, headers: Headers) -> None:
        if self._hosts is not None and strip_port(headers.get(b"host", b"").lower()) not in self._hosts:
            message = "This server does not accept this Host header. See allowed_hosts."
            raise HttpError(421, message, refusal="denied.host")

    def check(self, headers: Headers) -> HeaderList:
        """Raise HttpError, or return the headers that a browser needs in the response."""
        self.check_host(headers)
        host = headers.get(b"host", b"").lower()
        origin = headers.get(b"origin")
        if origin is None:
            return []
        if origin.lower() not in (*self._origins, b"http://" + host, b"https://" + host):
            raise HttpError(403, "This Origin is not allowed. See allowed_origins.", refusal="denied.origin")
        return [
            (b"access-control-allow-origin", origin),
            (b"access-control-expose-headers", b"mcp-session-id, www-authenticate"),
            (b"vary", b"origin"),
        ]


def collect_headers(pairs: Sequence[tuple[bytes, bytes]]) -> Headers:
    """Return the headers as a dictionary; HttpError if one that matters was sent twice."""
    headers = dict(pairs)
    if len(headers) != len(pairs):
        headers = {}
        for name, value in pairs:
            if name in _SINGLE and name in headers:
                raise HttpError(400, f"The header {name.decode('latin-1')} was sent twice")
            headers[name] = headers[name] + b", " + value if name in _LISTS and name in headers else value
    return headers


def strip_port(host: bytes) -> bytes:
    """Return the name without its port. Behind a port forwarding the port differs from ours."""
    if host.startswith(b"["):
        return host[: host.find(b"]") + 1]
    return host.partition(b":")[0]


@lru_cache(maxsize=64)
def parse_accept(header: bytes | None) -> tuple[bool, bool]:
    """Return whether JSON, and whether an event stream, is acceptable. No header accepts both."""
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


def find_origin(headers: Headers, public_url: str, tls: bool) -> str:
    """The origin under which a client knows this server: `public_url` if it used that name, else its Host header, which
    must have been checked. A client compares it with the URL that it was given, to the letter."""
    host = headers.get(b"host", b"").decode("latin-1").lower()
    if public_url and host == public_url.partition("://")[2].lower():
        return public_url
    return f"{'https' if tls else 'http'}://{host}"


def build_caller(headers: Headers, remote: str | None, forwarded: bool) -> Caller:
    agent = headers.get(b"user-agent")
    client = None if agent is None else agent[:200].decode("latin-1")
    scheme, _, credential = headers.get(b"authorization", b"").partition(b" ")
    token = credential.strip().decode("latin-1") or None if scheme.lower() == b"bearer" else None
    version = headers.get(b"mcp-protocol-version", b"").decode("latin-1") or None
    return Caller("http", token=token, remote=remote, forwarded=forwarded, client=client, protocol_version=version)


PREFLIGHT_HEADERS: HeaderList = [
    (b"access-control-allow-methods", b"GET, POST, DELETE"),
    (
        b"access-control-allow-headers",
        b"accept, authorization, content-type, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id, traceparent",
    ),
    (b"access-control-max-age", b"600"),
]
