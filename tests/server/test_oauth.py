"""OAuth over HTTP: what clients find, how they register, and what a token opens. The pages are tested beside them."""

import base64
import json
import os
import subprocess
import sys
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest
from auth.oauth.house import CHALLENGE, REDIRECT, VERIFIER, add_person, run_together
from auth.oauth.jwt_attacks import ATTACKS, GoodToken
from joserfc.jwk import OKPKey
from server.doors import Door

from tokonoma.app.keyring import open_keyring
from tokonoma.app.oauth import REGISTRATIONS, build_oauth_parts, build_seal_functions
from tokonoma.auth import authenticate
from tokonoma.auth.oauth.authorize import RedirectedError, ShownError
from tokonoma.auth.oauth.exchange import TOGETHER_SECONDS
from tokonoma.auth.oauth.grants import revoke_grant, update_grant_reach
from tokonoma.core.errors import Missing
from tokonoma.core.reach import UNLIMITED, Reach

ORIGIN = "http://127.0.0.1:8722"
SECOND = 1.0
FORM = [("content-type", "application/x-www-form-urlencoded")]
METADATA = "/.well-known/oauth-authorization-server"
RESOURCE = "/.well-known/oauth-protected-resource"


class SignedDoor:
    """A server with OAuth, and a client that has registered. The person's part, a page, is done by hand."""

    def __init__(self, door: Door) -> None:
        self.door, self.app = door, door.app
        self.oauth = build_oauth_parts(door.app)
        add_person(door.app.database)
        self.client = self.register().json()["client_id"]

    def register(self, **changed) -> httpx.Response:
        metadata = {"redirect_uris": [REDIRECT], "client_name": "Laptop", "token_endpoint_auth_method": "none"}
        return self.post_json("/register", {**metadata, **changed})

    def post_json(self, path, value, remote="127.0.0.1") -> httpx.Response:
        content = value if isinstance(value, bytes) else json.dumps(value).encode()
        return self.door.send("POST", path, remote, [("content-type", "application/json")], content)

    def post_form(self, path, headers=(), **form) -> httpx.Response:
        sent = {name: value for name, value in form.items() if value is not None}
        return self.door.send("POST", path, "127.0.0.1", [*FORM, *headers], urlencode(sent).encode())

    def get_code(self, person="owner", reach=UNLIMITED, origin=ORIGIN, client=None) -> str:
        pairs = {
            "response_type": "code", "client_id": client or self.client, "redirect_uri": REDIRECT, "state": "st",
            "code_challenge": CHALLENGE, "code_challenge_method": "S256", "resource": f"{origin}/mcp",
        }  # fmt: skip
        request = self.oauth.check_authorization(list(pairs.items()), origin)
        location = self.oauth.build_code_location(request, person, reach, origin)
        query = parse_qs(urlsplit(location).query)
        assert (query["state"], query["iss"]) == (["st"], [origin])
        return query["code"][0]

    def exchange(self, code, headers=(), **changed) -> httpx.Response:
        form = {
            "grant_type": "authorization_code", "client_id": self.client, "code": code, "redirect_uri": REDIRECT,
            "code_verifier": VERIFIER, **changed,
        }  # fmt: skip
        return self.post_form("/token", headers, **form)

    def sign_in(self, **options) -> dict[str, str]:
        answer = self.exchange(self.get_code(**options))
        assert answer.status_code == 200, answer.text
        return answer.json()

    def refresh(self, token, **changed) -> httpx.Response:
        form = {"grant_type": "refresh_token", "client_id": self.client, "refresh_token": token, **changed}
        return self.post_form("/token", **form)

    def call(self, token, host="127.0.0.1:8722", **options) -> httpx.Response:
        return self.door.post(headers=[("authorization", f"Bearer {token}"), ("host", host)], **options)

    def list_tools(self, token) -> set[str]:
        return {tool["name"] for tool in self.call(token).json()["result"]["tools"]}


