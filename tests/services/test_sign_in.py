"""Signing in: what leaves, what comes back, and what is refused."""

import base64
import hashlib
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from tokonoma.core.errors import Denied, Invalid
from tokonoma.services.sign_in import (
    ConsentAnswer,
    build_authorize_url,
    create_pkce,
    create_state,
    parse_callback,
    require_code,
)


def test_a_challenge_is_the_hash_of_its_verifier():
    pair = create_pkce()
    digest = hashlib.sha256(pair.verifier.encode()).digest()
    assert base64.urlsafe_b64encode(digest).decode().rstrip("=") == pair.challenge
    assert 43 <= len(pair.verifier) <= 128  # RFC 7636
    assert pair.verifier != create_pkce().verifier
    assert pair.verifier not in repr(pair)
    assert len(create_state()) >= 43
    assert create_state() != create_state()


def test_the_address_of_a_consent_says_everything():
    url = build_authorize_url(
        "https://x.example/authorize", client_id="c & d", redirect_uri="http://localhost:1/cb", state="s",
        scopes=("a", "b:c"), challenge="ch", extra={"prompt": "consent"},
    )  # fmt: skip
    assert url.startswith("https://x.example/authorize?")
    assert parse_qs(urlsplit(url).query) == {
        "response_type": ["code"],
        "client_id": ["c & d"],
        "redirect_uri": ["http://localhost:1/cb"],
        "state": ["s"],
        "scope": ["a b:c"],
        "code_challenge": ["ch"],
        "code_challenge_method": ["S256"],
        "prompt": ["consent"],
    }
    plain = build_authorize_url("https://x.example/a?tenant=1", client_id="c", redirect_uri="r", state="s")
    assert plain == "https://x.example/a?tenant=1&response_type=code&client_id=c&redirect_uri=r&state=s"


def test_a_code_or_an_error_comes_back():
    answer = parse_callback("code=a%2Bb&state=s&iss=https%3A%2F%2Fx")
    assert (answer.code, require_code(answer, "s")) == ("a+b", "a+b")
    assert "a+b" not in repr(answer)
    refused = parse_callback(urlencode({"state": "s", "error": "access_denied"}))
    with pytest.raises(Denied, match="refused in the browser"):
        require_code(refused, "s")
    with pytest.raises(Denied, match="invalid_scope: no such scope"):
        require_code(ConsentAnswer("s", error="invalid_scope", description="no such scope"), "s")


@pytest.mark.parametrize("state", ["", "t", "s ", "ß"])
def test_an_answer_with_another_state_gives_no_code(state):
    with pytest.raises(Denied) as error:
        require_code(ConsentAnswer(state, code="c"), "s")
    assert error.value.reason == "state"


@pytest.mark.parametrize(
    "query",
    ["", "code=c", "state=&code=c", "state=s", "state=s&code=c&error=e", "state=s&state=t&code=c",
     "state=s&code=c&code=d", "state=s&code=" + "c" * 9000],
    ids=["empty", "no state", "empty state", "nothing", "both", "two states", "two codes", "long"],
)  # fmt: skip
def test_what_is_no_answer_is_refused(query):
    with pytest.raises(Invalid):
        parse_callback(query)
