"""OAuth clients: those that register themselves (RFC 7591), and how one proves at the token endpoint which it is."""

import base64
import hmac
import json
import secrets
from collections.abc import Mapping, Sequence
from typing import Any, cast
from urllib.parse import unquote_plus, urlsplit

from tokonoma.auth.oauth.errors import OAuthError, build_client_error, build_limit_error
from tokonoma.auth.oauth.model import SCOPES, OAuthClient, clean_name, hash_secret
from tokonoma.auth.oauth.redirects import MAX_LENGTH, check_redirect_uri
from tokonoma.core.clock import now
from tokonoma.core.desk import Row, Rows, Statements
from tokonoma.core.errors import Invalid

MAX_UNUSED = 1_000
"""Clients to which no person has ever agreed."""

MAX_REDIRECTS = 20
METHODS = ("none", "client_secret_basic", "client_secret_post")

_KEPT = 3_600_000  # milliseconds that a client has for its first consent
_COLUMNS = "id, kind, name, secret, document"
_INSERT = """insert into oauth_client (id, kind, name, secret, document, created_at, fetched_at)
values (:id, :kind, :name, :secret, :document, :at, :fetched_at) on conflict (id) do update set
kind = excluded.kind, name = excluded.name, document = excluded.document, fetched_at = excluded.fetched_at"""
_DROP = """delete from oauth_client where id in (select id from oauth_client
where used_at is null and created_at < :before order by created_at, id limit :excess)"""


def register_client(statements: Statements, metadata: object) -> dict[str, Any]:
    """Store a new client, and return what RFC 7591 answers. A secret is stored as a hash, so it is shown once."""
    document = check_metadata(metadata)
    make_room(statements)
    client_id = secrets.token_urlsafe(16)
    is_public = document["token_endpoint_auth_method"] == "none"  # noqa: S105
    secret = None if is_public else secrets.token_urlsafe(32)
    save_client(statements, client_id, "registered", document, secret)
    return {
        "client_id": client_id,
        "client_id_issued_at": now() // 1000,
        **document,
        **({} if secret is None else {"client_secret": secret, "client_secret_expires_at": 0}),
    }


def check_metadata(metadata: object) -> dict[str, Any]:
    """What is kept of a client's metadata, after all checks. OAuthError for what cannot be registered."""
    if not isinstance(metadata, dict):
        raise _refuse("The metadata must be a JSON object")
    given = cast("dict[str, Any]", metadata)
    uris = _check_redirects(given.get("redirect_uris"))
    method = given.get("token_endpoint_auth_method", "client_secret_basic")
    if method not in METHODS:
        raise _refuse(f"token_endpoint_auth_method must be one of {', '.join(METHODS)}")
    grants = _check_list(given, "grant_types", "authorization_code")
    _check_list(given, "response_types", "code")
    scope = given.get("scope")
    asked = scope.split() if isinstance(scope, str) else []
    uri = given.get("client_uri")
    return {
        "client_name": clean_name(given.get("client_name"), "OAuth client"),
        "redirect_uris": uris,
        "token_endpoint_auth_method": method,
        "grant_types": [each for each in ("authorization_code", "refresh_token") if each in (*grants, "refresh_token")],
        "response_types": ["code"],
        "scope": " ".join(sorted(SCOPES.intersection(asked) | {"mcp"})),
        **({"client_uri": uri} if _is_page(uri) else {}),
    }


def make_room(statements: Statements) -> None:
    """Remove the oldest clients that were never used, if there are too many; 429 if all of them are new."""
    ((count,),) = statements.rows("select count(*) from oauth_client where used_at is null")
    excess = count - MAX_UNUSED + 1
    if excess > 0 and statements.run(_DROP, before=now() - _KEPT, excess=excess) < excess:
        raise build_limit_error("Too many clients have registered and were never used", 3600)


def save_client(
    statements: Statements,
    client_id: str,
    kind: str,
    document: Mapping[str, Any],
    secret: str | None = None,
    fetched_at: int | None = None,
) -> None:
    """Add the client, or replace what is known of it."""
    statements.run(
        _INSERT,
        id=client_id,
        kind=kind,
        name=document["client_name"],
        secret=None if secret is None else hash_secret(secret),
        document=json.dumps(document),
        at=now(),
        fetched_at=fetched_at,
    )


def find_client(rows: Rows, client_id: str) -> OAuthClient | None:
    if "\0" in client_id or len(client_id) > MAX_LENGTH:
        return None
    row = rows.row(f"select {_COLUMNS} from oauth_client where id = :id", id=client_id)  # noqa: S608
    return None if row is None else _to_client(row)


def delete_client(statements: Statements, client_id: str) -> bool:
    """Forget a client: it has to register again. Its grants are not touched."""
    return bool(statements.run("delete from oauth_client where id = :id", id=client_id))


def authenticate_client(rows: Rows, form: Mapping[str, str], authorization: str) -> OAuthClient:
    """The client that sends this form; a secret comes in the form or as Basic, and never as both."""
    client_id, secret = form.get("client_id", ""), form.get("client_secret")
    if authorization:
        named, given = _parse_basic(authorization)
        if secret is not None or client_id not in ("", named):
            raise OAuthError("invalid_request", "The client has authenticated in two ways")
        client_id, secret = named, given
    client = find_client(rows, client_id) if client_id else None
    if client is None:
        raise build_client_error("This client is not registered here")
    if client.secret is not None and not hmac.compare_digest(hash_secret(secret or ""), client.secret):
        raise build_client_error("The client's secret is missing or wrong")
    return client


def _parse_basic(authorization: str) -> tuple[str, str]:
    scheme, _, encoded = authorization.partition(" ")
    try:
        name, colon, secret = base64.b64decode(encoded.strip(), validate=True).decode().partition(":")
    except ValueError:
        name, colon, secret = "", "", ""
    if scheme.lower() != "basic" or not colon:
        raise build_client_error("The Authorization header must be Basic, with client id and secret")
    return unquote_plus(name), unquote_plus(secret)


def _check_redirects(uris: object) -> list[str]:
    if not isinstance(uris, list) or not 0 < len(cast("list[Any]", uris)) <= MAX_REDIRECTS:
        raise OAuthError("invalid_redirect_uri", f"redirect_uris must list 1 to {MAX_REDIRECTS} addresses")
    try:
        return [check_redirect_uri(each) for each in cast("list[Any]", uris)]
    except Invalid as error:
        raise OAuthError("invalid_redirect_uri", error.message) from None


def _check_list(given: Mapping[str, Any], name: str, needed: str) -> Sequence[str]:
    values = given.get(name, [needed])
    if not isinstance(values, list) or needed not in cast("list[Any]", values):
        raise _refuse(f"{name} must contain {needed}")
    return cast("list[str]", values)


def _is_page(uri: object) -> bool:
    """Whether it can be shown as the client's home page."""
    try:
        return isinstance(uri, str) and check_redirect_uri(uri) == uri and urlsplit(uri).scheme == "https"
    except Invalid:
        return False


def _to_client(row: Row) -> OAuthClient:
    client_id, kind, name, secret, text = row
    document: dict[str, Any] = json.loads(text)
    return OAuthClient(
        id=client_id,
        kind="registered" if kind == "registered" else "document",
        name=name,
        redirect_uris=tuple(document["redirect_uris"]),
        method=document["token_endpoint_auth_method"],
        secret=None if secret is None else bytes(secret),
        uri=document.get("client_uri", ""),
    )


def _refuse(description: str) -> OAuthError:
    return OAuthError("invalid_client_metadata", description)