@pytest.fixture
def timer(monkeypatch):
    """The clock by which the authenticator remembers, in the hands of the test."""
    timer = SimpleNamespace(at=1000.0)
    monkeypatch.setattr(authenticate, "time", SimpleNamespace(monotonic=lambda: timer.at))
    return timer


@pytest.fixture
def signed(open_door) -> SignedDoor:
    return SignedDoor(open_door(oauth="on"))


@pytest.fixture
def on_both(database_url, open_door) -> SignedDoor:
    return SignedDoor(open_door(oauth="on", database_url=database_url))


# Discovery


@pytest.mark.parametrize("host", ["127.0.0.1:8722", "localhost:8722", "localhost:9999", "[::1]:8722"])
def test_a_client_finds_the_server_under_the_name_that_it_used(signed, host):
    for path in (RESOURCE, f"{RESOURCE}/mcp"):
        found = signed.door.get(path, headers=[("host", host)]).json()
        assert found["resource"] == f"http://{host}/mcp"
        assert found["authorization_servers"] == [f"http://{host}"]
        assert found["scopes_supported"] == ["mcp"]
    paths = [METADATA, f"{METADATA}/mcp", "/.well-known/openid-configuration", "/mcp/.well-known/openid-configuration"]
    for path in paths:
        found = signed.door.get(path, headers=[("host", host)]).json()
        assert found["issuer"] == f"http://{host}"
        assert found["token_endpoint"] == f"http://{host}/token"
        assert found["registration_endpoint"] == f"http://{host}/register"
        assert found["code_challenge_methods_supported"] == ["S256"]
        assert found["authorization_response_iss_parameter_supported"] is True
        assert found["token_endpoint_auth_methods_supported"] == ["none", "client_secret_basic", "client_secret_post"]
        assert found["ui_locales_supported"] == ["en", "ja"]


def test_the_public_url_is_found_behind_a_proxy_without_tls(open_door):
    door = open_door(public_url="https://tokonoma.example.com")
    found = door.get(RESOURCE, headers=[("host", "tokonoma.example.com")]).json()
    assert found["resource"] == "https://tokonoma.example.com/mcp"
    refused = door.post(headers=[("host", "tokonoma.example.com")])
    expected = 'resource_metadata="https://tokonoma.example.com/.well-known/oauth-protected-resource/mcp", scope="mcp"'
    assert expected in refused.headers["www-authenticate"]


@pytest.mark.parametrize("path", [RESOURCE, METADATA, "/jwks"])
def test_a_name_in_clear_text_gets_no_metadata(open_door, path):
    door = open_door(oauth="on", allowed_hosts="nas.local")
    assert door.get(path, headers=[("host", "nas.local:8722")]).status_code == 404
    assert door.get(path, headers=[("host", "localhost:8722")]).status_code == 200
    refused = door.post(headers=[("host", "nas.local:8722")])
    assert (refused.status_code, refused.headers["www-authenticate"]) == (401, 'Bearer realm="tokonoma"')


def test_a_foreign_host_is_refused_everywhere(signed):
    for path in (RESOURCE, METADATA, "/jwks", "/authorize"):
        assert signed.door.get(path, headers=[("host", "evil.example")]).status_code == 421
    evil = [("host", "evil.example"), *FORM]
    assert signed.door.send("POST", "/token", "127.0.0.1", evil, b"").status_code == 421


@pytest.mark.parametrize(
    "host", ['localhost:8722", x="', "localhost:x", "localhost:", "localhost:999999", "localhost/x"]
)
def test_a_strange_port_is_repeated_nowhere(signed, host):
    answer = signed.door.get(RESOURCE, headers=[("host", host)])
    assert (answer.status_code in (404, 421), "resource" in answer.json()) == (True, False)
    assert "resource_metadata" not in signed.door.post(headers=[("host", host)]).headers.get("www-authenticate", "")


