"""Access tokens: JWTs that this server signs and reads (RFC 9068). A token names its grant; the rest is looked up."""

import binascii
import json
import re
import secrets
from collections.abc import Collection
from functools import lru_cache
from typing import Any, cast

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import OKPKey
from joserfc.util import urlsafe_b64decode

from tokonoma.auth.oauth.model import TokenClaims
from tokonoma.auth.oauth.signing import ALGORITHM, SigningKey
from tokonoma.core.clock import now
from tokonoma.core.desk import Rows
from tokonoma.core.errors import Unauthenticated

TYPE = "at+jwt"
MAX_TOKEN = 4_096
"""Characters. Ours have about 600."""

_FORM = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")
_KID = re.compile(r"k[0-9]{1,9}")
_LEEWAY = 5  # seconds that the clocks of two processes may differ


def sign_token(key: SigningKey, issuer: str, claims: TokenClaims, seconds: int) -> str:
    at = now() // 1000
    payload = {
        "iss": issuer,
        "sub": claims.person,
        "aud": claims.resource,
        "client_id": claims.client_id,
        "scope": claims.scope,
        "iat": at,
        "exp": at + seconds,
        "jti": secrets.token_urlsafe(12),
        "grant": claims.grant,
    }
    header = {"alg": ALGORITHM, "typ": TYPE, "kid": key.kid}
    return jwt.encode(header, payload, key.key, algorithms=[ALGORITHM])


def verify_token(rows: Rows, token: str, origins: Collection[str]) -> TokenClaims:
    """The claims of a token that was made here for one of these origins; Unauthenticated for anything else."""
    if len(token) > MAX_TOKEN or not _FORM.fullmatch(token):
        raise _refuse()
    # Before anything is verified: exactly the header that we write. No crit, b64, jwk, jku, x5u, no other algorithm.
    header = _read_header(token)
    kid = header.get("kid")
    if not isinstance(kid, str) or not _KID.fullmatch(kid) or header != {"alg": ALGORITHM, "typ": TYPE, "kid": kid}:
        raise _refuse()
    row = rows.row("select public from signing_key where kid = :kid", kid=kid)
    if row is None:
        raise _refuse()
    try:
        payload = jwt.decode(token, _import_key(row[0]), algorithms=[ALGORITHM]).claims
    except (JoseError, ValueError, TypeError, binascii.Error):
        raise _refuse() from None
    return _check_claims(payload, origins)


def _check_claims(payload: dict[str, Any], origins: Collection[str]) -> TokenClaims:
    at, issuer = now() // 1000, payload.get("iss")
    texts = [payload.get(name) for name in ("grant", "sub", "client_id", "aud", "scope")]
    exp, iat = payload.get("exp"), payload.get("iat")
    if not all(isinstance(each, str) for each in texts) or type(exp) is not int or type(iat) is not int:
        raise _refuse()
    if issuer not in origins or payload["aud"] != f"{issuer}/mcp":
        raise Unauthenticated("This access token is for another server.", reason="token")
    if exp <= at:
        raise Unauthenticated("This access token has expired.", reason="expired_token")
    if iat > at + _LEEWAY:
        raise _refuse()
    return TokenClaims(*cast("list[str]", texts))


def _read_header(token: str) -> dict[str, Any]:
    try:
        header: Any = json.loads(urlsafe_b64decode(token.partition(".")[0].encode()))
    except (ValueError, RecursionError):
        header = None
    return cast("dict[str, Any]", header) if isinstance(header, dict) else {}


@lru_cache(maxsize=8)
def _import_key(public: str) -> OKPKey:
    return OKPKey.import_key(json.loads(public))


def _refuse() -> Unauthenticated:
    return Unauthenticated("This access token is not one of this server's.", reason="token")
