"""Codes and refresh tokens against access tokens, and their revocation. Each is one transaction of its caller's.

A refresh token is used once. Its successor is derived from it, so several processes that share one credential and
refresh at the same moment all get the same one, and nothing readable is stored. One of them may already present the
successor that another has just stored: it keeps it, so that whichever of them writes last leaves a token that is good.
A token that comes back later, or after its successor was used, was stolen on one side: the whole grant ends.
"""

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tokonoma.auth.oauth.authorize import normalize_resource
from tokonoma.auth.oauth.errors import OAuthError, build_grant_error
from tokonoma.auth.oauth.grants import create_grant, end_grant
from tokonoma.auth.oauth.model import OAuthClient, TokenClaims, hash_secret
from tokonoma.auth.oauth.signing import SigningKey
from tokonoma.auth.oauth.tokens import sign_token, verify_token
from tokonoma.auth.reaches import REACH_COLUMNS, from_columns
from tokonoma.core.clock import now
from tokonoma.core.desk import Row, Statements
from tokonoma.core.errors import Unauthenticated
from tokonoma.core.log import log

TOGETHER_SECONDS = 30
"""Processes that share a credential and are started together refresh it within this time, also on a busy machine."""

_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")
_CODE = f"""select client, redirect, challenge, resource, scope, person, expires_at, grant_id, {REACH_COLUMNS}
from oauth_code where hash = :hash {{for_update}}"""  # noqa: S608
_REFRESH = "select grant_id, expires_at, used_at, next from oauth_refresh where hash = :hash {for_update}"
_GRANT = "select client, person, resource, scope, revoked_at from oauth_grant where id = :id {for_update}"
_PREVIOUS = "select used_at from oauth_refresh where grant_id = :grant and next = :hash"
_INSERT = "insert into oauth_refresh (hash, grant_id, expires_at) values (:hash, :grant_id, :expires_at)"


@dataclass(frozen=True, slots=True)
class TokenRules:
    access_seconds: int
    refresh_seconds: int
    reuse_seconds: int


@dataclass(frozen=True, slots=True)
class TokenRequest:
    """One `POST /token` of a client that has shown which it is."""

    client: OAuthClient
    form: Mapping[str, str]
    origin: str
    remote: str | None


