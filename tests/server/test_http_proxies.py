"""Who is local: only a caller on this machine whose request has passed no proxy, whatever its headers say."""

import pytest
from server.doors import Door

from tokonoma.auth.api_keys import open_access
from tokonoma.core.errors import Invalid
from tokonoma.core.network import is_loopback
from tokonoma.server.http.proxies import TrustedProxies

FORWARDING = [
    ("x-forwarded-for", "127.0.0.1, 203.0.113.5"),
    ("x-forwarded-for", "127.0.0.1"),
    ("x-forwarded-for", ""),
    ("x-forwarded-host", "localhost"),
    ("x-forwarded-proto", "https"),
    ("forwarded", "for=127.0.0.1"),
    ("forwarded", ""),
    ("x-real-ip", "127.0.0.1"),
    ("via", "1.1 proxy"),
    ("cf-connecting-ip", "127.0.0.1"),
    ("true-client-ip", "::1"),
    ("x-client-ip", "localhost"),
    ("fastly-client-ip", "127.0.0.1"),
]


@pytest.mark.parametrize(("name", "value"), FORWARDING)
@pytest.mark.parametrize("trusted", [(), ("127.0.0.1",), ("127.0.0.0/8", "::1", "203.0.113.0/24")])
def test_what_came_through_a_proxy_is_never_the_owner(open_door, name, value, trusted):
    door: Door = open_door(trusted_proxies=trusted)
    assert door.post(remote="127.0.0.1").status_code == 200
    assert door.post(remote="127.0.0.1", headers=[(name, value)]).status_code == 401
    assert door.get("/metrics", remote="127.0.0.1", headers=[(name, value)]).status_code == 401


def test_a_server_that_other_machines_can_reach_always_needs_a_key(open_door):
    door: Door = open_door(host="0.0.0.0")
    assert door.post(remote="127.0.0.1").status_code == 401
    with door.app.database.writing() as statements:
        open_access(statements)
    door.app.authenticator.forget()
    assert door.post(remote="127.0.0.1").status_code == 401


def test_a_key_opens_behind_a_proxy_too(open_door):
    door: Door = open_door()
    key = door.create_key("laptop")
    sent = [("x-forwarded-for", "203.0.113.5"), ("authorization", f"Bearer {key}")]
    assert door.post(remote="127.0.0.1", headers=sent).status_code == 200


@pytest.mark.parametrize("remote", [None, "", "unix:", "/run/tokonoma.sock", "192.0.2.1", "::ffff:192.0.2.1", "::"])
def test_a_peer_that_is_not_this_machine_is_nobody(open_door, remote):
    assert open_door().post(remote=remote).status_code == 401


@pytest.mark.parametrize("remote", ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"])
def test_this_machine_has_several_addresses(open_door, remote):
    assert open_door().post(remote=remote).status_code == 200
    assert is_loopback(remote)


CHAINS = [
    ("the last address counts", "203.0.113.9", {"x-forwarded-for": "127.0.0.1, 203.0.113.9"}),
    ("trusted proxies are passed over", "203.0.113.9", {"x-forwarded-for": "1.1.1.1, 203.0.113.9, 10.0.0.7"}),
    ("a port is no part of an address", "203.0.113.9", {"x-forwarded-for": "203.0.113.9:4711, 10.0.0.7:80"}),
    ("IPv6", "2001:db8::9", {"x-forwarded-for": "2001:db8::9"}),
    ("IPv6 with a port", "2001:db8::9", {"x-forwarded-for": "[2001:db8::9]:80"}),
    ("an IPv4 address in IPv6", "203.0.113.9", {"x-forwarded-for": "::ffff:203.0.113.9"}),
    ("RFC 7239", "203.0.113.9", {"forwarded": 'for=1.1.1.1, FOR="203.0.113.9:80";proto=https;by=10.0.0.7'}),
    ("RFC 7239 with IPv6", "2001:db8::9", {"forwarded": 'proto=http; for="[2001:db8::9]:80"'}),
    ("nothing that can be read ends the walk", "10.0.0.7", {"x-forwarded-for": "203.0.113.9, evil, 10.0.0.7"}),
    ("an empty entry ends it", "10.0.0.7", {"x-forwarded-for": "203.0.113.9, , 10.0.0.7"}),
    ("an unknown sender ends it", "127.0.0.1", {"forwarded": "for=203.0.113.9, for=unknown"}),
    ("an element without a sender ends it", "127.0.0.1", {"forwarded": "for=203.0.113.9, proto=https"}),
    ("all are trusted: the first one", "10.0.0.1", {"x-forwarded-for": "10.0.0.1, 10.0.0.7"}),
    ("two headers that agree", "203.0.113.9", {"x-forwarded-for": "203.0.113.9", "forwarded": "for=203.0.113.9"}),
    ("two that do not: the proxy itself", "127.0.0.1", {"x-forwarded-for": "203.0.113.9", "forwarded": "for=8.8.8.8"}),
    ("other headers are not read", "127.0.0.1", {"x-real-ip": "203.0.113.9"}),
]


@pytest.mark.parametrize(("expected", "headers"), [each[1:] for each in CHAINS], ids=[each[0] for each in CHAINS])
def test_behind_trusted_proxies_the_last_untrusted_address_counts(expected, headers):
    sent = {name.encode(): value.encode() for name, value in headers.items()}
    trusted = TrustedProxies(["127.0.0.1", "10.0.0.0/8"])
    assert trusted.find_remote(sent, "127.0.0.1") == expected
    assert trusted.find_remote(sent, "::ffff:127.0.0.1") in (expected, "::ffff:127.0.0.1")
    # An untrusted peer is believed nothing.
    assert trusted.find_remote(sent, "198.51.100.1") == "198.51.100.1"
    assert TrustedProxies().find_remote(sent, "127.0.0.1") == "127.0.0.1"


def test_the_address_behind_a_trusted_proxy_is_in_the_journal(open_door):
    door: Door = open_door(trusted_proxies=("127.0.0.1",))
    # Two headers are one list: the trusted one is passed over, and the one before it counts.
    sent = [("x-forwarded-for", "8.8.8.8, 203.0.113.9"), ("x-forwarded-for", "127.0.0.1")]
    assert door.post(remote="127.0.0.1", headers=sent).status_code == 401
    assert [(each["remote"], each["code"]) for each in door.read_journal()] == [
        ("203.0.113.9", "unauthenticated.forwarded")
    ]


@pytest.mark.parametrize("value", ["proxy.local", "10.0.0.1/8", "10.0.0.0/33", "127.0.0.1,x", "127.0.0.1:80"])
def test_a_setting_that_is_no_address_is_refused(open_door, value):
    with pytest.raises(Invalid, match="trusted_proxies must list IP addresses or networks"):
        open_door(trusted_proxies=value)
