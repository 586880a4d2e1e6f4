"""Codes are good once; refresh tokens rotate, and several processes may share one; what was stolen ends the grant."""

from typing import Any

import pytest
from auth.oauth.house import ORIGIN, REDIRECT, RULES, VERIFIER, add_person, read_claims, run_together

from tokonoma.auth.oauth.errors import OAuthError
from tokonoma.auth.oauth.exchange import TOGETHER_SECONDS, TokenRules
from tokonoma.auth.oauth.grants import find_grant, list_grants
from tokonoma.auth.oauth.server import OAuthRules
from tokonoma.core.reach import Reach

MINUTE = 60_000


@pytest.fixture
def client(house):
    return house.register()["client_id"]


def read_grants(house):
    with house.database.reading() as rows:
        return list_grants(rows)


def catch(action, *args, **options):
    with pytest.raises(OAuthError) as caught:
        action(*args, **options)
    return caught.value.error


def test_a_code_becomes_tokens(house, client):
    reach = Reach("/team", "/team/ada", frozenset({"memory"}), frozenset({"*:destroy"}))
    answer = house.sign_in(client, reach=reach)
    assert (answer["token_type"], answer["expires_in"], answer["scope"]) == ("Bearer", 3600, "mcp offline_access")
    (grant,) = read_grants(house)
    assert (grant.name, grant.reach, grant.effective, grant.state) == ("test-client", reach, reach, "active")
    assert (grant.person, grant.remote, grant.resource) == ("owner", "192.0.2.7", f"{ORIGIN}/mcp")
    claims = read_claims(answer["access_token"])
    assert {"iss": ORIGIN, "aud": f"{ORIGIN}/mcp", "sub": "owner", "client_id": client, "grant": grant.id}.items() <= (
        claims.items()
    )
    assert claims["exp"] - claims["iat"] == 3600
    assert claims["jti"]


def test_nothing_that_opens_something_is_stored(house, client):
    code = house.get_code(client)
    answer = house.exchange(client, code)
    later = house.refresh(client, answer["refresh_token"])
    secrets = [code, answer["refresh_token"], later["refresh_token"], answer["access_token"], VERIFIER]
    with house.database.reading() as rows:
        stored = [
            bytes(value) if isinstance(value, bytes | memoryview) else str(value).encode()
            for table in ("oauth_client", "oauth_grant", "oauth_code", "oauth_refresh", "signing_key")
            for row in rows.rows(f"select * from {table}")
            for value in row
        ]
    assert not [secret for secret in secrets for value in stored if secret.encode() in value]


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"code_verifier": None}, "invalid_grant"),
        ({"code_verifier": ""}, "invalid_grant"),
        ({"code_verifier": VERIFIER[:-1]}, "invalid_grant"),
        ({"code_verifier": VERIFIER[:-1] + "x"}, "invalid_grant"),
        ({"code_verifier": "a" * 129}, "invalid_grant"),
        ({"code_verifier": "ö" * 43}, "invalid_grant"),
        ({"redirect_uri": "https://a.example/other"}, "invalid_grant"),
        ({"redirect_uri": ""}, "invalid_grant"),
        ({"resource": "https://evil.example/mcp"}, "invalid_target"),
        ({"resource": "http://localhost:8722/mcp"}, "invalid_target"),
        ({"grant_type": "password"}, "unsupported_grant_type"),
        ({"grant_type": "client_credentials"}, "unsupported_grant_type"),
        ({"grant_type": None}, "invalid_request"),
        ({"code": "wrong"}, "invalid_grant"),
        ({"code": ""}, "invalid_request"),
        ({"code": None}, "invalid_request"),
        ({"client_id": None}, "invalid_client"),
        ({"client_id": "unknown"}, "invalid_client"),
    ],
)
def test_anything_wrong_gives_no_token_and_leaves_the_code(house, client, changed, error):
    code = house.get_code(client)
    assert catch(house.exchange, **{"client_id": client, "code": code, **changed}) == error
    assert read_grants(house) == []
    assert house.exchange(client, code)


def test_another_client_cannot_use_a_code_nor_end_what_it_gave(house, client):
    other = house.register()["client_id"]
    code = house.get_code(client)
    assert catch(house.exchange, other, code) == "invalid_grant"
    house.exchange(client, code)
    assert catch(house.exchange, other, code) == "invalid_grant"
    assert [grant.state for grant in read_grants(house)] == ["active"]


def test_a_code_belongs_to_the_address_that_it_was_asked_for(house, client):
    code = house.get_code(client)
    assert catch(house.exchange, client, code, origin="http://localhost:8722") == "invalid_target"


