"""The official TypeScript clients of both eras sign in to a whole server, call, refresh, and are revoked."""

import json
from pathlib import Path
from typing import Any

import pytest
from conformance.node import NODE, packages
from oauth_clients.house import DOCUMENT_URL, OpenHouse, publish_documents
from oauth_clients.program import Program, build_environ, start_program

pytestmark = pytest.mark.xdist_group("oauth_clients")

SCRIPT = Path(__file__).parent / "oauth.mjs"
DOCUMENT = {"client_id": DOCUMENT_URL, "client_name": "Published", "redirect_uris": ["http://127.0.0.1:3999/callback"]}


def tell(program: Program, line: str) -> Any:
    program.send(line)
    return json.loads(program.wait_for(r"(?m)^\{.*\}$")[0])


@pytest.mark.parametrize("era", ["handshake", "2026-07-28"])
@pytest.mark.parametrize("way", ["registered", "document"])
def test_signing_in_calling_refreshing_and_being_revoked(build_house, monkeypatch, tmp_path, era, way):
    packages()
    if way == "document":
        publish_documents(monkeypatch, {DOCUMENT_URL: DOCUMENT})
    house: OpenHouse = build_house(oauth_documents="on")
    document = DOCUMENT_URL if way == "document" else ""
    environ = build_environ(tmp_path / "person")
    with start_program([NODE, SCRIPT, era, house.url, document], environ, tmp_path) as program:
        asked = tell(program, "call")
        assert asked["error"] == "UnauthorizedError"
        answer = house.person.decide(asked["authorize"])
        assert tell(program, f"finish {answer}") == {"failed": False}
        assert (house.find_grant().client == DOCUMENT_URL) is (way == "document")

        house.expire_tokens()
        assert tell(program, "call") == {"failed": False}
        assert (house.count_refreshes(), len(house.person.asked)) == (1, 1)

        house.revoke()
        refused = tell(program, "call")
        assert (refused["error"], refused["authorize"][: len(house.origin)]) == ("UnauthorizedError", house.origin)
    assert house.find_grant().state == "revoked"
