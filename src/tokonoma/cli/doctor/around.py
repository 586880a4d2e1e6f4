"""What stands around the house: the plugins that were enabled, and the port that `serve` listens on."""

import http.client
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

from tokonoma.catalogue.plugins import plugins_file, read_plugins
from tokonoma.catalogue.plugins.discover import list_offers
from tokonoma.catalogue.plugins.enable import find_problem
from tokonoma.cli.doctor.finding import Finding
from tokonoma.core.errors import Unready


def check_plugins(home: Path) -> Iterator[Finding]:
    try:
        enabled = read_plugins(home)
    except Unready:
        remedy = f"Remove {plugins_file(home)}, then run `tokonoma plugins enable NAME` for each."
        yield Finding("plugins", "fail", f"{plugins_file(home)} is damaged: no plugin is loaded.", remedy)
        return
    if not enabled:
        yield Finding("plugins", "ok", "none enabled")
        return
    offered = list_offers()
    for shelf in enabled:
        what, remedy = find_problem(shelf, offered)
        if what:
            yield Finding("plugins", "fail", f"{shelf.name}: {what}", remedy)
        else:
            yield Finding("plugins", "ok", f"{shelf.name}: {len(shelf.entries)} tools, as when it was enabled")


def check_port(host: str, number: int) -> Iterator[Finding]:
    if number == 0:
        yield Finding("port", "ok", "any that is free")
    elif not _is_taken(host, number):
        yield Finding("port", "ok", f"{host}:{number} is free for `tokonoma serve`")
    elif _is_tokonoma(host, number):
        yield Finding("port", "ok", f"{host}:{number} is being served: it answers as tokonoma does")
    else:
        remedy = "Choose another with --port, TOKONOMA_PORT or `port` in tokonoma.toml."
        yield Finding("port", "warn", f"{host}:{number} belongs to another program.", remedy)


def _is_taken(host: str, number: int) -> bool:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((host.strip("[]"), number))
        except OSError:
            return True
    return False


def _is_tokonoma(host: str, number: int) -> bool:
    near = {"0.0.0.0": "127.0.0.1", "::": "::1", "[::]": "::1"}.get(host, host)  # noqa: S104 - looked at, not bound
    unverified = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # nothing secret is sent
    unverified.check_hostname, unverified.verify_mode = False, ssl.CERT_NONE
    plain = http.client.HTTPConnection(near.strip("[]"), number, timeout=2)
    encrypted = http.client.HTTPSConnection(near.strip("[]"), number, timeout=2, context=unverified)
    return any(_is_healthy(connection) for connection in (plain, encrypted))


def _is_healthy(connection: http.client.HTTPConnection) -> bool:
    try:
        connection.request("GET", "/health")
        return connection.getresponse().read(64) == b'{"status":"ok"}'
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