@pytest.mark.parametrize("path", [RESOURCE, f"{RESOURCE}/mcp", METADATA, "/jwks", "/register", "/token", "/revoke"])
def test_pages_of_any_site_may_call_what_needs_no_session(signed, path):
    origin = [("origin", "https://any.example")]
    ask = [*origin, ("access-control-request-method", "POST"), ("access-control-request-headers", "content-type")]
    answer = signed.door.send("OPTIONS", path, "127.0.0.1", ask, b"")
    assert answer.status_code == 204
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "mcp-protocol-version" in answer.headers["access-control-allow-headers"]
    assert "POST" in answer.headers["access-control-allow-methods"]
    for method in ("GET", "POST"):
        answer = signed.door.send(method, path, "127.0.0.1", origin, b"{}")
        assert answer.headers["access-control-allow-origin"] == "*"
        assert answer.headers["cache-control"] == "no-store"
        assert "access-control-allow-credentials" not in answer.headers


def test_the_mcp_endpoint_keeps_its_own_gate(signed):
    answer = signed.door.post(headers=[("origin", "https://any.example")])
    assert answer.status_code == 403


def test_wrong_methods_are_refused(signed):
    assert signed.door.get("/token").status_code == 405
    assert signed.post_json("/jwks", {}).status_code == 405
    assert signed.door.send("HEAD", METADATA, "127.0.0.1", [], b"").status_code == 200


# Who needs a credential


def test_without_oauth_the_machine_is_the_owner_and_no_oauth_path_exists(open_door):
    door = open_door()
    assert door.post().status_code == 200
    for path in (RESOURCE, METADATA, "/jwks"):
        assert door.get(path).status_code == 404
    assert door.send("POST", "/token", "127.0.0.1", FORM, b"").status_code == 404
    assert door.send("POST", "/register", "127.0.0.1", [], b"{}").status_code == 404
    assert "resource_metadata" not in door.post(remote="192.0.2.1").headers["www-authenticate"]


def test_with_oauth_nobody_is_the_owner_without_a_credential(open_door):
    for flags in ({"oauth": "on"}, {"public_url": "http://localhost:8722"}):
        refused = open_door(**flags).post()
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"] == (
            f'Bearer realm="tokonoma", resource_metadata="{ORIGIN}{RESOURCE}/mcp", scope="mcp"'
        )


def test_a_first_password_switches_oauth_on_within_a_second(open_door, timer):
    door = open_door()
    assert door.post().status_code == 200
    add_person(door.app.database)
    with door.app.database.writing() as statements:
        statements.run("update person set password = :hash", hash=b"x")
    timer.at += SECOND
    assert door.post().status_code == 401
    assert door.get(RESOURCE).status_code == 200


def test_switched_off_it_stays_off(open_door):
    door = open_door(oauth="off", public_url="https://tokonoma.example.com")
    assert door.get(METADATA).status_code == 404
    assert door.post().status_code == 200


def test_keys_go_on_working_beside_it(signed):
    key = signed.door.create_key("script")
    assert signed.call(key).status_code == 200


def test_open_to_the_world_without_a_name_it_stays_off_and_says_why(open_door, capsys):
    door = open_door(oauth="on", host="0.0.0.0", require_key=True)
    assert door.get(METADATA).status_code == 404
    assert "resource_metadata" not in door.post(remote="192.0.2.1").headers["www-authenticate"]
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    (line,) = [line for line in lines if line["event"] == "oauth.off"]
    assert "public_url" in line["reason"]
    named = open_door(oauth="on", host="0.0.0.0", require_key=True, public_url="https://tokonoma.example.com")
    assert named.get(METADATA, headers=[("host", "tokonoma.example.com")]).status_code == 200


# Registration


