"""Signing in with OAuth 2: the consent that an owner gives in a browser, and the code that comes back from it.

Pure but for `exchange_code`. Nothing here knows a provider: everything about it is passed.
"""

import hashlib
import hmac
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from tokonoma.core.errors import Denied, Invalid

if TYPE_CHECKING:
    import httpx

    from tokonoma.services.credentials import AppCredentials
    from tokonoma.services.providers import Provider
    from tokonoma.services.token_endpoint import TokenSet

CALLBACK_PATH = "/services/callback"
DOCUMENT_PATH = "/services/client.json"
"""Where a server with a public name says which client it is, for authorization servers that read it there."""

SIGN_IN_SECONDS = 600
"""How long a consent may take"""

_MAX_QUERY = 8192  # characters
_MAX_TEXT = 300


@dataclass(frozen=True, slots=True)
class PkcePair:
    """The provider gives a token only to who holds the verifier of the challenge that began the consent (RFC 7636)."""

    verifier: str = field(repr=False)
    challenge: str


@dataclass(frozen=True, slots=True)
class ConsentAnswer:
    """What a browser brings back: a code, or an error."""

    state: str = field(repr=False)
    code: str = field(default="", repr=False)
    error: str = ""
    description: str = ""
    issuer: str = ""  # of whom it is, if it says so (RFC 9207)


def create_pkce() -> PkcePair:
    verifier = secrets.token_urlsafe(48)
    digest = hashlib.sha256(verifier.encode()).digest()
    return PkcePair(verifier, urlsafe_b64encode(digest).rstrip(b"=").decode())


def create_state() -> str:
    return secrets.token_urlsafe(32)


def build_client_document(public_url: str) -> dict[str, Any]:
    """What an authorization server reads about this client: its id is the address of this document."""
    return {
        "client_id": public_url + DOCUMENT_PATH,
        "client_name": "Tokonoma",
        "client_uri": public_url,
        "redirect_uris": [public_url + CALLBACK_PATH],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    }


def build_authorize_url(
    authorize_url: str,
    *,
    client_id: str,
    redirect_uri: str,
    state: str,
    scopes: Sequence[str] = (),
    challenge: str = "",
    extra: Mapping[str, str] | None = None,
) -> str:
    """Where the owner gives the consent. Without a challenge for providers that do not know PKCE."""
    query = {"response_type": "code", "client_id": client_id, "redirect_uri": redirect_uri, "state": state}
    if scopes:
        query["scope"] = " ".join(scopes)
    if challenge:
        query |= {"code_challenge": challenge, "code_challenge_method": "S256"}
    joint = "&" if urlsplit(authorize_url).query else "?"
    return f"{authorize_url}{joint}{urlencode({**query, **(extra or {})})}"


def parse_callback(query: str) -> ConsentAnswer:
    """The query of a request for the callback. Invalid if it is none, or says one thing twice."""
    if len(query) > _MAX_QUERY:
        raise Invalid("This is no answer to a consent: it is too long.", reason="callback")
    pairs = parse_qsl(query, keep_blank_values=True)
    told = dict(pairs)
    wanted = ("state", "code", "error", "error_description", "iss")
    names = [name for name, _ in pairs if name in wanted]
    if len(names) != len(set(names)) or not told.get("state") or bool(told.get("code")) == bool(told.get("error")):
        raise Invalid("This is no answer to a consent: it needs a state, and a code or an error.", reason="callback")
    code, error, description, issuer = (told.get(name, "") for name in wanted[1:])
    return ConsentAnswer(told["state"], code, error[:_MAX_TEXT], description[:_MAX_TEXT], issuer)


def is_same_state(answer: ConsentAnswer, state: str) -> bool:
    return hmac.compare_digest(answer.state.encode(), state.encode())


def require_code(answer: ConsentAnswer, state: str) -> str:
    """The code of the consent that was begun with this state. Denied if it was not given."""
    if not is_same_state(answer, state):
        raise Denied("This answer belongs to another consent: its state is not the one that was sent.", reason="state")
    if answer.error == "access_denied":
        raise Denied("The consent was refused in the browser. Nothing was stored.", reason="access_denied")
    if answer.error:
        says = f"{answer.error}: {answer.description}" if answer.description else answer.error
        raise Denied(f"The service ended the consent: {says}. Nothing was stored.", reason="consent")
    return answer.code


async def exchange_code(
    http: "httpx.AsyncClient",
    provider: "Provider",
    token_url: str,
    app: "AppCredentials",
    code: str,
    redirect_uri: str,
    verifier: str = "",
) -> "TokenSet":
    """The tokens for a code. The verifier is that of the challenge, if one was sent."""
    from tokonoma.services.token_endpoint import ask_token  # httpx: 0.2 s, and who receives a callback needs none

    grant = {"grant_type": "authorization_code", "code": code, "redirect_uri": redirect_uri}
    return await ask_token(http, provider, token_url, app, {**grant, "code_verifier": verifier} if verifier else grant)
