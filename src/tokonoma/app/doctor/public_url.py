"""Checks of `public_url` as a client meets it: name, connection, certificate, Host header, metadata, clock."""

import http.client
import json
import queue
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import SplitResult, urlsplit

from tokonoma.app.doctor.machine import Finding
from tokonoma.auth.oauth.fetch import is_public
from tokonoma.core.network import is_loopback
from tokonoma.core.printable import pluralize

SECONDS = 15.0
"""For everything together. A host that sends one byte at a time must not hold the doctor up."""

_STEP = 5.0  # seconds for one connection, or one answer
_MAX_BODY = 64 * 1024  # bytes
_RESOURCE = "/.well-known/oauth-protected-resource/mcp"
_SERVER = "/.well-known/oauth-authorization-server"
_DAY = 86_400  # seconds
_SOON = 7 * _DAY  # a certificate ends soon, unless it is one of those that live for some days only
_CLOCK = 60  # seconds that two clocks may differ
_KEEP_HOST = "Make the proxy pass the Host header on as it came (nginx: `proxy_set_header Host $http_host`)."
_EXAMPLES = "The files in examples/deploy show what a proxy must do."


class UrlProblem(Exception):
    """What keeps clients out. Nothing behind it can be checked."""

    def __init__(self, name: str, says: str, do: str) -> None:
        super().__init__(says)
        self.finding = Finding(name, "fail", says, do)


@dataclass(frozen=True, slots=True)
class UrlAnswer:
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    def parse(self) -> dict[str, Any]:
        """The JSON object; empty if it is none."""
        try:
            value: Any = json.loads(self.body)
        except (ValueError, RecursionError):
            value = None
        return value if self.status == 200 and isinstance(value, dict) else {}  # type: ignore[reportUnknownVariableType]


def check_public_url(origin: str, seconds: float = SECONDS) -> Iterator[Finding]:
    found: queue.SimpleQueue[Finding | Exception | None] = queue.SimpleQueue()

    def work() -> None:
        try:
            for each in _probe(origin):
                found.put(each)
            found.put(None)
        except Exception as error:
            found.put(error)

    # A name server that is silent keeps a thread waiting, which ends with the process.
    threading.Thread(target=work, name="tokonoma-doctor", daemon=True).start()
    until = time.monotonic() + seconds
    while True:
        try:
            each = found.get(timeout=max(0.0, until - time.monotonic()))
        except queue.Empty:
            says = f"{origin} did not answer everything within {seconds:g} seconds"
            yield Finding("public_url", "fail", says, f"Look at the proxy or tunnel in front. {_EXAMPLES}")
            return
        if each is None:
            return
        if isinstance(each, Exception):
            raise each
        yield each


def _probe(origin: str) -> Iterator[Finding]:
    place = urlsplit(origin)
    try:
        addresses = _resolve(place)
        yield from _judge_addresses(place, addresses)
        yield from _check_certificate(place, addresses)
        challenge = _ask(place, addresses, "POST", "/mcp")
        _judge_challenge(origin, challenge)
        yield from _judge_clock(origin, challenge)
        _judge_metadata(origin, _RESOURCE, _ask(place, addresses, "GET", _RESOURCE), "resource", f"{origin}/mcp")
        _judge_metadata(origin, _SERVER, _ask(place, addresses, "GET", _SERVER), "issuer", origin)
    except UrlProblem as problem:
        yield problem.finding
    else:
        yield Finding("public_url", "ok", f"{origin}/mcp asks clients to sign in, and says where")