def test_registration_answers_as_rfc_7591_says(signed):
    answer = signed.register(client_name="<b>Evil\u202e</b>" + "x" * 10_000)
    assert answer.status_code == 201
    value = answer.json()
    assert value["redirect_uris"] == [REDIRECT]
    assert len(value["client_name"]) == 60
    assert "\u202e" not in value["client_name"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400), (b"{", 400), (b"[]", 400), (b'"x"', 400), (b"null", 400), (b"{}", 400), (b"[" * 50_000, 400),
        (b'{"redirect_uris": ["http://a.example/"]}', 400), (b'{"redirect_uris": "https://a.example/"}', 400),
        (b"\xff\xfe", 400), (b'{"a": "' + b"x" * 70_000 + b'"}', 413),
        (b'{"redirect_uris": ["https://a.example/"], "token_endpoint_auth_method": "private_key_jwt"}', 400),
    ],
)  # fmt: skip
def test_a_registration_that_is_none(signed, body, status):
    answer = signed.post_json("/register", body)
    assert answer.status_code == status
    assert set(answer.json()) == {"error", "error_description"}


def test_registrations_are_counted_for_each_address(signed):
    statuses = [signed.register().status_code for _ in range(REGISTRATIONS)]
    assert statuses == [201] * (REGISTRATIONS - 1) + [429]  # the first was the fixture's
    limited = signed.register()
    assert limited.json()["error"] == "temporarily_unavailable"
    assert int(limited.headers["retry-after"]) > 0
    assert signed.post_json("/register", {"redirect_uris": [REDIRECT]}, remote="192.0.2.1").status_code == 201


def test_registration_can_be_switched_off(open_door):
    door = open_door(oauth="on", oauth_registration=False)
    assert "registration_endpoint" not in door.get(METADATA).json()
    assert door.send("POST", "/register", "127.0.0.1", [], b"{}").status_code == 403


# Tokens


def test_a_client_signs_in_calls_refreshes_and_is_revoked(on_both, timer):
    answer = on_both.exchange(on_both.get_code())
    assert (answer.headers["cache-control"], answer.json()["token_type"]) == ("no-store", "Bearer")
    tokens = answer.json()
    assert "batch" in on_both.list_tools(tokens["access_token"])
    later = on_both.refresh(tokens["refresh_token"]).json()
    assert on_both.call(later["access_token"]).status_code == 200
    revoked = on_both.post_form("/revoke", client_id=on_both.client, token=later["refresh_token"])
    assert (revoked.status_code, revoked.json()) == (200, {})
    timer.at += SECOND
    for token in (tokens["access_token"], later["access_token"]):
        refused = on_both.call(token)
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"].endswith('scope="mcp", error="invalid_token"')
    assert on_both.refresh(later["refresh_token"]).json()["error"] == "invalid_grant"


def test_a_call_is_made_by_the_client_and_the_journal_says_so(signed):
    signed.door.ask(
        signed.sign_in()["access_token"], "call", module="memory", tool_name="save", params={"content": "x"}
    )
    signed.app.journal.flush()
    with signed.app.database.reading() as rows:
        names = {row[0] for row in rows.rows("select principal from journal where module = 'memory'")}
        consents = rows.rows("select principal from journal where module = 'admin' and tool = 'clients.allow'")
    assert names == {"client:laptop"}
    assert [tuple(row) for row in consents] == [("owner",)]


def test_only_a_person_can_agree(signed):
    for person in ("nobody", ""):
        with pytest.raises(Missing):
            signed.get_code(person=person)


@pytest.mark.parametrize(
    "changed",
    [
        {"code_verifier": None}, {"code_verifier": "x" * 43}, {"redirect_uri": "https://a.example/x"},
        {"client_id": "unknown"}, {"client_id": None}, {"resource": "https://evil.example/mcp"}, {"code": "wrong"},
        {"grant_type": "password"}, {"grant_type": None},
    ],
)  # fmt: skip
def test_a_wrong_exchange_is_refused_as_json(signed, changed):
    answer = signed.exchange(**{"code": signed.get_code(), **changed})
    assert answer.status_code in (400, 401)
    assert set(answer.json()) == {"error", "error_description"}
    assert answer.headers["cache-control"] == "no-store"