class TokenExchange:
    """The transaction of one request. Methods return an OAuthError instead of raising it: what they have revoked must
    be stored."""

    def __init__(self, statements: Statements, key: SigningKey, rules: TokenRules) -> None:
        self._statements, self._key, self._rules = statements, key, rules

    def exchange_code(self, request: TokenRequest) -> "dict[str, Any] | OAuthError":
        """Of any number of exchanges of one code, one gets tokens. A second use ends what the first one got."""
        form, statements = request.form, self._statements
        code = hash_secret(form.get("code", ""))
        row = statements.row(_CODE, hash=code)
        if row is None or row[0] != request.client.id:
            return build_grant_error("The code is not known")
        _, redirect, challenge, resource, scope, person, expires_at, grant_id, *reach = row
        if grant_id is not None:
            end_grant(statements, grant_id)
            log("warning", "oauth.code_reused", grant=grant_id, remote=request.remote)
            return build_grant_error("The code was used before")
        problem = _check_code(request, redirect, challenge, resource, expires_at)
        if problem is None and not self._is_living(person):
            problem = build_grant_error("The person who agreed has no access any more")
        if problem is not None:
            return problem
        draft = TokenClaims("", person, request.client.id, resource, scope)
        client = request.client
        claims = create_grant(statements, client.id, client.name, draft, from_columns(reach), request.remote)
        statements.run("update oauth_code set grant_id = :grant where hash = :hash", grant=claims.grant, hash=code)
        token = secrets.token_urlsafe(32)
        self._save_refresh(token, claims.grant)
        # Used ones are kept until they expire, because a copy of one may come back.
        statements.run("delete from oauth_refresh where expires_at < :at", at=now())
        return self._answer(request, claims, token)

    def refresh(self, request: TokenRequest) -> "dict[str, Any] | OAuthError":
        statements, previous = self._statements, hash_secret(request.form.get("refresh_token", ""))
        row = statements.row(_REFRESH, hash=previous)
        grant = None if row is None else statements.row(_GRANT, id=row[0])
        if row is None or grant is None or grant[0] != request.client.id:
            return build_grant_error("The refresh token is not known")
        grant_id, expires_at, used_at, _ = row
        if grant[4] is not None or expires_at <= now() or not self._is_living(grant[1]):
            return build_grant_error("The access was revoked, or has expired")
        scope = _narrow_scope(request, grant)
        if isinstance(scope, OAuthError):
            return scope
        token = self._derive(previous)
        if used_at is None and self._is_new(previous, grant_id):
            token = request.form["refresh_token"]
        elif used_at is None:
            self._use(previous, grant_id, token)
        elif not self._may_use_again(row):
            end_grant(statements, grant_id)
            log("warning", "oauth.refresh_reused", grant=grant_id, remote=request.remote)
            return build_grant_error("The refresh token was used before")
        self._note_use(request, grant_id, again=used_at is not None)
        return self._answer(request, TokenClaims(grant_id, grant[1], grant[0], grant[2], scope), token)

    def revoke(self, request: TokenRequest) -> None:
        """End the grant of a refresh or access token of this client. A token that is not known is no error."""
        token = request.form.get("token", "")
        row = self._statements.row("select grant_id from oauth_refresh where hash = :hash", hash=hash_secret(token))
        grant_id = None if row is None else row[0]
        if grant_id is None:
            try:
                grant_id = verify_token(self._statements, token, (request.origin,)).grant
            except Unauthenticated:
                return
        grant = self._statements.row(_GRANT, id=grant_id)
        if grant is not None and grant[0] == request.client.id:
            end_grant(self._statements, grant_id)

    def _use(self, previous: bytes, grant_id: str, token: str) -> None:
        sql = "update oauth_refresh set used_at = :at, next = :next where hash = :hash"
        self._statements.run(sql, at=now(), next=hash_secret(token), hash=previous)
        self._save_refresh(token, grant_id)

    def _is_new(self, hash: bytes, grant_id: str) -> bool:
        """Whether this token is the successor of one that was used just now."""
        row = self._statements.row(_PREVIOUS, grant=grant_id, hash=hash)
        return row is not None and now() - row[0] < min(TOGETHER_SECONDS, self._rules.reuse_seconds) * 1000

    def _may_use_again(self, row: Row) -> bool:
        """Within a while, as long as its successor was not used: then both sides still hold the same credential."""
        _, _, used_at, following = row
        found = self._statements.row("select used_at from oauth_refresh where hash = :hash", hash=bytes(following))
        return now() - used_at < self._rules.reuse_seconds * 1000 and found is not None and found[0] is None

    def _save_refresh(self, token: str, grant_id: str) -> None:
        expires_at = now() + self._rules.refresh_seconds * 1000
        self._statements.run(_INSERT, hash=hash_secret(token), grant_id=grant_id, expires_at=expires_at)

    def _derive(self, previous: bytes) -> str:
        digest = hmac.digest(self._key.refresh_secret, previous, "sha256")
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()

    def _note_use(self, request: TokenRequest, grant_id: str, *, again: bool) -> None:
        if again:
            sql = "update oauth_grant set reused = reused + 1, reused_at = :at, reused_remote = :remote where id = :id"
        else:
            sql = "update oauth_grant set used_at = :at, remote = :remote where id = :id"
        self._statements.run(sql, at=now(), remote=request.remote, id=grant_id)

    def _is_living(self, person: str) -> bool:
        row = self._statements.row("select 1 from person where id = :id and revoked_at is null", id=person)
        return row is not None

    def _answer(self, request: TokenRequest, claims: TokenClaims, refresh_token: str) -> dict[str, Any]:
        seconds = self._rules.access_seconds
        return {
            "access_token": sign_token(self._key, request.origin, claims, seconds),
            "token_type": "Bearer",
            "expires_in": seconds,
            "refresh_token": refresh_token,
            "scope": claims.scope,
        }


def _check_code(
    request: TokenRequest, redirect: str, challenge: str, resource: str, expires_at: int
) -> OAuthError | None:
    form = request.form
    if expires_at <= now():
        return build_grant_error("The code has expired")
    if form.get("redirect_uri", redirect) != redirect:
        return build_grant_error("redirect_uri is not the one that the code was sent to")
    verifier = form.get("code_verifier", "")
    digest = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    if not _VERIFIER.fullmatch(verifier) or not hmac.compare_digest(digest, challenge):
        return build_grant_error("code_verifier is not that of the code_challenge")
    return _check_resource(request, resource)


def _check_resource(request: TokenRequest, resource: str) -> OAuthError | None:
    """A token is bound to the address under which the client knows this server."""
    asked = request.form.get("resource") or resource
    if normalize_resource(asked, request.origin) != resource:
        return OAuthError("invalid_target", f"resource must be {resource}")
    return None


def _narrow_scope(request: TokenRequest, grant: Row) -> str | OAuthError:
    asked = set(request.form.get("scope", "").split())
    if not asked <= set(grant[3].split()):
        return OAuthError("invalid_scope", "The scope is wider than what was agreed to")
    return _check_resource(request, grant[2]) or " ".join(sorted(asked)) or grant[3]
