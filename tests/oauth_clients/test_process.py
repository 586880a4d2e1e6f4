"""A server that was started by its command, and a person who signs in with the link that another command prints."""

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import anyio
import httpx
import pytest
from mcp.client.auth import OAuthFlowError
from oauth_clients.person import Person
from oauth_clients.program import build_environ, start_program
from oauth_clients.python_client import SignIn, Storage, connected, remember

from tokonoma.auth.oauth.grants import list_grants, revoke_grant
from tokonoma.store.database import format_sqlite_url, open_database

pytestmark = pytest.mark.xdist_group("oauth_clients")

TOKONOMA = Path(sys.executable).with_name("tokonoma")


def revoke_all(home: Path) -> int:
    database = open_database(format_sqlite_url(home / "tokonoma.db"), durable=False)
    with database.writing() as statements:
        found = [revoke_grant(statements, grant.name) for grant in list_grants(statements)]
    database.close()
    return len(found)


async def wait_until_refused(url: str, token: str) -> None:
    """The server knows of a revocation within a second, which is sooner than after a thousand requests."""
    headers = {"authorization": f"Bearer {token}", "accept": "application/json, text/event-stream"}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    async with httpx.AsyncClient(headers=headers) as client:
        for _ in range(1_000):
            if (await client.post(url, json=message)).status_code == 401:
                return
            await anyio.sleep(0.01)
    pytest.fail("A token that was revoked is still good.")


def test_signing_in_calling_and_being_revoked(tmp_path):
    home = tmp_path / "home"
    settings = {"TOKONOMA_HOME": str(home), "TOKONOMA_DURABLE": "false", "TOKONOMA_EMBED_PROVIDER": "none"}
    environ = {**build_environ(tmp_path / "person"), **settings}
    with start_program([TOKONOMA, "serve", "--oauth", "on", "--port", "0"], environ, tmp_path) as server:
        origin = server.wait_for(r'"url": "(http://127\.0\.0\.1:\d+)/mcp"')[1]
        command = [TOKONOMA, "open", "--no-browser", "--port", origin.rpartition(":")[2]]
        link = subprocess.run(command, env=environ, capture_output=True, check=True, encoding="utf-8").stdout.strip()
        with closing(Person(origin)) as person:
            person.sign_in(link)
            check_session(f"{origin}/mcp", person, home)


def check_session(url: str, person: Person, home: Path) -> None:
    storage = Storage()
    sign_in = SignIn(url, person, storage)

    async def session() -> None:
        async with connected(sign_in) as client:
            await remember(client)
            assert revoke_all(home) == 1
            assert storage.tokens is not None
            await wait_until_refused(sign_in.url, storage.tokens.access_token)
            sign_in.button = "deny"
            await remember(client)

    with pytest.RaisesGroup(OAuthFlowError, flatten_subgroups=True):
        anyio.run(session)
    assert len(sign_in.asked) == 2
