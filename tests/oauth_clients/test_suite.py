"""The suite of the official conformance tests for authorization servers, against the real server, once for each era."""

import re
import socket
import subprocess

import httpx
import pytest
from conformance.node import NODE, packages
from oauth_clients.program import build_environ, start_program

pytestmark = pytest.mark.xdist_group("oauth_clients")


def register(origin: str, redirect_uri: str) -> str:
    metadata = {"client_name": "Conformance", "redirect_uris": [redirect_uri], "token_endpoint_auth_method": "none"}
    return httpx.post(f"{origin}/register", json=metadata).raise_for_status().json()["client_id"]


@pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25"])
def test_every_check_of_an_authorization_server_passes(house, tmp_path, revision):
    suite = packages() / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    client_id = register(house.origin, f"http://127.0.0.1:{port}/callback")
    command = [NODE, suite, "authorization", "--url", house.origin, "--spec-version", revision, "--port", port]
    command += ["--client-id", client_id, "--resource", house.url]
    with start_program(command, build_environ(tmp_path / "person"), tmp_path) as program:
        link = program.wait_for(rf"{house.origin}/authorize\?\S+")[0]
        program.wait_for("Callback server started")
        house.person.let_in(link)
        assert program.finish() == 0, program.text
    listed = [NODE, suite, "list", "--authorization", "--spec-version", revision]
    scenarios = re.findall(
        r"^  - (\S+)", subprocess.run(listed, capture_output=True, encoding="utf-8").stdout, re.MULTILINE
    )
    passed = re.findall(r"^✓ (\S+): [1-9]\d* passed, 0 failed", program.text, re.MULTILINE)
    assert scenarios
    assert passed == scenarios
