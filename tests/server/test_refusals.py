"""401, 403 and 421 leave a trace: in the journal, in the log and in the metrics, and never the credential."""

import json

import pytest
from server.doors import PING, Door

from tokonoma.auth import api_keys
from tokonoma.core.call import Caller
from tokonoma.core.clock import now
from tokonoma.journal.verify import verify
from tokonoma.server.mcp.session import StdioSession

pytestmark = pytest.mark.migrated

ELSEWHERE = "192.0.2.7"


def bearer(key: str) -> list[tuple[str, str]]:
    return [("authorization", f"Bearer {key}")]


@pytest.fixture
def door(open_door) -> Door:
    door: Door = open_door()
    door.create_key("owner of a key")
    return door


def expire(door: Door) -> str:
    return door.create_key("old", expires_at=now() - 1)


def revoke(door: Door) -> str:
    key = door.create_key("gone")
    with door.app.database.writing() as statements:
        api_keys.revoke_key(statements, "gone")
    return key


CASES = {
    "no key": (lambda door: door.post(remote=ELSEWHERE), 401, "unauthenticated.no_key", "/mcp"),
    "a wrong key": (lambda door: door.post(remote=ELSEWHERE, headers=bearer("tkn_a_b")), 401,
                    "unauthenticated.unknown_key", "/mcp"),
    "an expired key": (lambda door: door.post(remote=ELSEWHERE, headers=bearer(expire(door))), 401,
                       "unauthenticated.expired_key", "/mcp"),
    "a revoked key": (lambda door: door.post(remote=ELSEWHERE, headers=bearer(revoke(door))), 401,
                      "unauthenticated.revoked_key", "/mcp"),
    "a proxy": (lambda door: door.post(remote=ELSEWHERE, headers=[("via", "1.1 x")]), 401,
                "unauthenticated.forwarded", "/mcp"),
    "another Host": (lambda door: door.get("/ready", ELSEWHERE, [("host", "evil.example")]), 421, "denied.host",
                     "/ready"),
    "an unknown path": (lambda door: door.get("/%1b%5b31m", ELSEWHERE, [("host", "evil.example")]), 421, "denied.host",
                        "*"),
    "another Origin": (lambda door: door.post(remote=ELSEWHERE, headers=[("origin", "https://evil.example")]), 403,
                       "denied.origin", "/mcp"),
    "metrics without a key": (lambda door: door.get("/metrics", ELSEWHERE), 401, "unauthenticated.no_key", "/metrics"),
    "metrics without system": (
        lambda door: door.get("/metrics", ELSEWHERE, bearer(door.create_key("memos", modules=["memory"]))), 403,
        "denied.metrics", "/metrics"),
}  # fmt: skip


@pytest.mark.parametrize(("ask", "status", "code", "place"), CASES.values(), ids=CASES)
def test_who_is_turned_away_is_in_journal_log_and_metrics(door, capsys, ask, status, code, place):
    response = ask(door)
    assert response.status_code == status
    (entry,) = door.read_journal()
    shown = {name: entry[name] for name in ("principal", "transport", "remote", "tool", "outcome", "code")}
    assert shown == {
        "principal": "nobody", "transport": "http", "remote": ELSEWHERE, "tool": place, "outcome": "refused",
        "code": code,
    }  # fmt: skip
    (line,) = [json.loads(each) for each in capsys.readouterr().err.splitlines() if '"refused"' in each]
    assert (line["code"], line["remote"], line["place"]) == (code, ELSEWHERE, place)
    reason = code.partition(".")[2]
    metrics = door.get("/metrics", headers=bearer(door.create_key("reader"))).text
    assert f'tokonoma_refused_total{{reason="{reason}"}} 1.0' in metrics
    assert ELSEWHERE not in metrics
    with door.app.database.reading() as rows:
        assert verify(rows).problems == ()


def test_no_credential_is_written_anywhere(door, capsys):
    secret = "tkn_0123456789ab_" + "s" * 43
    for header in (bearer(secret), [("authorization", f"Basic {secret}")], [*bearer(secret), ("origin", "null")]):
        assert door.post(remote=ELSEWHERE, headers=header).status_code in (401, 403)
    assert len(door.read_journal()) == 3
    assert "s" * 43 not in json.dumps(door.read_journal()) + capsys.readouterr().err


def test_unknown_revoked_and_expired_keys_get_the_same_answer(door):
    answers = {door.post(headers=bearer(key)).content for key in (revoke(door), expire(door), "tkn_a_b", "x")}
    assert len(answers) == 1


def test_a_flood_writes_a_bounded_number_of_entries_and_lines(database_url, open_door, capsys):
    door: Door = open_door(database_url=database_url)
    for _ in range(40):
        assert door.post(remote=ELSEWHERE, headers=bearer("tkn_a_b")).status_code == 401
    assert len(door.read_journal()) == capsys.readouterr().err.count('"refused"') == 5
    door.app.journal.refusals.flush(everything=True)
    assert door.read_journal()[0]["code"] == "suppressed.35"
    metrics = door.get("/metrics", headers=bearer(door.create_key("reader"))).text
    assert 'tokonoma_refused_total{reason="unknown_key"} 40.0' in metrics


def test_a_stdio_client_with_a_revoked_key_is_in_the_journal(door):
    revoke(door)
    answers: list[bytes] = []
    session = StdioSession(door.app.dispatcher, Caller("stdio", key="gone"), answers.append)
    session.handle_line(json.dumps(PING).encode())
    assert b"error" in answers[0]
    (entry,) = door.read_journal()
    assert (entry["transport"], entry["code"], entry["tool"]) == ("stdio", "missing.unknown_credential", "stdio")


def test_public_metrics_need_no_key_but_the_right_host(open_door):
    door: Door = open_door(metrics_public=True)
    door.create_key("any")
    assert door.get("/metrics", ELSEWHERE).status_code == 200
    assert door.get("/metrics", ELSEWHERE, [("host", "evil.example")]).status_code == 421


def test_metrics_show_a_key_only_the_modules_that_it_sees(open_door):
    door: Door = open_door()
    all_seeing = door.create_key("all")
    for module, tool in (("memory", "list"), ("items", "get_items"), ("vault", "ls"), ("nowhere", "x")):
        door.ask(all_seeing, "call", module=module, tool_name=tool)
    door.ask(all_seeing, "get_module_schema", module="*")
    limited = door.create_key("limited", modules=["system", "memory"])
    seen = door.get("/metrics", headers=bearer(limited)).text
    assert 'module="memory"' in seen
    assert 'module="unknown"' in seen
    assert 'module="gateway"' in seen
    assert "items" not in seen
    assert "vault" not in seen
    assert 'module="items"' in door.get("/metrics", headers=bearer(all_seeing)).text
