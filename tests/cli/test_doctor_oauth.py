"""`doctor` says why a client cannot sign in."""

import contextlib
import json
import socket
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from cli.front import Front, create_certificate, open_front
from web.site import Site

from tokonoma.app import App
from tokonoma.app.doctor.public_url import check_public_url
from tokonoma.auth.oauth import documents
from tokonoma.auth.oauth.clients import check_metadata, save_client
from tokonoma.auth.oauth.fetch import DocumentFetcher
from tokonoma.core.clock import now
from tokonoma.core.errors import Unavailable

NAMES = {"oauth", "public_url", "certificate", "documents", "clock"}


@pytest.fixture
def look(run, monkeypatch):
    """The findings about signing in, with these settings. Nothing reaches the internet."""

    def fetch(self, url):
        raise Unavailable("There is no internet here.", reason="unreachable")

    monkeypatch.setattr(DocumentFetcher, "fetch", fetch)

    def find(**settings: str):
        run("call", "system", "status")
        environ = {"TOKONOMA_PORT": "1", **{f"TOKONOMA_{name.upper()}": value for name, value in settings.items()}}
        found = json.loads(run("doctor", "--json", **environ).stdout)["findings"]
        return [each for each in found if each["name"] in NAMES and "journal" not in each["says"]]

    return find


def test_nothing_is_said_while_it_is_off(look):
    assert look() == []
    assert look(oauth="off", public_url="https://tokonoma.example.com") == []


def test_on_this_machine_it_need_not_run(look):
    address, fetched = look(oauth="on")
    assert (address["state"], "http://127.0.0.1:1/mcp" in address["says"]) == ("ok", True)
    assert (fetched["state"], "a copy is used" in fetched["says"]) == ("ok", True)


def test_a_running_server_of_this_machine_is_asked(look, serve):
    origin = serve()
    (found,) = look(oauth="on", oauth_documents="off", port=origin.rpartition(":")[2])
    assert (found["name"], found["state"], f"{origin}/mcp" in found["says"]) == ("public_url", "ok", True)


def test_open_to_the_world_without_a_name(look):
    (found,) = look(oauth="on", host="0.0.0.0")
    assert (found["state"], "public_url" in found["do"]) == ("fail", True)


def test_a_keyring_that_is_sealed(look, home, serve):
    """Signing in needs the key that signs tokens, and the keyring holds it."""
    origin = serve(home=str(home))
    registered = {"redirect_uris": ["http://127.0.0.1/cb"], "token_endpoint_auth_method": "none"}
    form = {"grant_type": "refresh_token", "refresh_token": "x"}
    form["client_id"] = httpx.post(f"{origin}/register", json=registered).json()["client_id"]
    assert httpx.post(f"{origin}/token", data=form).status_code == 400  # by now there is a key
    (home / "keyring.key").rename(home / "elsewhere")
    found, *_ = look(oauth="on", oauth_documents="off")
    assert (found["name"], found["state"]) == ("oauth", "fail")
    assert "keyring" in found["says"]
    assert "keyring status" in found["do"]


@pytest.mark.parametrize("setting", ["off", "auto"])
def test_clients_that_have_no_way_to_become_known(look, setting):
    found, *_ = look(oauth="on", oauth_registration="false", oauth_documents=setting)
    assert (found["state"], "oauth_registration" in found["do"]) == ("fail", True)
    assert not any(
        each["state"] == "fail" for each in look(oauth="on", oauth_registration="false", oauth_documents="on")
    )


def test_metadata_that_can_be_fetched_is_well(look, monkeypatch):
    monkeypatch.setattr(
        DocumentFetcher, "fetch", lambda self, url: {"client_id": url, **documents.read_known_clients()[url]}
    )
    assert [each["state"] for each in look(oauth="on")] == ["ok", "ok"]


def test_metadata_that_is_announced_and_cannot_be_fetched(look, home):
    _, fetched = look(oauth="on", oauth_documents="on")
    assert (fetched["state"], "oauth_documents" in fetched["do"]) == ("warn", True)
    app = App({"home": str(home), "durable": False}, {})
    metadata = check_metadata({"redirect_uris": ["https://a.example/cb"], "token_endpoint_auth_method": "none"})
    with app.database.writing() as statements:
        save_client(statements, "https://a.example/client", "document", metadata, fetched_at=now())
    app.close()
    _, fetched = look(oauth="on")  # auto announces them from now on
    assert fetched["state"] == "warn"


@pytest.fixture
def serve(tmp_path):
    """Start a whole server; its origin on this machine."""
    with contextlib.ExitStack() as stack:

        def start(**flags: Any) -> str:
            common = {"home": str(tmp_path / "served"), "durable": False, "embed_provider": "none", "oauth": "on"}
            app = App({**common, "log_level": "error", **flags}, {})
            stack.callback(app.close)
            return stack.enter_context(Site(app).serve())

        yield start


@pytest.fixture
def publish(tmp_path, serve, monkeypatch):
    """Start a server behind a proxy; its `public_url`. The doctor trusts the certificate."""
    with contextlib.ExitStack() as stack:

        def start(front: Front | None = None, cert: Path | None = None, *, trusted: bool = True, **flags: Any) -> str:
            cert = cert or create_certificate(tmp_path / "good.pem")
            monkeypatch.setenv("SSL_CERT_FILE", str(cert if trusted else create_certificate(tmp_path / "other.pem")))
            server = stack.enter_context(ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler))
            public_url = f"https://127.0.0.1:{server.server_address[1]}"
            origin = serve(public_url=public_url, **flags)
            stack.enter_context(open_front(server, origin.partition("//")[2], front or Front(), cert))
            return public_url

        yield start


