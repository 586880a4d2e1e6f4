"""HTTP in tests: the application in memory, or a real server on a port of its own."""

import asyncio
import contextlib
import datetime
import http.client
import ipaddress
import json
import ssl
import threading
from collections.abc import Generator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from server.fixture import Workshop
from server.hostile import request

from tokonoma.server.http.app import HttpApp
from tokonoma.server.http.connections import ConnectionLimits
from tokonoma.server.http.run import HttpServer, listen

ACCEPT = "application/json, text/event-stream"
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


def headers_of(message: Any, **changed: str | None) -> dict[str, str]:
    """What a good client sends with this message; `changed` replaces, and None leaves out."""
    headers = {"accept": ACCEPT, "content-type": "application/json"}
    params: Any = message.get("params") if isinstance(message, dict) else None
    meta = params.get("_meta") if isinstance(params, dict) else None
    version = meta.get("io.modelcontextprotocol/protocolVersion") if isinstance(meta, dict) else None
    if version is not None:
        headers |= {"mcp-protocol-version": str(version), "mcp-method": message["method"]}
        name = params.get(NAMED.get(message["method"], ""))
        if name is not None:
            headers["mcp-name"] = str(name)
    headers |= {key.replace("_", "-"): value for key, value in changed.items() if value is not None}
    return {key: value for key, value in headers.items() if changed.get(key.replace("-", "_"), "") is not None}


def send(app: HttpApp, method: str, path: str, **options: Any) -> httpx.Response:
    async def go() -> httpx.Response:
        transport = httpx.ASGITransport(app, client=("127.0.0.9", 4))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8722") as client:
            return await client.request(method, path, **options)

    return asyncio.run(go())


def post(app: HttpApp, message: Any, **changed: str | None) -> httpx.Response:
    content = message if isinstance(message, bytes) else json.dumps(message).encode()
    return send(app, "POST", "/mcp", content=content, headers=headers_of(message, **changed))


def events(response: httpx.Response) -> list[Any]:
    assert response.headers["content-type"] == "text/event-stream"
    blocks = response.text.split("\n\n")
    data = [line[6:] for block in blocks for line in block.split("\n") if line.startswith("data: ")]
    return [json.loads(each) for each in data]


@contextlib.contextmanager
def served(
    front: Any = None,
    port: int = 0,
    tls: ssl.SSLContext | None = None,
    connections: ConnectionLimits | None = None,
    **options: Any,
) -> Generator[tuple[str, Any]]:
    """`(url, front)` of a server on 127.0.0.1, ended when the block is left."""
    front = Workshop() if front is None else front
    listener = listen("127.0.0.1", port)
    started = threading.Event()
    running = HttpServer(HttpApp(front, **options), tls=tls, on_started=started.set, grace=0.0, limits=connections)
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]})
    thread.start()
    started.wait()
    try:
        yield f"{'http' if tls is None else 'https'}://127.0.0.1:{listener.getsockname()[1]}", front
    finally:
        running.should_exit = True
        thread.join()


def call(name, id=7, write=request, **arguments):
    return write("tools/call", {"name": name, "arguments": arguments}, id=id)


class Stream:
    """A request whose response is read line by line, so that a test can act in between."""

    def __init__(self, url, message, **changed):
        host = url.removeprefix("http://")
        self.connection = http.client.HTTPConnection(host)
        self.connection.request("POST", "/mcp", json.dumps(message), headers_of(message, **changed))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def response(self):
        return self.connection.getresponse()


class Pair(NamedTuple):
    cert: Path
    key: Path


def create_pair(folder: Path, name: str, password: bytes | None = None) -> Pair:
    """A self-signed certificate for 127.0.0.1, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(subject).public_key(key.public_key())
    builder = builder.serial_number(x509.random_serial_number()).add_extension(names, critical=False)
    builder = builder.not_valid_before(now - datetime.timedelta(days=1))
    cert = builder.not_valid_after(now + datetime.timedelta(days=1)).sign(key, hashes.SHA256())
    encryption = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
    pair = Pair(folder / f"{name}.crt", folder / f"{name}.key")
    pair.cert.write_bytes(cert.public_bytes(serialization.Encoding.PEM))
    pair.key.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption))
    return pair
