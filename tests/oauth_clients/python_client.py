"""The official Python client, as a program would use it: its credential, its sign-in, and its session."""

import ssl
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any
from urllib.parse import parse_qs, urlsplit

import anyio.to_thread
import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)
from oauth_clients.house import MEMO
from oauth_clients.person import Person

CALLBACK = "http://127.0.0.1:3999/callback"


class Storage:
    """The credential of one client program, which several of its sessions may share."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class SignIn:
    """The sign-in of one session at this URL; `asked` are those that it has begun."""

    def __init__(
        self, url: str, person: Person, storage: Storage, document: str | None = None, **decision: str
    ) -> None:
        self.url, self._person, self.button = url, person, decision.pop("button", "allow")
        self._chosen = decision
        self.asked: list[str] = []
        metadata = OAuthClientMetadata.model_validate(
            {"client_name": "Python session", "redirect_uris": [CALLBACK], "scope": "mcp offline_access"}
        )
        self.provider = OAuthClientProvider(
            url, metadata, storage, self._redirect, self._receive, client_metadata_url=document
        )

    async def _redirect(self, url: str) -> None:
        self.asked.append(url)

    async def _receive(self) -> AuthorizationCodeResult:
        decide = partial(self._person.decide, self.asked[-1], self.button, **self._chosen)
        location = await anyio.to_thread.run_sync(decide)
        assert location.startswith(f"{CALLBACK}?")
        sent = {name: value[0] for name, value in parse_qs(urlsplit(location).query).items()}
        return AuthorizationCodeResult(code=sent.get("code", ""), state=sent["state"], iss=sent.get("iss"))

    def expire(self) -> None:
        """An hour goes by for the client, too."""
        self.provider.context.token_expiry_time = 1.0


@asynccontextmanager
async def connected(sign_in: SignIn, mode: Any = "auto", verify: ssl.SSLContext | bool = True):
    async with AsyncExitStack() as stack:
        http = httpx2.AsyncClient(auth=sign_in.provider, timeout=60.0, verify=verify, trust_env=False)
        await stack.enter_async_context(http)
        yield await stack.enter_async_context(Client(streamable_http_client(sign_in.url, http_client=http), mode=mode))


async def remember(client: Client) -> None:
    saved = await client.call_tool("memory_save", {"content": MEMO})
    assert saved.is_error is False, saved
