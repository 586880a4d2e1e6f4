"""What is turned away before its body is read: by kind, verb, Host and Origin."""

import gzip
import json

import pytest
from server.fixture import Workshop
from server.hostile import request
from server.web import post, send

from tokonoma.core.network import is_loopback
from tokonoma.server.http.app import HttpApp
from tokonoma.server.http.security import parse_accept, strip_port

INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "2"}}


@pytest.fixture
def app():
    return HttpApp(Workshop())


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_only_json_is_read(app, kind):
    assert post(app, request("ping"), content_type=kind).status_code == 415


def test_a_compressed_body_is_not_json(app):
    assert post(app, gzip.compress(json.dumps(request("ping")).encode())).json()["error"]["code"] == -32700


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH", "HEAD"])
def test_other_verbs_are_told_what_to_use(app, method):
    response = send(app, method, "/mcp", headers={"accept": "text/event-stream"})
    assert (response.status_code, response.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize("host", ["127.0.0.1:8722", "localhost", "LocalHost:1", "[::1]:8722"])
def test_our_own_names_are_answered(app, host):
    assert post(app, request("ping"), host=host).status_code == 200
    assert post(app, request("ping"), host=host, origin=f"http://{host}").status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example.com", "localhost.evil.com:8722", "127.0.0.1.evil.com", "", "[::1", "[::2]"]
)
def test_other_names_are_not(app, host):
    assert post(app, request("ping"), host=host).status_code == 421
    for path in ("/ready", "/metrics", "/"):
        assert send(app, "GET", path, headers={"host": host}).status_code == 421


@pytest.mark.parametrize(
    "origin", ["http://evil.example.com", "null", "http://127.0.0.1:8723", "file://", "http://127.0.0.1:8722.evil.com"]
)
def test_pages_of_other_sites_are_refused(app, origin):
    assert post(app, request("ping"), origin=origin).status_code == 403


def test_pages_of_chosen_sites_are_served_with_what_browsers_want():
    app = HttpApp(Workshop(), origins=["https://app.example.com/"], host_names=None)
    origin = "https://app.example.com"
    asked = {"origin": origin, "access-control-request-method": "POST", "host": "anything"}
    preflight = send(app, "OPTIONS", "/mcp", headers=asked)
    assert preflight.status_code == 200
    assert "mcp-session-id" in preflight.headers["access-control-allow-headers"]
    answered = post(app, request("initialize", INITIALIZE), origin=origin)
    assert answered.headers["access-control-allow-origin"] == origin
    assert "mcp-session-id" in answered.headers["access-control-expose-headers"]
    assert send(app, "OPTIONS", "/mcp", headers={"host": "x"}).status_code == 405


@pytest.mark.parametrize(
    "name",
    ["host", "origin", "authorization", "mcp-protocol-version", "mcp-method", "mcp-name", "mcp-session-id"],
)
def test_a_header_that_decides_must_not_come_twice(app, name):
    doubled = [("content-type", "application/json"), (name, "a"), (name, "b")]
    response = send(app, "POST", "/mcp", content=b"{}", headers=doubled)
    assert (response.status_code, name in response.json()["error"]["message"]) == (400, True)


@pytest.mark.parametrize(
    ("header", "both"),
    [
        (None, (True, True)),
        (b"*/*", (True, True)),
        (b"application/json, text/event-stream", (True, True)),
        (b"Application/JSON;q=0.5", (True, False)),
        (b"text/event-stream; charset=utf-8", (False, True)),
        (b"application/*", (True, False)),
        (b"text/*;q=0.1", (False, True)),
        (b"application/json;q=0, text/event-stream", (False, True)),
        (b"application/json; q=0.0", (False, False)),
        (b"text/html", (False, False)),
        (b"", (False, False)),
    ],
)
def test_what_is_acceptable(header, both):
    assert parse_accept(header) == both


@pytest.mark.parametrize(
    ("host", "name"), [(b"a:1", b"a"), (b"a", b"a"), (b"[::1]:1", b"[::1]"), (b"[::1]", b"[::1]"), (b"", b"")]
)
def test_names_without_ports(host, name):
    assert strip_port(host) == name


def test_loopback():
    assert all(is_loopback(host) for host in ("127.0.0.1", "127.1.2.3", "localhost", "::1"))
    assert not any(
        is_loopback(host) for host in ("0.0.0.0", "::", "192.168.1.1", "127.example.com", "127.0.0.1 via 127.0.0.1", "")
    )
