"""A proxy with TLS in front of a server, right or wrong in one point, and its certificate."""

import contextlib
import datetime
import http.client
import ipaddress
import ssl
import threading
import time
from collections.abc import Generator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_DROPPED = {"date", "server", "transfer-encoding", "connection", "content-length"}


@dataclass(frozen=True)
class Front:
    """What the proxy does. `host`: sent instead of the Host header that came. `only`: the one path that it passes on.
    `status`: answered instead of asking the server. `ahead`: seconds of its clock. `replaced`: texts of answers."""

    host: str = ""
    only: str = ""
    status: int = 0
    location: str = ""
    ahead: float = 0.0
    replaced: tuple[str, str] = ("", "")


class _Handler(BaseHTTPRequestHandler):
    front: Front
    behind: str

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        front = self.front
        if front.status or (front.only and self.path != front.only):
            self._answer(front.status or 404, [("location", front.location)] if front.location else [], b"no")
            return
        connection = http.client.HTTPConnection(self.behind, timeout=60)
        headers = {**dict(self.headers.items()), "Host": front.host or self.headers["host"]}
        connection.request(self.command, self.path, body, {**headers, "X-Forwarded-For": "203.0.113.9"})
        got = connection.getresponse()
        kept = [(name, value) for name, value in got.getheaders() if name.lower() not in _DROPPED]
        before, after = front.replaced
        content = got.read().decode()
        self._answer(got.status, kept, (content.replace(before, after) if before else content).encode())
        connection.close()

    do_POST = do_GET

    def date_time_string(self, timestamp: float | None = None) -> str:
        return super().date_time_string(time.time() + self.front.ahead)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: a test looks at what the doctor says."""

    def _answer(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.send_response(status)
        for name, value in [*headers, ("content-length", str(len(body)))]:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


@contextlib.contextmanager
def open_front(server: ThreadingHTTPServer, behind: str, front: Front, cert: Path | None) -> Generator[None]:
    """Let `server`, which has its port already, pass requests on to `behind` (host:port)."""
    server.RequestHandlerClass = type("_FrontHandler", (_Handler,), {"front": front, "behind": behind})
    if cert is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()


def create_certificate(file: Path, address: str = "127.0.0.1", since: float = -30.0, until: float = 60.0) -> Path:
    """A certificate for this address, valid between these days from now, and its key, in one file."""
    key, today = ec.generate_private_key(ec.SECP256R1()), datetime.datetime.now(datetime.UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"tokonoma test {file.stem}")])
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(x509.random_serial_number())
    builder = builder.not_valid_before(today + datetime.timedelta(days=since))
    builder = builder.not_valid_after(today + datetime.timedelta(days=until))
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))])
    builder = builder.add_extension(names, critical=False)
    builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM) + secret)
    return file
