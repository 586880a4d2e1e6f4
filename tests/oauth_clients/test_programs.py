"""mcp-remote and the MCP Inspector, as people start them, against a whole server."""

import json
import socket
from pathlib import Path
from typing import Any

import pytest
from conformance.node import NODE, packages
from oauth_clients.house import DOCUMENT_URL, MEMO, OpenHouse, publish_documents
from oauth_clients.program import Program, build_environ, start_program

pytestmark = pytest.mark.xdist_group("oauth_clients")

INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "editor", "version": "1"}}
REMEMBER = {"name": "remember", "arguments": {"text": MEMO}}


def find_link(house: OpenHouse, program: Program) -> str:
    return program.wait_for(rf"{house.origin}/authorize\?\S+")[0]


def ask(program: Program, number: int, method: str, params: Any) -> Any:
    """Send a JSON-RPC request over stdio, and read the answer."""
    program.send(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}))
    return json.loads(program.wait_for(rf'(?m)^\{{.*"id":{number}\b.*\}}$')[0])["result"]


def test_mcp_remote(house, tmp_path):
    environ = build_environ(tmp_path / "person")
    command = [NODE, packages() / "mcp-remote" / "dist" / "proxy.js", house.url]
    with start_program(command, environ, tmp_path) as program:
        link = find_link(house, program)
        program.wait_for("callback server running")  # it prints the link a moment before
        house.person.let_in(link)
        program.wait_for("Proxy established")
        ask(program, 1, "initialize", INITIALIZE)
        assert ask(program, 2, "tools/call", REMEMBER)["isError"] is False

        house.expire_tokens()
        assert ask(program, 3, "tools/call", REMEMBER)["isError"] is False
        assert (house.count_refreshes(), len(house.person.asked)) == (1, 1)

        house.revoke()
        program.send(json.dumps({"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": REMEMBER}))
        asked = program.wait_for(rf'{house.origin}/authorize\?\S+|(?m:^\{{.*"id":4\b.*\}}$)')[0]
        assert asked.startswith(house.origin)  # it asks to sign in again
    assert house.find_grant().state == "revoked"


def build_inspector_command(house: OpenHouse, era: str, document: str) -> list[str | Path]:
    inspector = packages() / "@modelcontextprotocol" / "inspector" / "clients" / "launcher" / "build" / "index.js"
    with socket.create_server(("127.0.0.1", 0)) as free:
        callback = f"http://127.0.0.1:{free.getsockname()[1]}/oauth/callback"
    command = [NODE, inspector, "--cli", house.url, "--protocol-era", era, "--callback-url", callback]
    command += ["--client-metadata-url", document] if document else []
    call = ["--method", "tools/call", "--tool-name", "remember", "--tool-args-json", json.dumps(REMEMBER["arguments"])]
    return [*command, *call, "--format", "json"]


@pytest.mark.parametrize(("era", "way"), [("legacy", "registered"), ("modern", "document")])
def test_the_inspector(build_house, monkeypatch, tmp_path, era, way):
    if way == "document":
        document = {"client_id": DOCUMENT_URL, "redirect_uris": ["http://127.0.0.1/oauth/callback"]}
        publish_documents(monkeypatch, {DOCUMENT_URL: document})
    house: OpenHouse = build_house(oauth_documents="on")
    environ = {**build_environ(tmp_path / "person"), "MCP_INSPECTOR_SECRET_STORE": "file"}
    command = build_inspector_command(house, era, DOCUMENT_URL if way == "document" else "")
    with start_program(command, environ, tmp_path, terminal=True) as program:
        house.person.let_in(find_link(house, program))
        assert (program.finish(), '"isError":true' in program.text) == (0, False), program.text
    assert (house.find_grant().client == DOCUMENT_URL) is (way == "document")

    house.expire_tokens()
    with start_program([*command, "--stored-auth-only"], environ, tmp_path) as program:
        assert program.finish() == 0, program.text
    assert (house.count_refreshes(), len(house.person.asked)) == (1, 1)

    house.revoke()
    with start_program([*command, "--stored-auth-only"], environ, tmp_path) as program:
        assert program.finish() != 0
        assert "auth_required" in program.text
    assert house.find_grant().state == "revoked"
