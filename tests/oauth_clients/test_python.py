"""The official Python client signs in to a whole server, calls, refreshes, and is revoked."""

from contextlib import AsyncExitStack, suppress

import anyio
import pytest
from mcp import MCPError
from mcp.client.auth import OAuthFlowError
from oauth_clients.house import DOCUMENT_URL, MEMO, OpenHouse, publish_documents
from oauth_clients.python_client import CALLBACK, SignIn, Storage, connected, remember

pytestmark = pytest.mark.xdist_group("oauth_clients")

DOCUMENT = {
    "client_id": DOCUMENT_URL,
    "client_name": "Published client",
    "redirect_uris": [CALLBACK],
    "grant_types": ["authorization_code", "refresh_token"],
}


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
@pytest.mark.parametrize("way", ["registered", "document"])
def test_signing_in_calling_refreshing_and_being_revoked(build_house, monkeypatch, mode, way):
    if way == "document":
        publish_documents(monkeypatch, {DOCUMENT_URL: DOCUMENT})
    house: OpenHouse = build_house(oauth_documents="on")
    sign_in = SignIn(house.url, house.person, Storage(), DOCUMENT_URL if way == "document" else None)

    async def session() -> None:
        async with connected(sign_in, mode) as client:
            await remember(client)
            assert (len(sign_in.asked), house.count_refreshes()) == (1, 0)
            grant = house.find_grant()
            assert (grant.client == DOCUMENT_URL) is (way == "document")
            assert grant.name == ("published-client" if way == "document" else "python-session")

            house.expire_tokens()
            sign_in.expire()
            await remember(client)
            assert (len(sign_in.asked), house.count_refreshes()) == (1, 1)
            assert house.find_grant().id == grant.id

            house.revoke()
            sign_in.button = "deny"
            with suppress(MCPError):  # what else the session says before it ends with the error of its sign-in
                await client.call_tool("memory_save", {"content": MEMO})
                pytest.fail("A revoked client was served.")

    with pytest.RaisesGroup(OAuthFlowError, flatten_subgroups=True):
        anyio.run(session)
    assert len(sign_in.asked) == 2
    assert house.find_grant().state == "revoked"


def test_sessions_that_share_a_credential_keep_it(house):
    """Five at once find the same expired token, each refreshes it, and all go on, also the next time."""
    storage, sessions = Storage(), 5

    async def refresh_together(rounds: int) -> None:
        async with AsyncExitStack() as stack:
            sign_ins = [SignIn(house.url, house.person, storage) for _ in range(sessions)]
            clients = [await stack.enter_async_context(connected(each)) for each in sign_ins]
            for number in range(1, rounds + 1):
                house.expire_tokens()
                for each in sign_ins:  # as processes that read the same file
                    each.provider.context.current_tokens = storage.tokens
                    each.expire()
                async with anyio.create_task_group() as group:
                    for client in clients:
                        group.start_soon(remember, client)
                assert house.count_refreshes() == number
            assert [each.asked for each in sign_ins[1:]] == [[]] * (sessions - 1)

    anyio.run(refresh_together, 3)
    grant = house.find_grant()
    assert (grant.state, grant.reused) == ("active", 3 * (sessions - 1))


def test_a_person_who_denies_lets_nobody_in(house):
    sign_in = SignIn(house.url, house.person, Storage(), button="deny")

    async def session() -> None:
        async with connected(sign_in):
            pytest.fail("A client was served that nobody has let in.")

    with pytest.RaisesGroup(OAuthFlowError, flatten_subgroups=True, allow_unwrapped=True):
        anyio.run(session)
    assert (len(sign_in.asked), house.list_grants()) == (1, [])


def test_what_the_person_chose_is_what_the_client_can_do(house):
    sign_in = SignIn(house.url, house.person, Storage(), read_only="1")

    async def session() -> None:
        async with connected(sign_in) as client:
            found = await client.call_tool("call", {"module": "memory", "tool_name": "namespaces", "params": {}})
            assert found.is_error is False, found
            refused = await client.call_tool(
                "call", {"module": "memory", "tool_name": "save", "params": {"content": MEMO}}
            )
            assert refused.is_error is True

    anyio.run(session)
    assert "*:write" in house.find_grant().reach.mask