def judge(public_url: str):
    return {finding.name: finding for finding in check_public_url(public_url)}


def test_everything_is_well_behind_a_good_proxy(look, publish):
    public_url = publish()
    found = {each["name"]: each for each in look(public_url=public_url, oauth_documents="off")}
    assert {name: each["state"] for name, each in found.items()} == {
        "certificate": "ok",
        "public_url": "ok",
        "oauth": "warn",  # trusted_proxies
    }
    assert "59 more days" in found["certificate"]["says"]
    assert "trusted_proxies" in found["oauth"]["do"]
    trusting = look(public_url=public_url, oauth_documents="off", trusted_proxies="127.0.0.1")
    assert [each["state"] for each in trusting] == ["ok", "ok"]


@pytest.mark.parametrize(
    ("front", "says", "do"),
    [
        (Front(host="127.0.0.1:8722"), "Host header arrives changed", "proxy_set_header Host"),
        (Front(host="elsewhere.example"), "answers 421 for another name", "proxy_set_header Host"),
        (Front(status=502), "the proxy does not reach Tokonoma", "Start `tokonoma serve`"),
        (Front(status=404), "404 instead of 401", "all paths"),
        (Front(status=403), "403 instead of 401", "refuses"),
        (Front(status=200), "200 instead of 401", "Another program"),
        (Front(status=401), "does not say where to sign in", "serve` again"),
        (
            Front(status=308, location="https://www.example.com/mcp"),
            "leads to https://www.example.com",
            "do not follow",
        ),
        (Front(only="/mcp"), "answers 404, and no metadata", "all paths"),
        (Front(replaced=('"resource": "https:', '"resource": "http:')), "names resource 'http:", "Host"),
        (Front(replaced=('"issuer": "https:', '"issuer": "http:')), "names issuer 'http:", "Host"),
    ],
)
def test_a_proxy_that_keeps_clients_out(publish, front, says, do):
    found = judge(publish(front))["public_url"]
    assert found.state == "fail"
    assert says in found.says
    assert do in found.do


def test_a_server_without_oauth_behind_it(publish):
    assert "does not say where to sign in" in judge(publish(oauth="off", require_key=True))["public_url"].says


@pytest.mark.parametrize(("ahead", "which"), [(-600.0, "ahead of"), (600.0, "behind")])
def test_a_clock_that_is_wrong(publish, ahead, which):
    found = judge(publish(Front(ahead=ahead)))
    assert (found["clock"].state, found["public_url"].state) == ("warn", "ok")
    assert f" seconds {which} that of" in found["clock"].says


@pytest.mark.parametrize(
    ("options", "trusted", "says"),
    [
        ({}, False, "self-signed certificate"),
        ({"until": -1.0}, True, "expired"),
        ({"since": 1.0}, True, "not yet valid"),
        ({"address": "127.0.0.2"}, True, "IP address mismatch"),
    ],
)
def test_a_certificate_that_no_client_accepts(publish, tmp_path, options, trusted, says):
    (found,) = judge(publish(cert=create_certificate(tmp_path / "bad.pem", **options), trusted=trusted)).values()
    assert (found.name, found.state) == ("certificate", "fail")
    assert says in found.says
    assert "fullchain.pem" in found.do


def test_a_certificate_that_ends_soon(publish, tmp_path):
    found = judge(publish(cert=create_certificate(tmp_path / "old.pem", until=3.5)))
    assert (found["certificate"].state, "3 more days" in found["certificate"].says) == ("warn", True)
    assert found["public_url"].state == "ok"


def test_a_certificate_for_some_days_only_is_well_while_it_is_new(publish, tmp_path):
    assert (
        judge(publish(cert=create_certificate(tmp_path / "short.pem", since=-1.0, until=5.0)))["certificate"].state
        == "ok"
    )


def test_what_does_not_speak_tls(serve):
    (found,) = judge(serve().replace("http:", "https:")).values()
    assert (found.name, found.state, "is not TLS" in found.says) == ("certificate", "fail", True)


def test_a_name_that_does_not_exist_and_a_port_without_a_server():
    (unknown,) = judge("https://nothing.invalid").values()
    assert (unknown.state, "nothing.invalid is not known" in unknown.says) == ("fail", True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (refused,) = judge(f"https://127.0.0.1:{port}").values()
    assert (refused.state, "refused" in refused.says, "proxy" in refused.do) == ("fail", True, True)


def test_a_host_that_says_nothing_does_not_hold_the_doctor_up():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        (found,) = check_public_url(f"https://127.0.0.1:{silent.getsockname()[1]}", seconds=0.2)
    assert (found.state, "within 0.2 seconds" in found.says) == ("fail", True)


def test_a_name_of_the_own_network_is_not_for_claude_ai(monkeypatch):
    private = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.255.255.1", 443))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *words, **options: private)
    monkeypatch.setattr(socket, "create_connection", lambda *words, **options: (_ for _ in ()).throw(TimeoutError))
    warned, failed = check_public_url("https://nas.example")
    assert (warned.state, "claude.ai" in warned.do) == ("warn", True)
    assert (failed.state, "in time" in failed.says) == ("fail", True)
