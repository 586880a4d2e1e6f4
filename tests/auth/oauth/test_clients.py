"""Registration and authentication of clients."""

import base64
from urllib.parse import quote_plus

import pytest
from auth.oauth import house as tools
from auth.oauth.hostile import HOSTILE_URIS
from auth.oauth.house import ORIGIN, REDIRECT

from tokonoma.auth.oauth import clients
from tokonoma.auth.oauth.clients import MAX_UNUSED, delete_client, find_client
from tokonoma.auth.oauth.errors import OAuthError
from tokonoma.auth.oauth.server import OAuthLimits, OAuthRules
from tokonoma.auth.rate_limit import RateLimiter

HOUR = 3_600_000


def test_a_public_client_is_registered_without_a_secret(house):
    answer = house.register(client_uri="https://a.example/", scope="mcp openid", logo_uri="https://a.example/l.png")
    assert (answer["token_endpoint_auth_method"], answer["redirect_uris"]) == ("none", [REDIRECT])
    assert (answer["grant_types"], answer["response_types"]) == (["authorization_code", "refresh_token"], ["code"])
    assert (answer["scope"], answer["client_uri"]) == ("mcp", "https://a.example/")
    assert "client_secret" not in answer
    assert "logo_uri" not in answer
    with house.database.reading() as rows:
        client = find_client(rows, answer["client_id"])
    assert (client.kind, client.name, client.secret, client.host) == ("registered", "Test Client", None, "")


def test_a_secret_is_shown_once_and_stored_as_a_hash(house):
    answer = house.server.register({"redirect_uris": [REDIRECT]}, None)  # RFC 7591: basic unless it says otherwise
    assert answer["token_endpoint_auth_method"] == "client_secret_basic"
    assert answer["client_secret_expires_at"] == 0
    with house.database.reading() as rows:
        ((secret, document),) = rows.rows("select secret, document from oauth_client")
    assert answer["client_secret"] not in document
    assert answer["client_secret"].encode() not in bytes(secret)


@pytest.mark.parametrize("uri", HOSTILE_URIS, ids=repr)
def test_a_hostile_address_is_refused(sqlite_house, uri):
    with pytest.raises(OAuthError) as caught:
        sqlite_house.register(redirect_uris=[REDIRECT, uri])
    assert (caught.value.error, caught.value.status) == ("invalid_redirect_uri", 400)


@pytest.mark.parametrize("uris", [None, [], "https://a.example/cb", {}, [REDIRECT] * 21, 7])
def test_there_must_be_one_to_twenty_addresses(sqlite_house, uris):
    with pytest.raises(OAuthError, match="1 to 20") as caught:
        sqlite_house.register(redirect_uris=uris)
    assert caught.value.error == "invalid_redirect_uri"
    assert sqlite_house.register(redirect_uris=[REDIRECT] * 20)


@pytest.mark.parametrize(
    "changed",
    [
        {"token_endpoint_auth_method": "private_key_jwt"},
        {"token_endpoint_auth_method": "tls_client_auth"},
        {"token_endpoint_auth_method": 7},
        {"grant_types": ["client_credentials"]},
        {"grant_types": ["refresh_token"]},
        {"grant_types": []},
        {"grant_types": "authorization_code"},
        {"response_types": ["token"]},
        {"response_types": 1},
    ],
)
def test_what_is_not_supported_is_refused(sqlite_house, changed):
    with pytest.raises(OAuthError) as caught:
        sqlite_house.register(**changed)
    assert (caught.value.error, caught.value.status) == ("invalid_client_metadata", 400)


@pytest.mark.parametrize("metadata", [None, [], "x", 7, True])
def test_metadata_is_an_object(sqlite_house, metadata):
    with pytest.raises(OAuthError) as caught:
        sqlite_house.server.register(metadata, None)
    assert caught.value.error == "invalid_client_metadata"


def test_registration_can_be_switched_off(open_house):
    with pytest.raises(OAuthError) as caught:
        open_house(rules=OAuthRules(tools.RULES, registration=False)).register()
    assert caught.value.status == 403


