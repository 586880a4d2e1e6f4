"""What a client may ask a person for: mistakes are shown, or sent to the client; nothing is sent to a stranger."""

from urllib.parse import parse_qs, urlsplit

import pytest
from auth.oauth.hostile import HOSTILE_URIS

from tokonoma.auth.oauth.authorize import (
    RedirectedError,
    ShownError,
    build_denied_location,
    check_authorization,
)
from tokonoma.auth.oauth.model import OAuthClient, clean_name

ORIGIN = "http://127.0.0.1:8722"
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
CLIENT = OAuthClient("c1", "registered", "Client", ("https://a.example/cb", "http://127.0.0.1/callback"))
GOOD = {
    "response_type": "code",
    "client_id": "c1",
    "redirect_uri": "https://a.example/cb",
    "state": "s t&te",
    "code_challenge": CHALLENGE,
    "code_challenge_method": "S256",
    "resource": f"{ORIGIN}/mcp",
    "scope": "mcp offline_access",
}


class NoRows:
    def rows(self, sql, /, **params):
        raise AssertionError("a pure check reads nothing itself")

    row = rows


def find_client(rows, client_id):
    return CLIENT if client_id == CLIENT.id else None


def check(*more, **changed):
    values = {name: value for name, value in {**GOOD, **changed}.items() if value is not None}
    return check_authorization(NoRows(), [*values.items(), *more], ORIGIN, find_client)


def read_query(location):
    return {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}


def test_a_good_request_is_understood():
    request = check()
    assert (request.client_id, request.client_name, request.client_host) == ("c1", "Client", "")
    assert (request.redirect_uri, request.redirect_origin) == ("https://a.example/cb", "https://a.example")
    assert (request.state, request.challenge) == ("s t&te", CHALLENGE)
    assert (request.resource, request.scope) == (f"{ORIGIN}/mcp", "mcp offline_access")


def test_resource_scope_and_state_may_be_left_out():
    request = check(resource=None, scope=None, state=None)
    assert (request.resource, request.scope, request.state) == (f"{ORIGIN}/mcp", "mcp", None)
    assert "state" not in read_query(build_denied_location(request, ORIGIN))


def test_the_address_of_the_endpoint_with_a_slash_is_the_same_resource():
    assert check(resource=f"{ORIGIN}/mcp/").resource == f"{ORIGIN}/mcp"


@pytest.mark.parametrize("port", ["", ":1", ":3118", ":65535"])
def test_any_port_of_a_loopback_address_passes(port):
    uri = f"http://127.0.0.1{port}/callback"
    assert check(redirect_uri=uri).redirect_uri == uri


@pytest.mark.parametrize(
    "uri",
    [
        "https://a.example/other", "https://a.example/cb?x=1", "https://b.example/cb", "https://a.example/x/../cb",
        "https://a.example/cb/../cb", "http://localhost/callback", "https://user@a.example/cb", "https://a.example/cb#x",
        "https://a.example:443/cb", "http://a.example/cb", "http://127.0.0.1:0/callback", None,
        *[each for each in HOSTILE_URIS if isinstance(each, str)],
    ],
)  # fmt: skip
def test_another_address_is_shown_and_never_followed(uri):
    with pytest.raises(ShownError):
        check(redirect_uri=uri)


@pytest.mark.parametrize("client_id", ["c2", "", None, "C1", "https://a.example/client", "c1 "])
def test_an_unknown_client_is_shown(client_id):
    with pytest.raises(ShownError):
        check(client_id=client_id)


@pytest.mark.parametrize("name", sorted(GOOD))
def test_a_parameter_that_was_sent_twice_is_shown(name):
    with pytest.raises(ShownError):
        check((name, GOOD[name]))


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": "code token"}, "unsupported_response_type"),
        ({"response_type": None}, "invalid_request"),
        ({"response_type": ""}, "invalid_request"),
        ({"response_mode": "fragment"}, "invalid_request"),
        ({"request": "ey"}, "request_not_supported"),
        ({"request_uri": "https://a.example/r"}, "request_uri_not_supported"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge": ""}, "invalid_request"),
        ({"code_challenge": CHALLENGE[:-1]}, "invalid_request"),
        ({"code_challenge": CHALLENGE + "A"}, "invalid_request"),
        ({"code_challenge": CHALLENGE[:-1] + "="}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": "s256"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"resource": "https://evil.example/mcp"}, "invalid_target"),
        ({"resource": f"{ORIGIN}/other"}, "invalid_target"),
        ({"resource": ORIGIN.replace("127.0.0.1", "localhost") + "/mcp"}, "invalid_target"),
        ({"resource": f"{ORIGIN}/mcp#x"}, "invalid_target"),
        ({"resource": f"{ORIGIN}.evil.example/mcp"}, "invalid_target"),
        ({"scope": "admin"}, "invalid_scope"),
        ({"scope": "mcp openid"}, "invalid_scope"),
    ],
)
def test_other_mistakes_go_to_the_client_with_state_and_issuer(changed, error):
    with pytest.raises(RedirectedError) as caught:
        check(**changed)
    assert caught.value.location.startswith("https://a.example/cb?")
    query = read_query(caught.value.location)
    assert (query["error"], query["state"], query["iss"]) == (error, "s t&te", ORIGIN)
    assert "code" not in query


def test_a_denial_tells_state_and_issuer():
    location = build_denied_location(check(), ORIGIN)
    assert read_query(location) == {"error": "access_denied", "state": "s t&te", "iss": ORIGIN}


def test_an_answer_is_added_to_the_query_of_the_address():
    client = OAuthClient("c1", "registered", "Client", ("https://a.example/cb?tenant=1",))
    pairs = list({**GOOD, "redirect_uri": "https://a.example/cb?tenant=1"}.items())
    request = check_authorization(NoRows(), pairs, ORIGIN, lambda rows, client_id: client)
    assert build_denied_location(request, ORIGIN).startswith("https://a.example/cb?tenant=1&error=access_denied&")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Claude Code (work)", "Claude Code (work)"),
        ("a\u202eb\u2066c\u200bd\u00ad", "abcd"),
        (" a \n\t b ", "a b"),
        ("", "x"),
        (None, "x"),
        (7, "x"),
        ("\u200b", "x"),
        ("床の間", "床の間"),
        ("<b>a</b>", "<b>a</b>"),  # pages escape it
        ("y" * 10_000, "y" * 59 + "…"),
    ],
)
def test_a_name_is_one_short_line_without_hidden_marks(name, shown):
    assert clean_name(name, "x") == shown
