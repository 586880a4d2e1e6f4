"""The OAuth client of the official SDK signs in, calls, refreshes after expiry and is revoked, over the real wire."""

import asyncio
from collections.abc import Callable
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx2
import pytest
from auth.oauth.house import add_person
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl
from server.doors import PING

from tokonoma.app.oauth import build_oauth_parts
from tokonoma.auth.oauth.exchange import TOGETHER_SECONDS
from tokonoma.auth.oauth.grants import list_grants, revoke_grant
from tokonoma.core.reach import UNLIMITED

ORIGIN = "http://localhost:8722"
CALLBACK = "http://localhost:3118/callback"
CLAUDE_CODE = "https://claude.ai/oauth/claude-code-client-metadata"


class Pocket:
    """What a client keeps between its starts."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client_info):
        self.client = client_info


class SdkClient:
    """`asked` counts how often the person had to agree."""

    def __init__(self, door, client_metadata_url=None) -> None:
        add_person(door.app.database)
        self._door, self._oauth, self._url = door, build_oauth_parts(door.app), client_metadata_url
        self.pocket, self.asked, self._location = Pocket(), 0, ""

    async def _agree(self, url: str) -> None:
        self.asked += 1
        pairs = parse_qsl(urlsplit(url).query)
        request = await asyncio.to_thread(self._oauth.check_authorization, pairs, ORIGIN)
        parts = request, "owner", UNLIMITED, ORIGIN
        self._location = await asyncio.to_thread(self._oauth.build_code_location, *parts)

    async def _come_back(self) -> AuthorizationCodeResult:
        query = {name: values[0] for name, values in parse_qs(urlsplit(self._location).query).items()}
        return AuthorizationCodeResult(code=query["code"], state=query.get("state"), iss=query.get("iss"))

    async def use(self, *steps: Callable[[OAuthClientProvider], object]) -> list[int]:
        """The statuses of one request, and of another one after each of these steps."""
        metadata = OAuthClientMetadata(redirect_uris=[AnyUrl(CALLBACK)], client_name="SDK client")
        auth = OAuthClientProvider(
            f"{ORIGIN}/mcp", metadata, self.pocket, self._agree, self._come_back, client_metadata_url=self._url
        )
        transport = httpx2.ASGITransport(self._door.endpoint, client=("127.0.0.1", 1))
        statuses: list[int] = []
        async with httpx2.AsyncClient(transport=transport, auth=auth) as client:
            for step in (lambda _: None, *steps):
                step(auth)
                headers = {"accept": "application/json, text/event-stream"}
                statuses.append((await client.post(f"{ORIGIN}/mcp", json=PING, headers=headers)).status_code)
        return statuses


def expire(auth: OAuthClientProvider) -> None:
    auth.context.token_expiry_time = 1.0


@pytest.mark.parametrize("url", [None, CLAUDE_CODE], ids=["registered", "document"])
def test_it_signs_in_refreshes_and_signs_in_again_when_revoked(open_door, url, frozen_clock):
    door = open_door(oauth="on", oauth_documents="on")
    client, held = SdkClient(door, url), []

    def read_grants():
        with door.app.database.reading() as rows:
            return [(grant.name, grant.state) for grant in list_grants(rows)]

    def note(auth):
        held.append((client.asked, client.pocket.tokens.refresh_token, read_grants()))
        frozen_clock.advance(TOGETHER_SECONDS * 1000)  # a token that is younger is not replaced
        expire(auth)

    def revoke(auth):
        held.append((client.asked, client.pocket.tokens.refresh_token, read_grants()))
        with door.app.database.writing() as statements:
            revoke_grant(statements, read_grants()[0][0])
        door.app.authenticator.forget()

    assert asyncio.run(client.use(note, note, revoke)) == [200] * 4
    name = "sdk-client" if url is None else "claude-code"
    assert [(asked, grants) for asked, _, grants in held] == [(1, [(name, "active")])] * 3
    assert len({token for _, token, _ in held}) == 3  # two refreshes, without asking the person
    assert (client.asked, sorted(read_grants())) == (2, [(name, "revoked"), (f"{name}-2", "active")])
