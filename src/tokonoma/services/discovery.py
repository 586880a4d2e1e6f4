"""Who gives tokens for an address, and as whom we ask: metadata of a resource (RFC 9728) and of its authorization
server (RFC 8414), and registration as a client (RFC 7591). What does not fit together is refused.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast
from urllib.parse import SplitResult, urlsplit

import httpx
import orjson

from tokonoma.core.errors import Denied, Unavailable
from tokonoma.core.network import is_loopback
from tokonoma.services.credentials import AppCredentials
from tokonoma.services.http import AnswerIncomplete, AnswerTooLong, read_body

ClientAuth = Literal["post", "basic"]

_SECONDS = 15.0
_MAX_BYTES = 2**18
_PARAMETER = re.compile(r'(?<![a-z_])([a-z_]{1,40}+)\s{0,3}+=\s{0,3}+(?:"([^"]{0,4000}+)"|([^\s,"]{1,1000}+))')
_WELL_KNOWN = "/.well-known/"
_JSON = {"Accept": "application/json", "MCP-Protocol-Version": "2025-11-25"}


@dataclass(frozen=True, slots=True)
class AuthChallenge:
    """What a server says with a status of 401 or 403 (`WWW-Authenticate`)."""

    metadata_url: str = ""
    scopes: tuple[str, ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class IssuerMetadata:
    """Where consents are given, tokens issued and clients registered. `issuer` is compared to the letter."""

    issuer: str
    authorize_url: str
    token_url: str
    register_url: str = ""
    auth_methods: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    names_issuer: bool = False  # its answers carry `iss` (RFC 9207)
    takes_documents: bool = False  # a client may be the address of a document about it


@dataclass(frozen=True, slots=True)
class ResourceAccess:
    """Everything that is needed to ask for tokens for one address."""

    resource: str
    server: IssuerMetadata
    scopes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClientIdentity:
    """As whom tokens are asked for. It belongs to one issuer, and is never shown to another."""

    issuer: str
    app: AppCredentials = field(repr=False)
    auth: ClientAuth = "post"


def parse_challenge(header: str) -> AuthChallenge:
    told = {name: quoted or plain for name, quoted, plain in _PARAMETER.findall(header[:20_000])}
    scopes = tuple(told.get("scope", "").split())
    return AuthChallenge(told.get("resource_metadata", ""), scopes, told.get("error", ""))


async def find_access(http: httpx.AsyncClient, url: str, challenge: AuthChallenge) -> ResourceAccess:
    """Who gives tokens for this address. Denied if the metadata is about another resource, or is of another issuer than
    the one that was asked for."""
    metadata = await _find_resource(http, url, challenge)
    issuers = _list_texts(metadata.get("authorization_servers")) if metadata else []
    issuer = issuers[0] if issuers else _find_origin(url)
    server = await _find_server(http, issuer, strict=bool(issuers))
    supported = tuple(_list_texts(metadata.get("scopes_supported"))) if metadata else ()
    resource = str(metadata["resource"]) if metadata and "resource" in metadata else url
    return ResourceAccess(resource, server, challenge.scopes or supported)


def choose_scopes(access: ResourceAccess, more: Sequence[str] = ()) -> tuple[str, ...]:
    """What is asked for: what the resource wants, what the owner adds, and to be allowed to renew tokens."""
    wanted = list(dict.fromkeys((*access.scopes, *more)))
    if "offline_access" in access.server.scopes and wanted:
        wanted.append("offline_access")
    return tuple(dict.fromkeys(wanted))


async def register_client(http: httpx.AsyncClient, server: IssuerMetadata, redirect_uri: str) -> ClientIdentity:
    """Register as a new client. Unavailable if the server has no way for that."""
    if not server.register_url:
        message = f"{server.issuer} takes only clients that it knows. Register one there"
        raise Unavailable(f"{message}, then give its id with --client-id.", reason="registration")
    methods = server.auth_methods or ("client_secret_basic",)
    preferred = ("none", "client_secret_basic", "client_secret_post")
    method = next((each for each in preferred if each in methods), "none")
    asked = {
        "client_name": "Tokonoma",
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": method,
        "application_type": "native" if is_loopback(urlsplit(redirect_uri).hostname or "") else "web",
    }
    status, told = await _ask(http, "POST", server.register_url, asked)
    client_id = told.get("client_id")
    if status not in (200, 201) or not isinstance(client_id, str) or not client_id:
        raise Unavailable(f"{server.issuer} does not register clients (status {status}).", reason="registration")
    secret = told.get("client_secret")
    given = told.get("token_endpoint_auth_method", method)
    app = AppCredentials(client_id, secret if isinstance(secret, str) and given != "none" else "")
    return ClientIdentity(server.issuer, app, "basic" if given == "client_secret_basic" else "post")


def choose_auth(server: IssuerMetadata) -> ClientAuth:
    """How a client that was registered by hand shows its secret."""
    methods = server.auth_methods or ("client_secret_basic",)
    return "basic" if "client_secret_basic" in methods else "post"


def require_issuer(server: IssuerMetadata, issuer: str) -> None:
    """Denied if an answer is not, or does not say that it is, of the server that was asked (RFC 9207)."""
    if issuer and issuer != server.issuer:
        raise Denied("The answer comes from another authorization server than the one that was asked.", reason="issuer")
    if server.names_issuer and not issuer:
        raise Denied("The answer does not say from which authorization server it comes.", reason="issuer")


async def _find_resource(http: httpx.AsyncClient, url: str, challenge: AuthChallenge) -> Mapping[str, Any] | None:
    """None from a server that has no such metadata: then it gives its tokens itself."""
    parts = urlsplit(url)
    origin, path = _find_origin(url), parts.path.rstrip("/")
    known = f"{origin}{_WELL_KNOWN}oauth-protected-resource"
    places = [challenge.metadata_url] if challenge.metadata_url else list(dict.fromkeys((known + path, known)))
    for place in places:
        status, told = await _ask(http, "GET", place)
        if status == 200:
            _require_same_resource(url, told.get("resource"))
            return told
    return None


def _require_same_resource(url: str, resource: Any) -> None:
    """The metadata must be about this address, or one above it on the same host."""
    if not isinstance(resource, str):
        raise Denied("The metadata of the server does not say which resource it is about.", reason="resource")
    asked, told = urlsplit(url), urlsplit(resource)
    below = (asked.path.rstrip("/") + "/").startswith(told.path.rstrip("/") + "/")
    if _find_origin(url) != _find_origin(resource) or not below:
        raise Denied("The metadata of the server is about another resource: it is not used.", reason="resource")


async def _find_server(http: httpx.AsyncClient, issuer: str, *, strict: bool) -> IssuerMetadata:
    origin, path = _find_origin(issuer), urlsplit(issuer).path.rstrip("/")
    first = [f"{origin}{_WELL_KNOWN}{name}{path}" for name in ("oauth-authorization-server", "openid-configuration")]
    places = [*first, f"{origin}{path}{_WELL_KNOWN}openid-configuration"] if path else first
    for place in places:
        status, told = await _ask(http, "GET", place)
        if status == 200:
            return _parse_server(issuer, told, strict=strict)
    if strict:
        raise Unavailable(f"{issuer} says nothing about how it gives tokens.", reason="metadata")
    return IssuerMetadata(origin, f"{origin}/authorize", f"{origin}/token", f"{origin}/register")


def _parse_server(issuer: str, told: Mapping[str, Any], *, strict: bool) -> IssuerMetadata:
    named = told.get("issuer")
    if named != issuer and (strict or not isinstance(named, str) or _find_origin(named) != _find_origin(issuer)):
        raise Denied("The metadata is of another authorization server than the one that was asked.", reason="issuer")
    urls = {key: told.get(key) for key in ("authorization_endpoint", "token_endpoint")}
    if not all(isinstance(url, str) and _is_safe(url) for url in urls.values()):
        raise Denied(f"{issuer} has no usable addresses for consents and tokens.", reason="metadata")
    pkce = _list_texts(told.get("code_challenge_methods_supported"))
    if "S256" not in pkce and (strict or pkce):
        raise Denied(f"{issuer} does not protect consents with PKCE (S256): it is not used.", reason="pkce")
    register = told.get("registration_endpoint")
    return IssuerMetadata(
        str(named),
        str(urls["authorization_endpoint"]),
        str(urls["token_endpoint"]),
        register if isinstance(register, str) and _is_safe(register) else "",
        tuple(_list_texts(told.get("token_endpoint_auth_methods_supported"))),
        tuple(_list_texts(told.get("scopes_supported"))),
        told.get("authorization_response_iss_parameter_supported") is True,
        told.get("client_id_metadata_document_supported") is True,
    )


async def _ask(
    http: httpx.AsyncClient, method: str, url: str, body: Mapping[str, Any] | None = None
) -> tuple[int, Mapping[str, Any]]:
    """Status and JSON object of one small request; an empty object for anything else."""
    if not _is_safe(url):
        raise Denied("The server refers to an address that is not https: it is not asked.", reason="address")
    sent: dict[str, Any] = {} if body is None else {"json": dict(body)}
    try:
        async with asyncio.timeout(_SECONDS), http.stream(method, url, headers=_JSON, **sent) as response:
            value: Any = orjson.loads(await read_body(response, _MAX_BYTES))
            return response.status_code, cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}
    except ValueError:
        return 0, {}
    except (TimeoutError, httpx.HTTPError, httpx.InvalidURL, AnswerIncomplete, AnswerTooLong) as error:
        message = f"{urlsplit(url).netloc} cannot be asked about its tokens ({type(error).__name__})."
        raise Unavailable(message, reason="external") from None


def _is_safe(url: str) -> bool:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        parts = SplitResult("", "", "", "", "")
    local = parts.scheme == "http" and is_loopback(parts.hostname or "")
    return bool(parts.hostname) and "@" not in parts.netloc and (parts.scheme == "https" or local)


def _find_origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _list_texts(value: Any) -> list[str]:
    return [each for each in cast("list[Any]", value) if isinstance(each, str)] if isinstance(value, list) else []
