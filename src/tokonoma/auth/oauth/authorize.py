"""What a client asks a person for (`GET /authorize`), checked before a page is shown, and the answer that it gets.

As long as client and address are not known to belong together, a mistake is shown to the person: a redirect would send
the browser wherever a stranger wrote. After that, mistakes go to the client, with its state and our name (RFC 9207).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

from tokonoma.auth.oauth.codes import save_code
from tokonoma.auth.oauth.model import SCOPES, AuthorizationRequest, OAuthClient
from tokonoma.auth.oauth.redirects import find_redirect_origin, matches_redirect
from tokonoma.core.desk import Rows, Statements
from tokonoma.core.reach import Reach

FindClient = Callable[[Rows, str], OAuthClient | None]

_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")  # SHA-256 as base64url: always as long


class ShownError(Exception):
    """Shown to the person, with 400. Never a redirect."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class RedirectedError(Exception):
    """The client is told: the browser is sent to `location`."""

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self.location = location


@dataclass(frozen=True, slots=True)
class _Sent:
    """Where errors go, once that is known."""

    values: dict[str, str]
    redirect_uri: str
    issuer: str

    def refuse(self, error: str, description: str) -> RedirectedError:
        answer = {"error": error, "error_description": description}
        return RedirectedError(_build_location(self.redirect_uri, answer, self.values.get("state"), self.issuer))


def check_authorization(
    rows: Rows, pairs: list[tuple[str, str]], origin: str, find_client: FindClient
) -> AuthorizationRequest:
    """The request, checked. Raises ShownError, or RedirectedError with what the client is told."""
    values = dict(pairs)
    if len(values) != len(pairs):
        raise ShownError("A parameter of this request was sent twice. The application that sent you here has a fault.")
    client = find_client(rows, values["client_id"]) if values.get("client_id") else None
    if client is None:
        raise ShownError("This server does not know the application that sent you here. Let it sign in anew.")
    redirect_uri = values.get("redirect_uri", "")
    if not any(matches_redirect(redirect_uri, each) for each in client.redirect_uris):
        raise ShownError("The application wants to send you to an address that it has not registered.")
    sent = _Sent(values, redirect_uri, origin)
    _check_response(sent)
    return AuthorizationRequest(
        client_id=client.id,
        client_name=client.name,
        client_host=client.host,
        client_uri=client.uri,
        redirect_uri=redirect_uri,
        redirect_origin=find_redirect_origin(redirect_uri),
        state=values.get("state"),
        challenge=_check_challenge(sent),
        resource=_check_resource(sent),
        scope=_check_scope(sent),
    )


def build_code_location(
    statements: Statements, request: AuthorizationRequest, person_id: str, reach: Reach, issuer: str
) -> str:
    """Store a code that is good once, for a minute, and return where the browser brings it."""
    code = save_code(statements, request, person_id, reach)
    return _build_location(request.redirect_uri, {"code": code}, request.state, issuer)


def build_denied_location(request: AuthorizationRequest, issuer: str) -> str:
    return _build_location(request.redirect_uri, {"error": "access_denied"}, request.state, issuer)


def normalize_resource(resource: str, origin: str) -> str | None:
    """The address of our MCP endpoint, if that is what a client means; None if it means anything else."""
    ours = f"{origin}/mcp"
    return ours if resource.removesuffix("/") == ours else None


def _check_response(sent: _Sent) -> None:
    kind = sent.values.get("response_type")
    if not kind:
        raise sent.refuse("invalid_request", "response_type is missing")
    if kind != "code":
        raise sent.refuse("unsupported_response_type", "response_type must be code")
    if sent.values.get("response_mode", "query") != "query":
        raise sent.refuse("invalid_request", "response_mode must be query")
    for name in ("request", "request_uri"):
        if name in sent.values:
            raise sent.refuse(f"{name}_not_supported", f"{name} is not supported")


def _check_challenge(sent: _Sent) -> str:
    challenge = sent.values.get("code_challenge", "")
    if sent.values.get("code_challenge_method") != "S256" or not _CHALLENGE.fullmatch(challenge):
        raise sent.refuse("invalid_request", "PKCE is required: code_challenge_method S256 and its code_challenge")
    return challenge


def _check_resource(sent: _Sent) -> str:
    """Some clients name no resource: they mean the only one that there is."""
    resource = normalize_resource(sent.values.get("resource") or f"{sent.issuer}/mcp", sent.issuer)
    if resource is None:
        raise sent.refuse("invalid_target", f"resource must be {sent.issuer}/mcp")
    return resource


def _check_scope(sent: _Sent) -> str:
    asked = sent.values.get("scope", "").split()
    if not set(asked) <= SCOPES:
        raise sent.refuse("invalid_scope", f"scope must be of {' '.join(sorted(SCOPES))}")
    return " ".join(sorted({"mcp", *asked}))


def _build_location(redirect_uri: str, answer: dict[str, str], state: str | None, issuer: str) -> str:
    values = {**answer, **({} if state is None else {"state": state}), "iss": issuer}
    return f"{redirect_uri}{'&' if urlsplit(redirect_uri).query else '?'}{urlencode(values)}"