def test_a_code_is_good_for_a_minute(house, client, frozen_clock):
    code, late = house.get_code(client), house.get_code(client)
    frozen_clock.advance(MINUTE - 1)
    assert house.exchange(client, code)
    frozen_clock.advance(1)
    assert catch(house.exchange, client, late) == "invalid_grant"


def test_a_code_that_is_used_twice_ends_what_it_gave(house, client):
    code = house.get_code(client)
    answer = house.exchange(client, code)
    assert catch(house.exchange, client, code) == "invalid_grant"
    assert [grant.state for grant in read_grants(house)] == ["revoked"]
    assert catch(house.refresh, client, answer["refresh_token"]) == "invalid_grant"


def test_of_sixteen_exchanges_at_once_one_wins(house, client):
    house.sign_in(client)  # the first one makes the signing key, and all others would wait for that
    code = house.get_code(client)
    servers = [house.open_server() for _ in range(2)]

    def exchange(number):
        house.server = servers[number % 2]
        return house.exchange(client, code)

    found = run_together(16, exchange)
    assert len([each for each in found if isinstance(each, dict)]) == 1
    assert {each.error for each in found if isinstance(each, OAuthError)} == {"invalid_grant"}
    assert len(found) == 16
    assert len(read_grants(house)) == 2


def test_a_person_without_access_gets_nothing(house, client):
    add_person(house.database, "ada")
    code, tokens = house.get_code(client, person="ada"), house.sign_in(client, person="ada")
    with house.database.writing() as statements:
        statements.run("update person set revoked_at = 1 where id = 'ada'")
    assert catch(house.exchange, client, code) == "invalid_grant"
    assert catch(house.refresh, client, tokens["refresh_token"]) == "invalid_grant"


def test_redirect_uri_may_be_left_out_as_in_oauth_2_1(house, client):
    assert house.exchange(client, house.get_code(client), redirect_uri=None)


def test_a_refresh_token_rotates(house, client, frozen_clock):
    tokens = [house.sign_in(client)["refresh_token"]]
    for _ in range(4):
        frozen_clock.advance(31 * MINUTE)
        answer = house.refresh(client, tokens[-1])
        tokens.append(answer["refresh_token"])
        assert answer["expires_in"] == 3600
    assert len(set(tokens)) == 5
    (grant,) = read_grants(house)
    assert (grant.state, grant.remote, grant.reused) == ("active", "192.0.2.8", 0)


def test_sixteen_refreshes_at_once_get_one_and_the_same_successor(house, client):
    token = house.sign_in(client)["refresh_token"]
    servers = [house.open_server() for _ in range(4)]  # also in processes that have not signed anything yet

    def refresh(number):
        house.server = servers[number % 4]
        return house.refresh(client, token)

    found: list[Any] = run_together(16, refresh)
    assert len({each["refresh_token"] for each in found}) == 1
    assert len({each["access_token"] for each in found}) == 16
    assert len(found) == 16
    assert [(grant.state, grant.reused) for grant in read_grants(house)] == [("active", 15)]


def test_five_clients_that_share_a_credential_keep_it(house, client, frozen_clock):
    """Each reads the newest token that any of them has stored, and may be late by less than the grace."""
    stored = house.sign_in(client)["refresh_token"]
    for _ in range(10):
        frozen_clock.advance(61 * MINUTE)
        found = run_together(5, lambda number, token=stored: house.refresh(client, token)["refresh_token"])
        assert len(set(found)) == 1
        stored = found[0]
    assert [grant.state for grant in read_grants(house)] == ["active"]


def test_a_client_that_reads_a_successor_too_early_does_not_end_the_others(house, client, frozen_clock):
    """Of five that begin together, one reads what another has just stored. The last one to write may be any of them."""
    stored = house.sign_in(client)["refresh_token"]
    for _ in range(10):
        frozen_clock.advance(61 * MINUTE)
        first = house.refresh(client, stored)["refresh_token"]
        early = house.refresh(client, first)["refresh_token"]
        frozen_clock.advance(TOGETHER_SECONDS * 1000 - 1)
        late = house.refresh(client, stored)["refresh_token"]
        assert early == late == first
        stored = late
    assert [grant.state for grant in read_grants(house)] == ["active"]
    frozen_clock.advance(61 * MINUTE)
    assert house.refresh(client, stored)["refresh_token"] != stored


def test_asking_again_within_the_grace_gives_the_same_successor(house, client, frozen_clock):
    token = house.sign_in(client)["refresh_token"]
    first = house.refresh(client, token)
    frozen_clock.advance(30 * MINUTE - 1)
    assert house.refresh(client, token)["refresh_token"] == first["refresh_token"]
    (grant,) = read_grants(house)
    assert (grant.reused, grant.reused_remote) == (1, "192.0.2.8")