def test_twenty_registrations_an_hour_for_each_address(open_house, database, frozen_clock):
    limiter = RateLimiter(database.writing, 20, 3600.0)
    house = open_house(limits=OAuthLimits(limiter.take, tools.take_any))
    for _ in range(20):
        house.register()
    with pytest.raises(OAuthError) as caught:
        house.register()
    assert caught.value.status == 429
    assert 0 < caught.value.retry_after <= 180
    assert house.server.register({"redirect_uris": [REDIRECT]}, "192.0.2.1")
    frozen_clock.advance(HOUR)
    assert house.register()


def test_of_too_many_unused_clients_the_oldest_go_first(house, frozen_clock, monkeypatch):
    monkeypatch.setattr(clients, "MAX_UNUSED", 5)
    used = house.register()["client_id"]
    house.get_code(used)
    old = []
    for _ in range(5):
        frozen_clock.advance(1)
        old.append(house.register()["client_id"])
    with pytest.raises(OAuthError) as caught:  # all of them may still be waiting for their person
        house.register()
    assert caught.value.status == 429
    frozen_clock.advance(HOUR + 1)
    new = [house.register()["client_id"] for _ in range(2)]
    with house.database.reading() as rows:
        left = {row[0] for row in rows.rows("select id from oauth_client")}
    assert left == {used, *old[2:], *new}


def test_a_thousand_unused_clients_may_wait():
    assert MAX_UNUSED == 1000


def basic(name, secret):
    return "Basic " + base64.b64encode(f"{quote_plus(name)}:{quote_plus(secret)}".encode()).decode()


def test_a_confidential_client_shows_its_secret(house):
    made = house.server.register({"redirect_uris": [REDIRECT]}, None)
    name, secret = made["client_id"], made["client_secret"]
    for wrong in ({}, {"client_secret": ""}, {"client_secret": "wrong"}, {"authorization": basic(name, "wrong")}):
        with pytest.raises(OAuthError) as caught:
            house.exchange(name, house.get_code(name), **wrong)
        assert (caught.value.error, caught.value.status) == ("invalid_client", 401)
    assert house.exchange(name, house.get_code(name), client_secret=secret)
    assert house.exchange(name, house.get_code(name), authorization=basic(name, secret))
    answer = house.exchange(None, house.get_code(name), authorization=basic(name, secret))
    with pytest.raises(OAuthError) as caught:
        house.refresh(name, answer["refresh_token"])
    assert caught.value.error == "invalid_client"


@pytest.mark.parametrize("header", ["Basic", "Basic x", "Basic " + base64.b64encode(b"x").decode(), "Bearer x", "x"])
def test_a_strange_authorization_is_an_unknown_client(sqlite_house, header):
    with pytest.raises(OAuthError) as caught:
        sqlite_house.exchange(sqlite_house.register()["client_id"], "code", authorization=header)
    assert caught.value.error == "invalid_client"


def test_a_secret_in_two_places_is_refused(house):
    made = house.server.register({"redirect_uris": [REDIRECT]}, None)
    name, secret = made["client_id"], made["client_secret"]
    with pytest.raises(OAuthError) as caught:
        house.exchange(name, "code", client_secret=secret, authorization=basic(name, secret))
    assert caught.value.error == "invalid_request"
    with pytest.raises(OAuthError) as caught:
        house.exchange("other", "code", authorization=basic(name, secret))
    assert caught.value.error == "invalid_request"


def test_a_deleted_client_is_told_to_register_again(house):
    name = house.register()["client_id"]
    answer = house.sign_in(name)
    with house.database.writing() as statements:
        assert delete_client(statements, name)
        assert not delete_client(statements, name)
    with pytest.raises(OAuthError) as caught:
        house.refresh(name, answer["refresh_token"])
    assert (caught.value.error, caught.value.status) == ("invalid_client", 401)


@pytest.mark.parametrize("name", ["", "unknown", "x\0y", "x" * 5000, "ö", "' or 1=1 --"])
def test_an_unknown_client_gets_no_token(house, name):
    with pytest.raises(OAuthError) as caught:
        house.exchange(name, "code", origin=ORIGIN)
    assert caught.value.error == "invalid_client"
