"""Signing in to a server at an address: who gives its tokens, a consent in a browser, and the tokens for it. The same
functions serve the connectors."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import httpx

from tokonoma.core.errors import Unavailable
from tokonoma.services.credentials import AppCredentials
from tokonoma.services.discovery import (
    AuthChallenge,
    ClientIdentity,
    ResourceAccess,
    choose_auth,
    choose_scopes,
    find_access,
    parse_challenge,
    register_client,
    require_issuer,
)
from tokonoma.services.providers import MCP
from tokonoma.services.sign_in import (
    ConsentAnswer,
    PkcePair,
    build_authorize_url,
    create_pkce,
    create_state,
    require_code,
)
from tokonoma.services.token_endpoint import TokenSet, ask_token
from tokonoma.upstream import wire

_PROBE_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class LoginAttempt:
    """A consent under way."""

    access: ResourceAccess
    client: ClientIdentity
    redirect_uri: str
    scopes: tuple[str, ...]
    state: str = field(repr=False)
    pkce: PkcePair

    @property
    def authorize_url(self) -> str:
        return build_authorize_url(
            self.access.server.authorize_url,
            client_id=self.client.app.client_id,
            redirect_uri=self.redirect_uri,
            state=self.state,
            scopes=self.scopes,
            challenge=self.pkce.challenge,
            extra={"resource": self.access.resource},
        )

    def describe(self) -> dict[str, Any]:
        """What renews the tokens later; nothing secret."""
        return {
            "issuer": self.access.server.issuer,
            "token_url": self.access.server.token_url,
            "resource": self.access.resource,
            "client_id": self.client.app.client_id,
            "client_auth": self.client.auth,
            "scopes": list(self.scopes),
        }


async def probe(http: httpx.AsyncClient, url: str, headers: Mapping[str, str]) -> AuthChallenge | None:
    """What the server wants before it answers; None if it wants no consent."""
    meta = wire.build_meta(wire.MODERN, {})
    sent = {
        "Accept": "application/json, text/event-stream",
        **wire.build_headers(wire.MODERN, "server/discover", {}),
        **headers,
    }
    message = wire.build_request(1, "server/discover", {"_meta": meta})
    try:
        async with asyncio.timeout(_PROBE_SECONDS), http.stream("POST", url, headers=sent, json=message) as response:
            if response.status_code != 401:
                return None
            return parse_challenge(", ".join(response.headers.get_list("www-authenticate")))
    except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as error:
        raise Unavailable(f"The server cannot be reached ({type(error).__name__}).", reason="server") from None


async def begin_login(
    http: httpx.AsyncClient,
    url: str,
    challenge: AuthChallenge,
    redirect_uri: str,
    scopes: Sequence[str] = (),
    known: AppCredentials | None = None,
    document: str = "",
    state: str = "",
) -> LoginAttempt:
    """`known`: a client that the owner has registered there; `document`: the address of a document about this one, for
    servers that read it. Otherwise a client is registered."""
    access = await find_access(http, url, challenge)
    if known is not None:
        client = ClientIdentity(access.server.issuer, known, choose_auth(access.server))
    elif document and access.server.takes_documents:
        client = ClientIdentity(access.server.issuer, AppCredentials(document))
    else:
        client = await register_client(http, access.server, redirect_uri)
    return LoginAttempt(
        access, client, redirect_uri, choose_scopes(access, scopes), state or create_state(), create_pkce()
    )


async def finish_login(http: httpx.AsyncClient, attempt: LoginAttempt, answer: ConsentAnswer) -> TokenSet:
    """The tokens for a consent. Denied if the answer belongs to another one, or comes from another issuer."""
    require_issuer(attempt.access.server, answer.issuer)
    grant = {
        "grant_type": "authorization_code",
        "code": require_code(answer, attempt.state),
        "redirect_uri": attempt.redirect_uri,
        "code_verifier": attempt.pkce.verifier,
        "resource": attempt.access.resource,
    }
    provider = replace(MCP, client_auth=attempt.client.auth)
    return await ask_token(http, provider, attempt.access.server.token_url, attempt.client.app, grant)
