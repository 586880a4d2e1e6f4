"""A provider's authorization server: consent without a person, codes good once, tokens that expire and rotate."""

import base64
import hashlib
import json
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import unquote_plus, urlencode, urlsplit

from .wire import WireReply, WireRequest, make_json


@dataclass(frozen=True)
class OAuthRules:
    """What one provider does, as far as clients can tell providers apart."""

    provider: str
    authorize_path: str
    token_path: str
    revoke_path: str | None = None
    client_auth: Literal["post", "basic", "json"] = "post"
    token_body: Literal["form", "json"] = "form"
    pkce: bool = True
    rotation: Literal["none", "new", "single_use"] = "single_use"  # new: the old refresh token stays good
    ends_access_token: bool = False  # a refresh ends the access token before it
    error_status: int = 400  # GitHub answers its errors with 200
    errors: Mapping[str, str] = field(default_factory=dict[str, str])  # the provider's own names of OAuth's errors
    authorize_needs: Mapping[str, str] = field(default_factory=dict[str, str])
    prefix: str = "at"


@dataclass
class Grant:
    scope: str
    redirect_uri: str = ""
    challenge: str | None = None
    offline: bool = True
    alive: bool = True


@dataclass
class AccessToken:
    grant: Grant
    expires_at: float


@dataclass
class RefreshToken:
    grant: Grant
    answer: dict[str, Any] | None = None  # what its use gave; given again while there is grace


class OAuthError(Exception):
    def __init__(self, error: str, description: str, status: int | None = None) -> None:
        super().__init__(error)
        self.error, self.description, self.status = error, description, status


