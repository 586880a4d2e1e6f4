"""The issuers: a consent gives a code, a code gives tokens once; tokens expire and rotate as the provider's do."""

import asyncio
import base64
import hashlib
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx
import pytest
from connectors.standins import SERVICES, Standin, answer, start_standin
from connectors.standins.atlassian import CLOUD_ID
from connectors.standins.fixtures import *  # noqa: F403
from connectors.standins.fixtures import StandinCaller

BACK = "http://127.0.0.1:1/services/callback"
VERIFIER = "v" * 64
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
EVERY = pytest.mark.parametrize("standin", SERVICES, indirect=True)
WITH_PKCE = pytest.mark.parametrize(
    "standin", ["github", "supabase", "google_calendar", "microsoft_todo"], indirect=True
)
SINGLE_USE = pytest.mark.parametrize("standin", ["github", "notion", "jira", "confluence", "supabase"], indirect=True)


def ask_consent(standin: Standin, http: httpx.Client, **change: str | None) -> httpx.Response:
    query: dict[str, str | None] = {"client_id": standin.oauth.client_id, "redirect_uri": BACK, "response_type": "code"}
    query |= {"state": "s1", "scope": "read:jira-work offline_access", **standin.oauth.rules.authorize_needs}
    query |= {"code_challenge": CHALLENGE, "code_challenge_method": "S256", "access_type": "offline", **change}
    return http.get(f"{standin.authorize_url}?{urlencode({n: v for n, v in query.items() if v is not None})}")


def take_code(standin: Standin, http: httpx.Client) -> str:
    back = ask_consent(standin, http)
    assert back.status_code == 302
    given = dict(parse_qsl(urlsplit(back.headers["location"]).query))
    assert back.headers["location"].startswith(BACK)
    assert given["state"] == "s1"
    return given["code"]


def ask_token(standin: Standin, http: httpx.Client, **grant: str) -> httpx.Response:
    rules, who = standin.oauth.rules, (standin.oauth.client_id, grant.pop("secret", standin.oauth.client_secret))
    headers = {"Accept": "application/json"}
    if rules.client_auth == "basic":
        headers["Authorization"] = "Basic " + base64.b64encode(":".join(who).encode()).decode()
    else:
        grant |= {"client_id": who[0], "client_secret": who[1]}
    if rules.token_body == "json":
        return http.post(standin.token_url, json=grant, headers=headers)
    return http.post(standin.token_url, data=grant, headers=headers)


def exchange(standin: Standin, http: httpx.Client, code: str, verifier: str = VERIFIER) -> httpx.Response:
    grant = {"grant_type": "authorization_code", "code": code, "redirect_uri": BACK, "code_verifier": verifier}
    return ask_token(standin, http, **grant)


def refresh(standin: Standin, http: httpx.Client, token: str) -> httpx.Response:
    return ask_token(standin, http, grant_type="refresh_token", refresh_token=token)


def is_error(standin: Standin, response: httpx.Response) -> bool:
    return response.status_code == standin.oauth.rules.error_status and "error" in response.json()


def ask_whoami(call: StandinCaller, token: str) -> int:
    return call(f"GET {call.standin.state.whoami}", token=token).status_code


@EVERY
def test_a_consent_gives_a_code_that_is_good_once(standin, standin_http, standin_call):
    code = take_code(standin, standin_http)
    given = exchange(standin, standin_http, code)
    assert given.status_code == 200
    assert ask_whoami(standin_call, given.json()["access_token"]) == 200
    assert given.json().get("expires_in") == (None if standin.service == "notion" else 3600)
    assert is_error(standin, exchange(standin, standin_http, code))


@EVERY
@pytest.mark.parametrize(
    "wrong", [{"client_id": "x"}, {"redirect_uri": "https://example.org/"}, {"response_type": "token"}]
)
def test_a_wrong_consent_is_not_sent_back(standin, standin_http, wrong):
    assert ask_consent(standin, standin_http, **wrong).status_code == 400


@pytest.mark.parametrize(
    ("standin", "name"), [("notion", "owner"), ("jira", "audience"), ("confluence", "prompt")], indirect=["standin"]
)
def test_what_a_provider_wants_of_a_consent_is_required(standin, standin_http, name):
    assert ask_consent(standin, standin_http, **{name: None}).status_code == 400


