"""Access tokens: ours pass, everything else does not; keys change, and are sealed."""

import json

import pytest
from auth.oauth.house import ORIGIN, add_person, read_claims
from auth.oauth.jwt_attacks import ATTACKS, GoodToken
from joserfc.jwk import OKPKey

from tokonoma.auth.oauth.bearer import find_bearer
from tokonoma.auth.oauth.grants import revoke_grant, update_grant_reach
from tokonoma.auth.oauth.signing import MAX_AGE, SigningKeys, reseal_keys
from tokonoma.auth.oauth.tokens import MAX_TOKEN, verify_token
from tokonoma.core.errors import Denied, Unauthenticated, Unavailable
from tokonoma.core.reach import Reach
from tokonoma.keyring.data_keys import Keyring
from tokonoma.keyring.rotate import move_secrets, start_rotation
from tokonoma.keyring.source import HomeKey

MINUTE = 60_000


def open_key(house) -> OKPKey:
    functions = house.open_seal()
    with house.database.reading() as rows:
        kid, key_id, sealed = rows.row("select kid, key_id, sealed from signing_key order by created_at desc limit 1")
        return OKPKey.import_key(json.loads(functions.open(rows, kid, key_id, bytes(sealed)))["key"])


def find(house, token, origins=(ORIGIN,)):
    with house.database.reading() as rows:
        return find_bearer(rows, token, origins)


def sign_in(house, **options):
    return house.sign_in(house.register()["client_id"], **options)


def test_a_token_leads_to_its_client(house):
    reach = Reach("/team", "/team", mask=frozenset({"*:write"}))
    found = find(house, sign_in(house, reach=reach)["access_token"])
    assert (found.name, found.kind, found.reach, found.person) == ("client:test-client", "client", reach, "owner")


@pytest.mark.parametrize("name", ATTACKS)
def test_no_forged_token_passes(sqlite_house, name):
    good = GoodToken(sign_in(sqlite_house)["access_token"], open_key(sqlite_house))
    assert find(sqlite_house, good.sign()).name == "client:test-client"  # so the attack fails for its own reason
    with pytest.raises(Unauthenticated):
        find(sqlite_house, ATTACKS[name](good))


def test_ours_are_far_from_the_limit(sqlite_house):
    assert len(sign_in(sqlite_house)["access_token"]) < MAX_TOKEN / 4


def test_a_token_expires(house, frozen_clock):
    token = sign_in(house)["access_token"]
    frozen_clock.advance(60 * MINUTE - 1000)
    assert find(house, token)
    frozen_clock.advance(1000)
    with pytest.raises(Unauthenticated) as caught:
        find(house, token)
    assert caught.value.reason == "expired_token"


def test_a_token_of_a_revoked_grant_is_worth_nothing(house):
    token = sign_in(house)["access_token"]
    with house.database.writing() as statements:
        revoke_grant(statements, "test-client")
    with pytest.raises(Unauthenticated) as caught:
        find(house, token)
    assert caught.value.reason == "revoked_grant"


def test_a_narrowed_grant_narrows_its_tokens(house):
    token = sign_in(house)["access_token"]
    with house.database.writing() as statements:
        changed = update_grant_reach(statements, "client:test-client", Reach("/a", "/a/b"))
    assert changed.reach.root == "/a"
    assert find(house, token).reach == Reach("/a", "/a/b")


def test_a_grant_is_never_more_than_its_person_may_use(house):
    person = Reach("/team/ada", "/team/ada", frozenset({"memory", "items"}), frozenset({"*:destroy"}))
    add_person(house.database, "ada", person)
    chosen = Reach("/", "/", frozenset({"memory", "vault"}), frozenset({"memory:write"}))
    found = find(house, sign_in(house, person="ada", reach=chosen)["access_token"])
    assert (found.root, found.default, found.person) == ("/team/ada", "/team/ada", "ada")
    assert (found.reach.modules, found.reach.mask) == (frozenset({"memory"}), frozenset({"*:destroy", "memory:write"}))


def test_narrowing_or_revoking_a_person_is_felt_by_the_clients(house):
    add_person(house.database, "ada", Reach("/team", "/team"))
    token = sign_in(house, person="ada", reach=Reach("/team/x", "/team/x"))["access_token"]
    assert find(house, token).root == "/team/x"
    with house.database.writing() as statements:
        statements.run("update person set root = '/other', start = '/other' where id = 'ada'")
    with pytest.raises(Denied):
        find(house, token)
    with house.database.writing() as statements:
        statements.run("update person set root = '/', start = '/', revoked_at = 1 where id = 'ada'")
    with pytest.raises(Unauthenticated):
        find(house, token)