def test_bodies_that_are_no_form(signed):
    send = signed.door.send
    for headers, body in [
        ([("content-type", "application/json")], b"{}"), ([], b"grant_type=x"), (FORM, b"a=1&a=2"), (FORM, b"%ff=%ff"),
        (FORM, b"&".join(b"a%d=1" % number for number in range(60))),
        (FORM, b"grant_type=refresh_token&refresh_token=%00"),
    ]:  # fmt: skip
        answer = send("POST", "/token", "127.0.0.1", headers, body)
        assert (answer.status_code, answer.json()["error"] in ("invalid_request", "invalid_client")) in (
            (400, True),
            (401, True),
        )
    assert send("POST", "/token", "127.0.0.1", FORM, b"a=" + b"x" * 70_000).status_code == 413


def test_a_confidential_client_by_basic_and_by_post(signed):
    made = signed.register(token_endpoint_auth_method="client_secret_basic").json()
    name, secret = made["client_id"], made["client_secret"]
    basic = [("authorization", "Basic " + base64.b64encode(f"{name}:{secret}".encode()).decode())]
    wrong = [("authorization", "Basic " + base64.b64encode(f"{name}:x".encode()).decode())]

    def ask(headers=(), **changed):
        return signed.exchange(signed.get_code(client=name), headers, client_id=name, **changed)

    assert [ask().status_code, ask(client_secret="x").status_code] == [401, 401]
    refused = ask(wrong)
    assert (refused.status_code, refused.headers["www-authenticate"]) == (401, 'Basic realm="tokonoma"')
    assert [ask(basic).status_code, ask(client_secret=secret).status_code] == [200, 200]


def test_sixteen_exchanges_of_one_code_over_http(on_both):
    on_both.sign_in()
    code = on_both.get_code()
    found = run_together(16, lambda number: on_both.exchange(code).status_code)
    assert sorted(found, key=str) == [200] + [400] * 15


def test_a_code_used_twice_ends_its_grant_within_a_second(on_both, timer):
    code = on_both.get_code()
    token = on_both.exchange(code).json()["access_token"]
    assert on_both.call(token).status_code == 200
    assert on_both.exchange(code).status_code == 400
    timer.at += SECOND
    assert on_both.call(token).status_code == 401


def test_sixteen_refreshes_with_one_token_over_http(on_both):
    token = on_both.sign_in()["refresh_token"]
    found: list[Any] = run_together(16, lambda number: on_both.refresh(token))
    assert {answer.status_code for answer in found} == {200}
    assert len({answer.json()["refresh_token"] for answer in found}) == 1


def test_a_stolen_refresh_token_ends_the_grant_within_a_second(on_both, timer, frozen_clock):
    tokens = on_both.sign_in()
    later = on_both.refresh(tokens["refresh_token"]).json()
    frozen_clock.advance(TOGETHER_SECONDS * 1000)
    latest = on_both.refresh(later["refresh_token"]).json()
    assert on_both.call(latest["access_token"]).status_code == 200
    assert on_both.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"
    timer.at += SECOND
    assert on_both.call(latest["access_token"]).status_code == 401
    assert on_both.refresh(latest["refresh_token"]).status_code == 400


@pytest.mark.parametrize("token", ["unknown", "a.b.c", "tkn_a_b"])
def test_revoking_an_unknown_token_is_no_error(signed, token):
    assert signed.post_form("/revoke", client_id=signed.client, token=token).status_code == 200
    assert signed.post_form("/revoke", client_id="unknown", token=token).status_code == 401


def test_an_access_token_can_be_revoked(on_both, timer):
    token = on_both.sign_in()["access_token"]
    assert on_both.call(token).status_code == 200
    assert on_both.post_form("/revoke", client_id=on_both.client, token=token).status_code == 200
    timer.at += SECOND
    assert on_both.call(token).status_code == 401


# What a token opens


