"""Where a client may be sent: https, the person's own machine, or a scheme of the client's own. Nothing else."""

import pytest
from auth.oauth.hostile import HOSTILE_URIS

from tokonoma.auth.oauth.redirects import check_redirect_uri, find_redirect_origin, matches_redirect
from tokonoma.core.errors import Invalid

GOOD = [
    "https://claude.ai/api/mcp/auth_callback",
    "https://chatgpt.com/connector_platform_oauth_redirect",
    "https://app.example:8443/cb?tenant=1",
    "https://[2001:db8::1]/cb",
    "http://localhost/callback",
    "http://localhost:3118/callback",
    "http://127.0.0.1:6276/oauth/callback",
    "http://[::1]:49152/",
    "http://localhost:3118",
    "cursor://anysphere.cursor-mcp/oauth/callback",
    "vscode://vscode.github-authentication/did-authenticate",
    "com.example.app:/oauth2redirect",
]


@pytest.mark.parametrize("uri", GOOD)
def test_addresses_of_known_clients_may_be_registered(uri):
    assert check_redirect_uri(uri) == uri
    assert matches_redirect(uri, uri)


@pytest.mark.parametrize("uri", HOSTILE_URIS, ids=repr)
def test_a_hostile_address_cannot_be_registered(uri):
    with pytest.raises(Invalid) as caught:
        check_redirect_uri(uri)
    assert caught.value.reason == "redirect_uri"


def test_there_are_at_least_fifty_of_them():
    assert len({repr(uri) for uri in HOSTILE_URIS}) >= 50


@pytest.mark.parametrize(
    ("sent", "registered"),
    [
        ("http://localhost:3118/callback", "http://localhost/callback"),
        ("http://localhost/callback", "http://localhost:3118/callback"),
        ("http://127.0.0.1:65535/callback", "http://127.0.0.1:1/callback"),
        ("http://[::1]:5000/?a=b", "http://[::1]/?a=b"),
    ],
)
def test_any_port_is_right_on_loopback(sent, registered):
    assert matches_redirect(sent, registered)


@pytest.mark.parametrize(
    ("sent", "registered"),
    [
        ("https://a.example:444/cb", "https://a.example/cb"),
        ("https://a.example/cb/", "https://a.example/cb"),
        ("https://a.example/CB", "https://a.example/cb"),
        ("https://A.example/cb", "https://a.example/cb"),
        ("https://a.example/cb?x=1", "https://a.example/cb"),
        ("https://a.example/x/../cb", "https://a.example/cb"),
        ("https://a.example/%63b", "https://a.example/cb"),
        ("https://a.example.evil.example/cb", "https://a.example/cb"),
        ("https://a.example@evil.example/cb", "https://a.example/cb"),
        ("http://a.example/cb", "https://a.example/cb"),
        ("http://localhost:1/callback", "http://127.0.0.1/callback"),
        ("http://127.0.0.1:1/callback", "http://localhost/callback"),
        ("http://localhost:1@evil.example/callback", "http://localhost/callback"),
        ("http://localhost:0/callback", "http://localhost/callback"),
        ("http://localhost:65536/callback", "http://localhost/callback"),
        ("http://localhost:+80/callback", "http://localhost/callback"),
        ("http://localhost:1/callback#x", "http://localhost/callback"),
        ("http://localhost:1/callback\n", "http://localhost/callback"),
        ("http://localhost.evil.example:1/callback", "http://localhost/callback"),
        ("http://127.0.0.1.evil.example/callback", "http://127.0.0.1/callback"),
        ("http://localhost:1/callback?x=1", "http://localhost/callback"),
        ("https://localhost:1/callback", "http://localhost/callback"),
        ("cursor://other/cb", "cursor://place/cb"),
        ("", "http://localhost/callback"),
    ],
)
def test_everything_else_is_compared_to_the_letter(sent, registered):
    assert not matches_redirect(sent, registered)


@pytest.mark.parametrize(
    ("uri", "origin"),
    [
        ("https://a.example/cb?x=1", "https://a.example"),
        ("http://localhost:3118/callback", "http://localhost:3118"),
        ("cursor://anysphere.cursor-mcp/oauth/callback", "cursor:"),
        ("com.example.app:/cb", "com.example.app:"),
    ],
)
def test_a_page_allows_the_origin_or_the_scheme(uri, origin):
    assert find_redirect_origin(uri) == origin
