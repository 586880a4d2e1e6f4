"""The client of MCP servers as the conformance suite drives it: `python upstream_client.py URL`, with the scenario in
the environment. Transport, protocol and sign-in are those of the product; the person with a browser is here."""

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx

from tokonoma.core.errors import Denied, Refusal
from tokonoma.services.credentials import AppCredentials
from tokonoma.services.discovery import parse_challenge
from tokonoma.services.http import open_client
from tokonoma.services.sign_in import parse_callback
from tokonoma.upstream.client import Answers, UpstreamClient
from tokonoma.upstream.http import HttpTransport
from tokonoma.upstream.login import begin_login, finish_login
from tokonoma.upstream.tools import list_tools
from tokonoma.upstream.wire import ConnectionLost, RpcFailure

SCENARIO = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
CONTEXT: dict[str, Any] = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
DOCUMENT = "https://conformance-test.local/client-metadata.json"
REDIRECT = "http://localhost:3000/callback"
VALUES = {"string": "us", "integer": 1, "number": 1.5, "boolean": True, "array": [], "object": {}}


class BrowserAuth:
    """Signs in when the server asks for it, as a person would: agrees at once."""

    def __init__(self, http: httpx.AsyncClient, url: str) -> None:
        self._http, self._url, self._token, self._tries = http, url, "", 0
        self._scopes: tuple[str, ...] = ()

    async def get_headers(self) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {self._token}"} if self._token else {}

    async def renew(self, status: int, challenge: str) -> bool:
        told = parse_challenge(challenge)
        self._tries += 1
        if (status == 403 and told.error != "insufficient_scope") or self._tries > 3:
            return False
        more = self._scopes if status == 403 else ()
        client_id, secret = CONTEXT.get("client_id"), CONTEXT.get("client_secret", "")
        known = None if client_id is None else AppCredentials(client_id, secret)
        attempt = await begin_login(self._http, self._url, told, REDIRECT, more, known, DOCUMENT)
        response = await self._http.get(attempt.authorize_url)
        tokens = await finish_login(self._http, attempt, parse_callback(urlsplit(response.headers["location"]).query))
        self._token, self._scopes = tokens.access_token, attempt.scopes
        return True

    def explain(self, status: int, challenge: str) -> Refusal:
        return Denied(f"status {status}: {challenge}")


async def accept(params: dict[str, Any]) -> dict[str, Any]:
    """What a person fills in: the defaults."""
    properties = params.get("requestedSchema", {}).get("properties", {})
    return {
        "action": "accept",
        "content": {name: each["default"] for name, each in properties.items() if "default" in each},
    }


def build_arguments(schema: Mapping[str, Any]) -> dict[str, Any]:
    properties = schema.get("properties", {})
    return {name: VALUES.get(properties.get(name, {}).get("type"), "x") for name in schema.get("required", ())}


async def run(client: UpstreamClient) -> None:
    await client.open()
    if SCENARIO == "initialize":
        await client.list_all("tools/list", "tools")
        return
    tools = {each["name"]: each for each in (await list_tools(client)).tools}
    wanted = {each["name"]: each["arguments"] for each in CONTEXT.get("toolCalls", ())}
    if SCENARIO == "tools_call":
        wanted = {"add_numbers": {"a": 2, "b": 3}}
    for name, tool in tools.items():
        if not wanted or name in wanted:
            arguments = wanted.get(name) or build_arguments(tool["inputSchema"])
            await client.call_tool(name, arguments, tool["inputSchema"])
    if SCENARIO == "http-standard-headers":
        for each in await client.list_all("resources/list", "resources"):
            await client.request("resources/read", {"uri": each["uri"]})
        for each in await client.list_all("prompts/list", "prompts"):
            await client.request("prompts/get", {"name": each["name"]})


async def main() -> int:
    url = sys.argv[-1]
    answers: Answers = {"elicitation/create": accept}
    async with open_client() as http:
        client = UpstreamClient(HttpTransport(http, url, BrowserAuth(http, url)), answers)
        try:
            await run(client)
        except (Refusal, ConnectionLost, RpcFailure) as error:
            sys.stderr.write(f"{type(error).__name__}: {error}\n")
            return 1
        finally:
            await client.close()
    return 0


sys.exit(asyncio.run(main()))