class OAuthIssuer:
    def __init__(self, rules: OAuthRules) -> None:
        self.rules = rules
        self.client_id = f"{rules.provider}-client"
        self.client_secret = secrets.token_urlsafe(24)
        self.expires_in = 3600
        self.grace = False  # a used refresh token gives the same answer again
        self.denies = False  # the person says no
        self.refreshes = 0
        self.exchanges = 0
        self._codes: dict[str, Grant] = {}
        self._access: dict[str, AccessToken] = {}
        self._refresh: dict[str, RefreshToken] = {}
        self._static: set[str] = set()
        self._later = 0.0

    # What tests do with it.

    def issue(self, scope: str = "") -> dict[str, Any]:
        """A pair as after a consent, without the consent."""
        return self._make_answer(Grant(scope))

    def add_token(self, token: str) -> str:
        """A token made by hand on the service's pages: it does not expire."""
        self._static.add(token)
        return token

    def advance(self, seconds: float) -> None:
        """The provider's clock goes ahead."""
        self._later += seconds

    def revoke(self, token: str) -> None:
        self._static.discard(token)
        if held := self._access.get(token) or self._refresh.get(token):
            held.grant.alive = False

    # What the service asks.

    def knows(self, token: str) -> bool:
        held = self._access.get(token)
        return token in self._static or (held is not None and held.grant.alive and held.expires_at > self._now())

    def is_handmade(self, token: str) -> bool:
        return token in self._static

    def scopes_of(self, token: str) -> str:
        held = self._access.get(token)
        return held.grant.scope if held else ""

    def handles(self, path: str) -> bool:
        return path in (self.rules.authorize_path, self.rules.token_path, self.rules.revoke_path)

    def handle(self, request: WireRequest) -> WireReply:
        wanted = "GET" if request.path == self.rules.authorize_path else "POST"
        if request.method != wanted:
            return make_json({"error": "invalid_request"}, 405, {"Allow": wanted})
        try:
            if request.path == self.rules.authorize_path:
                return self._authorize(dict(request.query))
            if request.path == self.rules.token_path:
                return make_json(self._answer_token(request), 200, {"Cache-Control": "no-store"})
            return self._revoke(request)
        except OAuthError as error:
            named = self.rules.errors.get(error.error, error.error)
            body = {"error": named, "error_description": error.description}
            return make_json(body, error.status or self.rules.error_status)

    # Its endpoints.

    def _authorize(self, query: dict[str, str]) -> WireReply:
        for name, wanted in {
            "client_id": self.client_id,
            "response_type": "code",
            **self.rules.authorize_needs,
        }.items():
            if query.get(name) != wanted:
                raise OAuthError("invalid_request", f"{name} must be {wanted}", 400)
        to = query.get("redirect_uri", "")
        if urlsplit(to).hostname not in ("127.0.0.1", "localhost"):
            raise OAuthError("invalid_request", "redirect_uri is not registered", 400)
        challenge = query.get("code_challenge") if self.rules.pkce else None
        if self.rules.pkce and (query.get("code_challenge_method") != "S256" or not challenge):
            raise OAuthError("invalid_request", "code_challenge with S256 is required", 400)
        back = {"state": query["state"]} if "state" in query else {}
        if self.denies:
            back["error"] = "access_denied"
        else:
            code = back["code"] = secrets.token_urlsafe(16)
            offline = self.rules.provider != "google" or query.get("access_type") == "offline"
            self._codes[code] = Grant(query.get("scope", ""), to, challenge, offline)
        return WireReply(302, b"", {"Location": f"{to}{'&' if '?' in to else '?'}{urlencode(back)}"})

    def _answer_token(self, request: WireRequest) -> dict[str, Any]:
        fields = self._read_fields(request)
        self._check_client(request, fields)
        if fields.get("grant_type") == "authorization_code":
            return self._exchange(fields)
        if fields.get("grant_type") == "refresh_token":
            return self._rotate(fields.get("refresh_token", ""))
        raise OAuthError("unsupported_grant_type", "grant_type is not known")

    def _exchange(self, fields: dict[str, str]) -> dict[str, Any]:
        self.exchanges += 1
        grant = self._codes.pop(fields.get("code", ""), None)
        if grant is None:
            raise OAuthError("bad_code", "The code is wrong, expired or was used")
        if fields.get("redirect_uri") != grant.redirect_uri:
            raise OAuthError("redirect_uri_mismatch", "redirect_uri differs")
        if grant.challenge is not None:
            digest = hashlib.sha256(fields.get("code_verifier", "").encode()).digest()
            if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != grant.challenge:
                raise OAuthError("bad_code", "code_verifier does not fit")
        return self._make_answer(grant)

    def _rotate(self, token: str) -> dict[str, Any]:
        self.refreshes += 1
        held = self._refresh.get(token)
        if held is None or not held.grant.alive:
            raise OAuthError("bad_refresh", "The refresh token is unknown, expired or revoked")
        if held.answer is not None and self.rules.rotation == "single_use":
            if self.grace:
                return held.answer
            raise OAuthError("bad_refresh", "The refresh token was used")
        if self.rules.ends_access_token:
            self._access = {name: each for name, each in self._access.items() if each.grant is not held.grant}
        held.answer = self._make_answer(held.grant, first=False)
        return held.answer

    def _revoke(self, request: WireRequest) -> WireReply:
        if self.rules.provider == "supabase":  # wants JSON here alone, with the client in it
            fields = json.loads(request.body)
            self._compare_client((fields.get("client_id"), fields.get("client_secret")))
        else:
            fields = self._read_fields(request)
        if self.rules.provider == "notion":  # at Google whoever holds a token may revoke it
            self._check_client(request, fields)
        self.revoke(fields.get("token") or fields.get("refresh_token") or "")
        return WireReply(204 if self.rules.provider == "supabase" else 200)

    def _make_answer(self, grant: Grant, first: bool = True) -> dict[str, Any]:
        access = f"{self.rules.prefix}_{secrets.token_urlsafe(24)}"
        self._access[access] = AccessToken(grant, self._now() + self.expires_in)
        answer: dict[str, Any] = {"access_token": access, "token_type": "bearer"}
        if self.rules.provider == "notion":  # says neither scopes nor when a token expires
            answer |= {"bot_id": "b1", "workspace_id": "w1", "workspace_name": "Garden club"}
        else:
            scope = grant.scope.replace(" ", ",") if self.rules.provider == "github" else grant.scope
            answer |= {"scope": scope, "expires_in": self.expires_in}
        if grant.offline and (first or self.rules.rotation != "none"):
            answer["refresh_token"] = f"rt_{secrets.token_urlsafe(24)}"
            self._refresh[answer["refresh_token"]] = RefreshToken(grant)
        return answer

    # Who asks.

    def _read_fields(self, request: WireRequest) -> dict[str, str]:
        wanted = {"form": "application/x-www-form-urlencoded", "json": "application/json"}[self.rules.token_body]
        if request.content_type != wanted:
            raise OAuthError("invalid_request", f"The body must be {wanted}", 400)
        if self.rules.provider == "github" and "application/json" not in request.headers.get("accept", ""):
            raise OAuthError("invalid_request", "Accept must ask for JSON", 400)  # else GitHub answers as a form
        return json.loads(request.body) if self.rules.token_body == "json" else request.read_form()

    def _check_client(self, request: WireRequest, fields: dict[str, str]) -> None:
        given = (fields.get("client_id"), fields.get("client_secret"))
        if self.rules.client_auth == "basic":
            scheme, _, coded = request.headers.get("authorization", "").partition(" ")
            both = base64.b64decode(coded).decode() if scheme.lower() == "basic" else ":"
            given = tuple(unquote_plus(each) for each in both.partition(":")[::2])
        self._compare_client(given)

    def _compare_client(self, given: tuple[str | None, ...]) -> None:
        if given != (self.client_id, self.client_secret):
            raise OAuthError(
                "invalid_client", "The client is not known", 200 if self.rules.error_status == 200 else 401
            )

    def _now(self) -> float:
        return time.monotonic() + self._later
