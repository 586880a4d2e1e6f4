"""Whose token it is, asked at a provider on this machine."""

import asyncio
from typing import Any

import pytest
from services.provider_server import CLIENT, SITES

from tokonoma.app.accounts import draft_credentials
from tokonoma.core.errors import Unavailable, Unready
from tokonoma.keyring.accounts import NewAccount
from tokonoma.services.credentials import AppCredentials
from tokonoma.services.identity import ask_who, list_sites, open_http, revoke_tokens
from tokonoma.services.providers import PROVIDERS, get_provider

TOKEN = "token-canary"
APP = AppCredentials(*CLIENT)


def draft(provider, name="github", token=TOKEN, kind: Any = "token", **details):
    new = NewAccount(name, "main", kind=kind, details={"base_url": provider.url, **details})
    return draft_credentials(new, {"access_token" if kind == "oauth" else "token": token})


def run(work, *args):
    async def go():
        async with open_http() as http:
            return await work(http, *args)

    return asyncio.run(go())


@pytest.mark.parametrize("name", sorted(PROVIDERS))
def test_every_provider_says_whose_token_it_is(provider, name):
    provider.tokens = {TOKEN: "ada", f"ada@example.com:{TOKEN}": "ada"}
    kind = "basic" if get_provider(name).token_header == "Basic" else "token"
    assert run(ask_who, draft(provider, name, kind=kind, email="ada@example.com")) == "ada"
    (_, _, headers, _) = provider.asked[0]
    for header, value in get_provider(name).headers.items():
        assert headers[header.lower()] == value


def test_a_site_without_the_first_product_is_asked_for_the_other(provider):
    provider.tokens, provider.missing = {f"a:{TOKEN}": "ada"}, {"/rest/api/3/myself"}
    credentials = draft(provider, "atlassian", kind="basic", email="a")
    assert run(ask_who, credentials) == "ada"
    provider.missing |= {"/wiki/rest/api/user/current"}
    with pytest.raises(Unavailable, match="404"):
        run(ask_who, credentials)


@pytest.mark.parametrize("name", ["github", "google"])
def test_a_refusal_has_the_words_of_the_service_and_not_the_token(provider, name):
    with pytest.raises(Unready, match="Bad credentials") as error:
        run(ask_who, draft(provider, name))
    assert error.value.reason == "token_invalid"
    assert TOKEN not in error.value.message
    assert "\x1b" not in error.value.message
    assert TOKEN not in repr(draft(provider))


def test_a_service_that_is_away_is_no_refusal(provider):
    with pytest.raises(Unavailable, match="cannot be asked at") as error:
        run(ask_who, draft(provider, base_url="http://127.0.0.1:9"))
    assert error.value.reason == "external"


def test_the_sites_of_a_consent_are_told_once_each(provider):
    provider.tokens, provider.sites = {TOKEN: "ada"}, SITES
    found = run(list_sites, draft(provider, "atlassian", kind="oauth"))
    assert [(each.cloud_id, each.name) for each in found] == [("cloud-1", "acme"), ("cloud-2", "beta")]


@pytest.mark.parametrize(
    ("name", "gone"), [("github", "access"), ("notion", "access"), ("supabase", "refresh"), ("google", "refresh")]
)
def test_a_consent_is_revoked_as_its_provider_wants_it(provider, name, gone):
    provider.tokens = {"access": "ada", "refresh": "ada"}
    path = "/applications/{client_id}/token" if name == "github" else "/revoke"
    secrets = {"access_token": "access", "refresh_token": "refresh"}
    run(revoke_tokens, get_provider(name), provider.url + path, APP, secrets)
    assert set(provider.tokens) == {"access", "refresh"} - {gone}
    assert all("access" not in path and "refresh" not in path for _, path, _, _ in provider.asked)
    with pytest.raises(Unavailable, match="status 400") as error:
        run(revoke_tokens, get_provider(name), provider.url + path, APP, dict.fromkeys(secrets, "canary"))
    assert "canary" not in error.value.message