@pytest.fixture(scope="module")
def forged(tmp_path_factory):
    """One server for all attacks, a good token, and the key that signed it."""
    from tokonoma.app import App

    home = tmp_path_factory.mktemp("forged")
    app = App({"home": str(home), "durable": False, "embed_provider": "none", "oauth": "on"}, {})
    signed = SignedDoor(Door(app))
    functions = build_seal_functions(open_keyring(app))
    token = signed.sign_in()["access_token"]
    with app.database.reading() as rows:
        ((kid, key_id, sealed),) = rows.rows("select kid, key_id, sealed from signing_key")
        key = OKPKey.import_key(json.loads(functions.open(rows, kid, key_id, bytes(sealed)))["key"])
    yield signed, GoodToken(token, key)
    app.close()


@pytest.mark.parametrize("name", ATTACKS)
def test_a_forged_token_is_told_where_to_sign_in(forged, name):
    signed, good = forged
    assert signed.call(good.sign()).status_code == 200
    answer = signed.call(ATTACKS[name](good))
    assert answer.status_code == 401
    challenge = answer.headers["www-authenticate"]
    assert f'resource_metadata="{ORIGIN}{RESOURCE}/mcp", scope="mcp", error="invalid_token"' in challenge
    assert set(answer.json()) == {"jsonrpc", "id", "error"}


def test_a_token_is_for_the_name_that_its_client_used(signed):
    token = signed.sign_in()["access_token"]
    assert signed.call(token).status_code == 200
    assert signed.call(token, host="localhost:8722").status_code == 401  # also while the first is remembered
    other = signed.app.authenticator
    assert other.offers_oauth("http://localhost:8722")


def test_a_token_for_the_public_url_is_good_on_this_machine_too(open_door):
    signed = SignedDoor(open_door(public_url="https://tokonoma.example.com"))
    code = signed.get_code(origin="https://tokonoma.example.com")
    answer = signed.exchange(code, [("host", "tokonoma.example.com")])
    assert signed.call(answer.json()["access_token"], host="tokonoma.example.com").status_code == 200
    assert signed.call(answer.json()["access_token"], host="127.0.0.1:8722").status_code == 200


def test_narrowing_and_revoking_act_within_a_second(on_both, timer):
    token = on_both.sign_in(reach=Reach(modules=frozenset({"memory", "items"})))["access_token"]

    def list_modules():
        result = on_both.call(token).json()["result"]["tools"]
        text = next(tool["description"] for tool in result if tool["name"] == "get_module_schema")
        return {name for name in ("memory", "items", "vault") if f"{name}:" in text or f"{name} " in text}

    assert list_modules() == {"memory", "items"}
    with on_both.app.database.writing() as statements:
        update_grant_reach(statements, "laptop", Reach(modules=frozenset({"items"})))
    timer.at += SECOND
    assert list_modules() == {"items"}
    with on_both.app.database.writing() as statements:
        revoke_grant(statements, "laptop")
    timer.at += SECOND
    assert on_both.call(token).status_code == 401


def test_the_end_of_a_person_is_the_end_of_that_persons_clients(on_both, timer):
    add_person(on_both.app.database, "ada", Reach("/ada", "/ada"))
    token = on_both.sign_in(person="ada")["access_token"]
    assert on_both.call(token).status_code == 200
    with on_both.app.database.writing() as statements:
        statements.run("update person set revoked_at = 1 where id = 'ada'")
    timer.at += SECOND
    assert on_both.call(token).status_code == 401


def test_switching_oauth_off_ends_tokens(open_door, tmp_path):
    token = SignedDoor(open_door(oauth="on")).sign_in()["access_token"]
    closed = open_door(oauth="off", require_key=True)
    answer = closed.post(headers=[("authorization", f"Bearer {token}")])
    assert (answer.status_code, answer.headers["www-authenticate"]) == (
        401,
        'Bearer realm="tokonoma", error="invalid_token"',
    )