@EVERY
def test_a_person_may_say_no(standin, standin_http):
    standin.oauth.denies = True
    back = ask_consent(standin, standin_http)
    assert dict(parse_qsl(urlsplit(back.headers["location"]).query)) == {"state": "s1", "error": "access_denied"}


@EVERY
def test_a_code_belongs_to_the_address_that_it_was_sent_to(standin, standin_http):
    code = take_code(standin, standin_http)
    grant = {"grant_type": "authorization_code", "code": code, "code_verifier": VERIFIER}
    assert is_error(standin, ask_token(standin, standin_http, **grant, redirect_uri=f"{BACK}/other"))


@WITH_PKCE
def test_another_verifier_than_the_challenge_is_refused(standin, standin_http):
    assert ask_consent(standin, standin_http, code_challenge=None).status_code == 400
    assert ask_consent(standin, standin_http, code_challenge_method="plain").status_code == 400
    code = take_code(standin, standin_http)
    assert is_error(standin, exchange(standin, standin_http, code, "w" * 64))


@EVERY
def test_a_client_with_a_wrong_secret_is_refused(standin, standin_http):
    pair = standin.oauth.issue()
    wrong = {"grant_type": "refresh_token", "refresh_token": pair["refresh_token"], "secret": "wrong"}
    found = ask_token(standin, standin_http, **wrong)
    assert "error" in found.json()
    assert found.status_code == (200 if standin.service == "github" else 401)
    assert standin.oauth.refreshes == 0


@EVERY
def test_a_body_of_another_kind_is_refused(standin, standin_http):
    kind = "form" if standin.oauth.rules.token_body == "json" else "json"
    body = {"data": {"a": "b"}} if kind == "form" else {"json": {"a": "b"}}
    assert standin_http.post(standin.token_url, headers={"Accept": "application/json"}, **body).status_code == 400


@EVERY
def test_an_expired_token_is_refused_and_a_refresh_cures_it(standin, standin_http, standin_call):
    pair = standin.oauth.issue()
    assert ask_whoami(standin_call, pair["access_token"]) == 200
    standin.oauth.advance(3601)
    assert ask_whoami(standin_call, pair["access_token"]) == 401
    new = refresh(standin, standin_http, pair["refresh_token"]).json()
    assert ask_whoami(standin_call, new["access_token"]) == 200
    assert standin.oauth.refreshes == 1
    assert [seen.status for seen in standin.token_requests] == [200]


@SINGLE_USE
def test_a_refresh_token_is_good_once(standin, standin_http):
    first = standin.oauth.issue()["refresh_token"]
    second = refresh(standin, standin_http, first).json()["refresh_token"]
    assert second != first
    assert is_error(standin, refresh(standin, standin_http, first))
    assert refresh(standin, standin_http, second).status_code == 200
    assert standin.oauth.refreshes == 3


@SINGLE_USE
def test_with_grace_a_used_refresh_token_gives_the_same_pair(standin, standin_http):
    standin.oauth.grace = True
    first = standin.oauth.issue()["refresh_token"]
    assert refresh(standin, standin_http, first).json() == refresh(standin, standin_http, first).json()


def test_google_keeps_its_refresh_token_and_microsoft_keeps_the_old_one(standin_http):
    with start_standin("google_calendar") as standin:
        token = standin.oauth.issue()["refresh_token"]
        assert "refresh_token" not in refresh(standin, standin_http, token).json()
        assert refresh(standin, standin_http, token).status_code == 200
        code = dict(parse_qsl(urlsplit(ask_consent(standin, standin_http, access_type=None).headers["location"]).query))
        assert "refresh_token" not in exchange(standin, standin_http, code["code"]).json()
    with start_standin("microsoft_todo") as standin:
        token = standin.oauth.issue()["refresh_token"]
        assert refresh(standin, standin_http, token).json()["refresh_token"] != token
        assert refresh(standin, standin_http, token).status_code == 200


def test_a_refresh_at_notion_ends_the_access_token_before(standin_http):
    with start_standin("notion") as standin:
        call = StandinCaller(standin, standin_http)
        pair = standin.oauth.issue()
        refresh(standin, standin_http, pair["refresh_token"])
        assert ask_whoami(call, pair["access_token"]) == 401