def _resolve(place: SplitResult) -> list[str]:
    host = place.hostname or ""
    try:
        found = socket.getaddrinfo(host, _find_port(place), type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        remedy = "Create a DNS record for this name, or correct public_url. A new record may take some minutes."
        raise UrlProblem("public_url", f"the name {host} is not known", remedy) from None
    return list(dict.fromkeys(str(each[4][0]) for each in found))


def _judge_addresses(place: SplitResult, addresses: list[str]) -> Iterator[Finding]:
    if is_loopback(place.hostname or "") or any(is_public(each) for each in addresses):
        return
    says = f"{place.hostname} leads to {', '.join(addresses[:3])}, which is not on the internet"
    remedy = (
        "claude.ai and ChatGPT cannot reach it; programs in your own network can. Seen from here, the name may lead"
        " elsewhere than for others."
    )
    yield Finding("public_url", "warn", says, remedy)


def _find_port(place: SplitResult) -> int:
    return place.port or (443 if place.scheme == "https" else 80)


def _connect(place: SplitResult, addresses: list[str]) -> socket.socket:
    problem: OSError | None = None
    for address in addresses[:4]:
        try:
            return socket.create_connection((address, _find_port(place)), timeout=_STEP)
        except OSError as error:
            problem = error
    why = "it does not answer in time" if isinstance(problem, TimeoutError) else "the connection is refused"
    where = f"{place.hostname}, port {_find_port(place)} ({', '.join(addresses[:4])})"
    remedy = (
        "Start the proxy or tunnel, open this port in the firewall and the router. Some routers do not lead back to"
        " their own network: then check with curl from another network."
    )
    raise UrlProblem("public_url", f"nothing can be reached at {where}: {why}", remedy)


def _open(place: SplitResult, addresses: list[str]) -> socket.socket:
    """A connection to the server, with TLS and a certificate that counts if it is https."""
    sock = _connect(place, addresses)
    if place.scheme != "https":
        return sock
    try:
        return ssl.create_default_context().wrap_socket(sock, server_hostname=place.hostname)
    except ssl.SSLCertVerificationError as error:
        sock.close()
        says = f"the certificate of {place.hostname} does not count: {error.verify_message}"
        remedy = (
            "Clients refuse it. Get one for exactly this name from a public authority (Caddy and certbot do it by"
            " themselves), renew it if it has expired, and send its whole chain (fullchain.pem)."
        )
        raise UrlProblem("certificate", says, remedy) from None
    except OSError as error:
        sock.close()
        why = "is not TLS" if isinstance(error, ssl.SSLError) else "ended the connection"
        says = f"what answers at {place.hostname}, port {_find_port(place)} {why}"
        raise UrlProblem("certificate", says, f"public_url begins with https. {_EXAMPLES}") from None


def _check_certificate(place: SplitResult, addresses: list[str]) -> Iterator[Finding]:
    sock = _open(place, addresses)
    with closing(sock):
        if not isinstance(sock, ssl.SSLSocket):
            return
        facts = sock.getpeercert() or {}
    ends = ssl.cert_time_to_seconds(str(facts["notAfter"]))
    whole, left = ends - ssl.cert_time_to_seconds(str(facts["notBefore"])), ends - time.time()
    says = f"valid for {place.hostname}, for {pluralize(int(left // _DAY), 'more day')}"
    if left < _SOON and left < whole / 4:
        yield Finding("certificate", "warn", says, "Renew it now, and look why that did not happen by itself.")
    else:
        yield Finding("certificate", "ok", says)


def _ask(place: SplitResult, addresses: list[str], method: str, path: str) -> UrlAnswer:
    connection = http.client.HTTPConnection(place.netloc, timeout=_STEP)
    connection.sock = _open(place, addresses)
    body = b"{}" if method == "POST" else None
    headers = {"Accept": "application/json, text/event-stream", "User-Agent": "tokonoma-doctor", "Connection": "close"}
    if body:
        headers["Content-Type"] = "application/json"
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return UrlAnswer(answer.status, answer.headers, answer.read(_MAX_BODY))
    except (OSError, http.client.HTTPException):
        says = f"{method} {path} at {place.netloc} was not answered"
        raise UrlProblem("public_url", says, f"Look at the log of the proxy. {_EXAMPLES}") from None
    finally:
        connection.close()


def _judge_challenge(origin: str, answer: UrlAnswer) -> None:
    """`POST /mcp` without a credential must be answered with 401, and with where to sign in under this very name."""
    status, challenge = answer.status, answer.headers.get("www-authenticate", "")
    says, remedy = f"{origin}/mcp answers {status} instead of 401", ""
    if status == 401 and f'resource_metadata="{origin}{_RESOURCE}"' in challenge:
        return
    if status == 421 or (status == 401 and "resource_metadata=" in challenge):
        says, remedy = f"the Host header arrives changed: {origin}/mcp answers {status} for another name", _KEEP_HOST
    elif status == 401:
        says = f"{origin}/mcp answers 401, but does not say where to sign in"
        remedy = "Start `tokonoma serve` again, so that it has these settings; or another program answers there."
    elif status in (502, 503, 504):
        says += ": the proxy does not reach Tokonoma"
        remedy = "Start `tokonoma serve`, and compare its host and port with those in the settings of the proxy."
    elif 300 <= status < 400:
        says = f"{origin}/mcp leads to {answer.headers.get('location', 'another place')}"
        remedy = "Clients do not follow. Set public_url to the last name, or let the proxy answer itself."
    elif status == 404:
        remedy = f"Another program answers there, or the proxy does not pass all paths on. {_EXAMPLES}"
    elif status == 403:
        remedy = "Something in front refuses: a firewall for web applications, or a login page of the tunnel."
    else:
        remedy = "Another program answers there, or a server with other settings: start `tokonoma serve` again."
    raise UrlProblem("public_url", says, remedy)


def _judge_clock(origin: str, answer: UrlAnswer) -> Iterator[Finding]:
    try:
        theirs = parsedate_to_datetime(answer.headers.get("date", "")).timestamp()
    except ValueError:
        return
    ahead = time.time() - theirs
    if abs(ahead) > _CLOCK:
        which = "ahead of" if ahead > 0 else "behind"
        says = f"the clock of this machine is {abs(ahead):.0f} seconds {which} that of {origin}"
        remedy = "Let both follow a time server: with a wrong clock tokens and certificates end too early, or too late."
        yield Finding("clock", "warn", says, remedy)


def _judge_metadata(origin: str, path: str, answer: UrlAnswer, field: str, wanted: str) -> None:
    found = answer.parse()
    if found.get(field) == wanted:
        return
    if not found:
        says = f"{origin}{path} answers {answer.status}, and no metadata"
        raise UrlProblem("public_url", says, f"Pass all paths on, not only /mcp. {_EXAMPLES}")
    says = f"{origin}{path} names {field} {found.get(field)!r} instead of {wanted!r}: clients refuse that"
    raise UrlProblem("public_url", says, _KEEP_HOST)