def test_asking_again_after_the_grace_ends_the_grant(house, client, frozen_clock):
    token = house.sign_in(client)["refresh_token"]
    later = house.refresh(client, token)["refresh_token"]
    frozen_clock.advance(30 * MINUTE)
    assert catch(house.refresh, client, token) == "invalid_grant"
    assert [grant.state for grant in read_grants(house)] == ["revoked"]
    assert catch(house.refresh, client, later) == "invalid_grant"


def test_asking_again_after_the_successor_was_used_ends_the_grant(house, client, frozen_clock):
    token = house.sign_in(client)["refresh_token"]
    later = house.refresh(client, token)["refresh_token"]
    frozen_clock.advance(TOGETHER_SECONDS * 1000)
    assert house.refresh(client, later)["refresh_token"] != later
    assert catch(house.refresh, client, token) == "invalid_grant"
    assert [grant.state for grant in read_grants(house)] == ["revoked"]


def test_without_a_grace_a_second_use_ends_the_grant(open_house):
    house = open_house(rules=OAuthRules(TokenRules(RULES.access_seconds, RULES.refresh_seconds, 0)))
    client = house.register()["client_id"]
    token = house.sign_in(client)["refresh_token"]
    house.refresh(client, token)
    assert catch(house.refresh, client, token) == "invalid_grant"
    assert [grant.state for grant in read_grants(house)] == ["revoked"]


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"client_id": "other"}, "invalid_client"),
        ({"scope": "mcp admin"}, "invalid_scope"),
        ({"resource": "https://evil.example/mcp"}, "invalid_target"),
        ({"token": "wrong"}, "invalid_grant"),
        ({"token": ""}, "invalid_request"),
        ({"origin": "http://localhost:8722"}, "invalid_target"),
    ],
)
def test_a_wrong_refresh_gives_nothing_and_ends_nothing(house, client, changed, error):
    token = house.sign_in(client)["refresh_token"]
    assert catch(house.refresh, **{"client_id": client, "token": token, **changed}) == error
    assert house.refresh(client, token)


def test_another_client_cannot_refresh(house, client):
    token = house.sign_in(client)["refresh_token"]
    assert catch(house.refresh, house.register()["client_id"], token) == "invalid_grant"
    assert house.refresh(client, token, scope="mcp")["scope"] == "mcp"


def test_a_narrower_scope_stays_within_the_grant(house, client):
    token = house.sign_in(client, scope="mcp")["refresh_token"]
    assert catch(house.refresh, client, token, scope="mcp offline_access") == "invalid_scope"


def test_an_unused_refresh_token_expires(house, client, frozen_clock):
    token = house.sign_in(client)["refresh_token"]
    frozen_clock.advance(60 * 24 * 60 * MINUTE)
    assert catch(house.refresh, client, token) == "invalid_grant"
    assert [grant.state for grant in read_grants(house)] == ["expired"]


@pytest.mark.parametrize("kind", ["refresh_token", "access_token"])
def test_revoking_either_token_ends_the_grant(house, client, kind):
    answer = house.sign_in(client)
    house.revoke(client, answer[kind])
    assert [grant.state for grant in read_grants(house)] == ["revoked"]
    assert catch(house.refresh, client, answer["refresh_token"]) == "invalid_grant"
    house.revoke(client, answer[kind])


def test_revoking_what_is_unknown_or_of_another_client_changes_nothing(house, client):
    answer, other = house.sign_in(client), house.register()["client_id"]
    for token in ("unknown", answer["refresh_token"], answer["access_token"], "a.b.c"):
        house.revoke(other, token)
    assert [grant.state for grant in read_grants(house)] == ["active"]
    assert catch(house.revoke, "unknown", answer["refresh_token"]) == "invalid_client"
    assert catch(house.revoke, client, "") == "invalid_request"


def test_two_grants_of_one_client_have_their_own_names(house, client):
    for _ in range(3):
        house.sign_in(client)
    assert sorted(grant.name for grant in read_grants(house)) == ["test-client", "test-client-2", "test-client-3"]
    with house.database.reading() as rows:
        assert find_grant(rows, "client:test-client-2").name == "test-client-2"


def test_simultaneous_sign_ins_have_their_own_names(house, client):
    codes = [house.get_code(client) for _ in range(8)]
    found = run_together(8, lambda number: house.exchange(client, codes[number]))
    assert [each for each in found if isinstance(each, Exception)] == []
    assert len({grant.name for grant in read_grants(house)}) == 8


def test_the_address_that_was_sent_is_the_one_that_is_compared(house, client):
    code = house.get_code(client, redirect_uri=REDIRECT)
    assert catch(house.exchange, client, code, redirect_uri=REDIRECT + "/") == "invalid_grant"