def test_a_token_is_for_one_address(house):
    token = sign_in(house)["access_token"]
    for origins in ((), ("http://localhost:8722",), ("https://tokonoma.example.com",)):
        with pytest.raises(Unauthenticated):
            find(house, token, origins)
    assert find(house, token, ("https://tokonoma.example.com", ORIGIN))


def test_the_private_key_is_sealed_and_the_public_one_is_shown(house):
    token = sign_in(house)["access_token"]
    (public,) = house.server.list_keys()
    assert (public["kty"], public["crv"], public["alg"], public["use"]) == ("OKP", "Ed25519", "Ed25519", "sig")
    assert "d" not in public
    assert GoodToken(token, OKPKey.import_key(public)).header["kid"] == public["kid"]
    private = open_key(house).as_dict(private=True)["d"]
    with house.database.reading() as rows:
        stored = [str(value) for row in rows.rows("select * from signing_key") for value in row]
    assert not [value for value in stored if str(private) in value]


def test_a_key_changes_after_ninety_days_and_its_tokens_stay_good(house, frozen_clock):
    client = house.register()["client_id"]
    refresh = house.sign_in(client)["refresh_token"]
    frozen_clock.advance(MAX_AGE - 1000)
    with house.database.writing() as statements:
        statements.run("update oauth_refresh set expires_at = :at", at=frozen_clock.at + MAX_AGE)
    before = house.refresh(client, refresh)
    frozen_clock.advance(1000)
    again = house.refresh(client, refresh)
    assert again["refresh_token"] == before["refresh_token"]  # derived from a secret that does not change
    kids = [GoodToken(each["access_token"], open_key(house)).header["kid"] for each in (before, again)]
    assert kids == ["k1", "k2"]
    assert [key["kid"] for key in house.server.list_keys()] == ["k1", "k2"]
    assert find(house, before["access_token"]).name == find(house, again["access_token"]).name
    frozen_clock.advance(60 * MINUTE)
    assert [key["kid"] for key in house.server.list_keys()] == ["k2"]
    assert house.open_server().list_keys() == house.server.list_keys()


def test_two_processes_that_begin_together_use_one_key(house):
    client = house.register()["client_id"]
    code, other = house.get_code(client), house.open_server()
    tokens = [house.exchange(client, code)]
    house.server = other
    tokens.append(house.exchange(client, house.get_code(client)))
    assert len(house.server.list_keys()) == 1
    assert len({GoodToken(each["access_token"], open_key(house)).header["kid"] for each in tokens}) == 1


def test_a_rotation_of_the_keyring_takes_the_signing_key_along(house, home):
    client = house.register()["client_id"]
    token = house.sign_in(client)["refresh_token"]
    first = house.refresh(client, token)
    keyring = Keyring(HomeKey(home))
    with house.database.writing() as statements:
        start_rotation(statements, keyring)
    list(move_secrets(house.database.writing, keyring, lambda tx: reseal_keys(tx, house.open_seal())))
    with house.database.reading() as rows:
        ((count,),) = rows.rows("select count(*) from keyring_key")
    assert count == 1
    house.server = house.open_server()
    assert house.refresh(client, token)["refresh_token"] == first["refresh_token"]
    assert [key["kid"] for key in house.server.list_keys()] == ["k1"]


def test_a_damaged_key_is_replaced_and_its_tokens_stay_good(house):
    client = house.register()["client_id"]
    token = house.sign_in(client)["access_token"]
    with house.database.writing() as statements:
        statements.run("update signing_key set sealed = :none", none=b"damaged")
    house.server = house.open_server()
    assert house.sign_in(client)["access_token"]
    assert [key["kid"] for key in house.server.list_keys()] == ["k1", "k2"]
    assert find(house, token)


def test_without_the_master_key_no_token_is_made_and_none_is_lost(house, home):
    client = house.register()["client_id"]
    token = house.sign_in(client)["access_token"]
    key = (home / "keyring.key").read_text()
    (home / "keyring.key").unlink()
    house.server = house.open_server()
    with pytest.raises(Unavailable):
        house.sign_in(client)
    assert find(house, token)
    (home / "keyring.key").write_text(key)
    (home / "keyring.key").chmod(0o600)
    house.server = house.open_server()
    assert house.sign_in(client)
    assert [each["kid"] for each in house.server.list_keys()] == ["k1"]


def test_a_token_of_a_removed_key_is_refused(house, frozen_clock):
    client = house.register()["client_id"]
    token = house.sign_in(client)["access_token"]
    keys = SigningKeys(house.open_seal(), 3600)
    with house.database.writing() as statements:
        keys.rotate(statements, keys.use_current(statements))
    frozen_clock.advance(61 * MINUTE)
    with house.database.writing() as statements:
        keys.rotate(statements, keys.use_current(statements))
    with house.database.reading() as rows, pytest.raises(Unauthenticated):
        verify_token(rows, token, (ORIGIN,))
    assert read_claims(token)["iss"] == ORIGIN