@EVERY
def test_a_revoked_grant_ends_its_tokens(standin, standin_http, standin_call):
    pair = standin.oauth.issue()
    standin.oauth.revoke(pair["refresh_token"])
    assert ask_whoami(standin_call, pair["access_token"]) == 401
    assert is_error(standin, refresh(standin, standin_http, pair["refresh_token"]))


def test_a_stand_in_starts_inside_a_running_loop():
    async def ask() -> int:
        with start_standin("github") as standin:
            async with httpx.AsyncClient(trust_env=False, verify=False) as http:
                return (await http.get(f"{standin.url}/user")).status_code

    assert asyncio.run(ask()) == 401


@pytest.mark.parametrize("standin", ["github", "notion", "supabase", "google_calendar"], indirect=True)
@pytest.mark.parametrize("secret", ["right", "wrong"])
def test_tokens_are_revoked_over_the_wire_by_their_client(standin, standin_http, secret):
    pair, who = standin.oauth.issue(), (standin.oauth.client_id, standin.oauth.client_secret)
    who = who if secret == "right" else (who[0], "wrong")
    named = {"client_id": who[0], "client_secret": who[1], "refresh_token": pair["refresh_token"]}
    token = pair["access_token"]
    asked: dict[str, tuple[str, str, dict[str, Any]]] = {
        "github": ("DELETE", f"/applications/{who[0]}/grant", {"json": {"access_token": token}, "auth": who}),
        "notion": ("POST", "/v1/oauth/revoke", {"json": {"token": token}, "auth": who}),
        "supabase": ("POST", "/v1/oauth/revoke", {"json": named}),
        "google_calendar": ("POST", "/revoke", {"data": {"token": token}}),
    }
    method, path, sent = asked[standin.service]
    found = standin_http.request(method, standin.url + path, **sent)
    is_let_in = secret == "right" or standin.service == "google_calendar"  # which asks for no client
    assert found.is_success == is_let_in
    assert standin.oauth.knows(token) != is_let_in


def test_one_consent_at_atlassian_serves_both_products_at_the_gateway_alone(standin_http):
    with start_standin("jira") as jira, start_standin("confluence", oauth=jira.oauth) as confluence:
        token = exchange(jira, standin_http, take_code(jira, standin_http)).json()["access_token"]
        for standin in (jira, confluence):
            call = StandinCaller(standin, standin_http)
            assert ask_whoami(call, token) == 200
            site = f"GET {standin.url}{standin.state.whoami}"
            assert call(site, token=token).status_code == 401
            assert call(site).status_code == 200  # the API token
            assert (
                call(f"GET {standin.url}/ex/{standin.service}/other{standin.state.whoami}", token=token).status_code
                == 404
            )
        place = f"{jira.url}/oauth/token/accessible-resources"
        sites = standin_http.get(place, headers={"Authorization": f"Bearer {token}"}).json()
        assert [(site["id"], site["scopes"]) for site in sites] == [(CLOUD_ID, ["read:jira-work"])]
        assert standin_http.get(place).status_code == 401


@EVERY
def test_nothing_of_a_secret_is_in_the_log_of_requests(standin, standin_http, standin_call):
    pair = standin.oauth.issue()
    ask_whoami(standin_call, pair["access_token"])
    refresh(standin, standin_http, pair["refresh_token"])
    log = repr([standin.requests, standin.token_requests])
    for secret in (pair["access_token"], pair["refresh_token"], standin.oauth.client_secret):
        assert secret not in log
    if standin.service not in ("jira", "confluence"):
        assert standin.requests[-1].token_end == pair["access_token"][-6:]


@EVERY
def test_the_token_endpoint_has_its_own_script(standin, standin_http, standin_call):
    standin.faults.script([answer(400, {"error": "invalid_grant"})], path=standin.oauth.rules.token_path)
    standin.faults.script([answer(503)])
    pair = standin.oauth.issue()
    assert refresh(standin, standin_http, pair["refresh_token"]).json() == {"error": "invalid_grant"}
    assert refresh(standin, standin_http, pair["refresh_token"]).status_code == 200
    assert ask_whoami(standin_call, standin.token) == 503
    assert standin.faults.left == 0
