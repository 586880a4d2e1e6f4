"""A server with TLS and HTTP/2 on the loopback, with a certificate of its own."""

import asyncio
import datetime
import ipaddress
import ssl
from pathlib import Path
from typing import Any

import h2.config
import h2.connection
import h2.events
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from loops import LoopThread


def make_certificate(folder: Path) -> Path:
    """A key and a certificate for 127.0.0.1 in one file."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    at = datetime.datetime.now(datetime.UTC)
    day = datetime.timedelta(days=1)
    names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), at - day, at + day)
    made = builder.add_extension(names, critical=True).sign(key, hashes.SHA256())
    plain = serialization.NoEncryption(), serialization.Encoding.PEM
    data = key.private_bytes(plain[1], serialization.PrivateFormat.PKCS8, plain[0])
    file = folder / "server.pem"
    file.write_bytes(data + made.public_bytes(plain[1]))
    return file


class TlsServer:
    """Answers every request over HTTP/2 with the number of the connection that it came on."""

    def __init__(self, certificate: Path) -> None:
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate)
        self._context.set_alpn_protocols(["h2"])
        self.connections = 0
        self.requests: list[dict[str, str]] = []
        self._loop = LoopThread()
        self._server: Any = self._loop.run(self._listen())
        self.url = f"https://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def _listen(self) -> Any:
        return await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._context)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        connection.initiate_connection()
        body = str(self.connections).encode()
        try:
            writer.write(connection.data_to_send())
            while data := await reader.read(65536):
                for event in connection.receive_data(data):
                    if isinstance(event, h2.events.RequestReceived):
                        self.requests.append(dict(event.headers or []))  # type: ignore[arg-type]
                    if isinstance(event, h2.events.StreamEnded):
                        headers = [(":status", "200"), ("content-type", "application/json")]
                        connection.send_headers(event.stream_id or 0, headers)
                        connection.send_data(event.stream_id or 0, body, end_stream=True)
                writer.write(connection.data_to_send())
        except (ConnectionError, ssl.SSLError):
            pass
        writer.close()

    def close(self) -> None:
        self._loop.call_soon(self._server.close)
        self._loop.close()
