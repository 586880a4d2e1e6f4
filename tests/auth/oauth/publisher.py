"""Hosts that publish metadata of clients, over TLS on this machine. Names and public addresses lead there; what the
fetcher connects to is noted before."""

import contextlib
import datetime
import json
import socket
import ssl
import threading
from collections.abc import Callable, Generator, Iterable, Sequence
from pathlib import Path
from typing import Any

import httpcore
import httpx
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tokonoma.auth.oauth.fetch import DocumentFetcher

HOST, ADDRESS = "client.example", "93.184.216.34"
CLIENT_ID = f"https://{HOST}/client.json"
GOOD = {"client_id": CLIENT_ID, "client_name": "Example", "redirect_uris": ["https://client.example/cb"]}
Respond = Callable[[socket.socket, str], None]
"""What a host does with a connection and the head of the request."""


def answer(
    body: bytes | Any = None, status: str = "200 OK", headers: Iterable[str] = (), length: int | None = None
) -> Respond:
    content = body if isinstance(body, bytes) else json.dumps(GOOD if body is None else body).encode()

    def respond(connection: socket.socket, head: str) -> None:
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(content) if length is None else length}", *headers]
        connection.sendall("\r\n".join([*lines, "Connection: close", "", ""]).encode() + content)

    return respond


class Publisher:
    """`respond` may be replaced at any time; `heads` are the requests that came, `dialled` all connection attempts."""

    def __init__(self, folder: Path) -> None:
        self.respond: Respond = answer()
        self.addresses: Callable[[], Sequence[str]] = lambda: [ADDRESS]
        self.heads: list[str] = []
        self.names: list[str | None] = []
        self.dialled: list[str] = []
        self.resolved: list[str] = []
        self.release = threading.Event()
        certificate, key = create_certificate(folder, HOST)
        self._server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._server.load_cert_chain(certificate, key)
        self._server.sni_callback = lambda _, name, context: self.names.append(name)
        self._client = ssl.create_default_context(cafile=str(certificate))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def open_fetcher(self, seconds: float = 5.0) -> DocumentFetcher:
        def resolve(host: str, port: int) -> Sequence[str]:
            self.resolved.append(host)
            return self.addresses()

        def open_transport() -> httpx.AsyncBaseTransport:
            transport = httpx.AsyncHTTPTransport(verify=self._client)
            transport._pool = httpcore.AsyncConnectionPool(ssl_context=self._client, network_backend=Dialler(self))
            return transport

        return DocumentFetcher(resolve, open_transport, seconds)

    def close(self) -> None:
        self.release.set()
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                plain, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._handle, args=(plain,), daemon=True).start()

    def _handle(self, plain: socket.socket) -> None:
        with contextlib.suppress(OSError), self._server.wrap_socket(plain, server_side=True) as connection:
            head = b""
            while b"\r\n\r\n" not in head:
                part = connection.recv(4096)
                if not part:
                    return
                head += part
            self.heads.append(head.decode())
            self.respond(connection, head.decode())


class Dialler(httpcore.AsyncNetworkBackend):
    """Connects to the publisher, whatever address was asked for."""

    def __init__(self, publisher: Publisher) -> None:
        self._publisher = publisher
        self._inner: httpcore.AsyncNetworkBackend = httpcore.AnyIOBackend()  # type: ignore[assignment]

    async def connect_tcp(  # type: ignore[override]
        self, host: str, port: int, **options: Any
    ) -> httpcore.AsyncNetworkStream:
        self._publisher.dialled.append(host)
        return await self._inner.connect_tcp("127.0.0.1", self._publisher.port, **options)

    async def sleep(self, seconds: float) -> None:
        await self._inner.sleep(seconds)


@contextlib.contextmanager
def publish(folder: Path) -> Generator[Publisher]:
    publisher = Publisher(folder)
    try:
        yield publisher
    finally:
        publisher.close()


def create_certificate(folder: Path, host: str) -> tuple[Path, Path]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    at = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(x509.random_serial_number())
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
    builder = builder.not_valid_before(at - datetime.timedelta(days=1)).not_valid_after(at + datetime.timedelta(days=1))
    cert = builder.sign(key, hashes.SHA256())
    files = folder / "publisher.crt", folder / "publisher.key"
    files[0].write_bytes(cert.public_bytes(serialization.Encoding.PEM))
    kind = serialization.PrivateFormat.PKCS8
    files[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, kind, serialization.NoEncryption()))
    return files