def test_a_sealed_keyring_keeps_tokens_good_and_makes_no_new_one(signed):
    tokens = signed.sign_in()
    (signed.app.home / "keyring.key").unlink()
    fresh = SignedDoor.__new__(SignedDoor)
    fresh.__dict__ = {**signed.__dict__, "door": Door(signed.app)}
    assert fresh.call(tokens["access_token"]).status_code == 200
    answer = fresh.refresh(tokens["refresh_token"])
    assert (answer.status_code, answer.json()) == (503, {"error": "temporarily_unavailable"})


# Asking a person


def test_what_must_be_shown_is_never_redirected(signed):
    good = {"response_type": "code", "client_id": signed.client, "redirect_uri": REDIRECT, "state": "x"}
    check = signed.oauth.check_authorization
    for changed in ({"redirect_uri": "https://evil.example/"}, {"client_id": "unknown"}, {"client_id": ""}):
        with pytest.raises(ShownError):
            check(list({**good, **changed}.items()), ORIGIN)
    with pytest.raises(RedirectedError) as caught:
        check(list(good.items()), ORIGIN)
    assert "error=invalid_request" in caught.value.location
    assert urlencode({"iss": ORIGIN}) in caught.value.location


# What is loaded

WATCH = """
import asyncio, json, sys
import httpx
from tokonoma.app import App
from tokonoma.cli.serve import build_endpoint

app = App({"home": sys.argv[1], "durable": False, "embed_provider": "none", "oauth": "on", "log_level": "error"}, {})
app.warm(serves=True)
endpoint = build_endpoint(app)
MINE = ("joserfc", "jinja2", "tokonoma.auth.oauth", "tokonoma.server.web", "tokonoma.app.oauth", "tokonoma.app.web")

def loaded():
    return sorted(name for name in sys.modules if name.startswith(MINE))

async def ask(method, path):
    transport = httpx.ASGITransport(endpoint, client=("127.0.0.1", 1))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8722") as client:
        headers = {"content-type": "application/json", "authorization": "Bearer tkn_a_b"}
        return (await client.request(method, path, headers=headers, content=b"{}")).status_code

statuses = [asyncio.run(ask("POST", "/mcp")), asyncio.run(ask("GET", "/health")), asyncio.run(ask("GET", "/ready"))]
before = loaded()
statuses.append(asyncio.run(ask("GET", "/jwks")))
print(json.dumps([statuses, before, "tokonoma.auth.oauth.server" in loaded()]))
app.close()
"""


STDIO = """
import sys
from tokonoma.cli import main
code = main(["stdio", "--home", sys.argv[1], "--no-durable"])
mine = ("joserfc", "tokonoma.auth.o", "tokonoma.server.web")
print(sorted(name for name in list(sys.modules) if name.startswith(mine)), file=sys.stderr)
sys.exit(code)
"""


def test_stdio_loads_nothing_of_it(tmp_path):
    call = {"name": "call", "arguments": {"module": "system", "tool_name": "status", "params": {}}}
    lines = [
        {"method": "initialize", "id": 1, "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}},
        {"method": "notifications/initialized"},
        {"method": "tools/call", "id": 2, "params": call},
    ]  # fmt: skip
    sent = "".join(json.dumps({"jsonrpc": "2.0", **line}) + "\n" for line in lines)
    words = [sys.executable, "-c", STDIO, str(tmp_path / "home")]
    environ = {**os.environ, "TOKONOMA_OAUTH": "on"}
    pipe = subprocess.PIPE
    with subprocess.Popen(words, text=True, stdin=pipe, stdout=pipe, stderr=pipe, env=environ) as process:
        process.stdin.write(sent)
        process.stdin.flush()
        assert [json.loads(process.stdout.readline())["id"] for _ in range(2)] == [1, 2]  # before its input ends
        _, said = process.communicate()
    assert (process.returncode, said.splitlines()[-1]) == (0, "[]"), said


def test_nothing_of_it_is_loaded_before_it_is_asked_for(tmp_path):
    words = [sys.executable, "-c", WATCH, str(tmp_path / "home")]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    statuses, before, after = json.loads(done.stdout)
    assert (statuses, before, after) == ([401, 200, 200, 200], [], True)
