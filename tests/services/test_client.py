"""The client beyond single answers: deadlines, the breaker, the gate, addresses, accounts."""

import asyncio
import json
import random
import socket
import threading
from dataclasses import replace

import pytest
from conftest import SOAK
from services.conftest import Wire, build_house
from services.faulty import Answer

from tokonoma.app.keyring import open_keyring
from tokonoma.auth.api_keys import create_key
from tokonoma.core.call import Call, Caller
from tokonoma.core.clock import now
from tokonoma.core.errors import Invalid, Unavailable
from tokonoma.core.ids import random_hex
from tokonoma.core.reach import Reach
from tokonoma.core.service import ServiceRequest
from tokonoma.services import providers
from tokonoma.services.credentials import read_credentials


def find_free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


def submit(house, call):
    """Start a call; a function that waits for its value or its error."""
    outcomes, ended = [], threading.Event()

    def done(call, error):
        outcomes.append(error or call.value)
        ended.set()

    def wait():
        assert ended.wait(60)
        return outcomes[0]

    house.app.calls.submit(call, done)
    return wait


def start(house, tool: str = "fetch", **params):
    return submit(house, Call("wire", tool, params, Caller("cli")))


def wait_for_request(house) -> None:
    assert house.server.asked.acquire(timeout=60)


def read(house, account):
    with house.app.database.reading() as rows:
        return read_credentials(rows, open_keyring(house.app), account)


@pytest.mark.parametrize("reason", ["timeout", "cancelled"])
@pytest.mark.parametrize("tool", ["fetch", "create"])
def test_a_service_that_hangs_is_asked_once_and_the_end_of_the_call_ends_it(house, tool, reason):
    """The time of a call ends it in the same way as its caller does; see pipeline/deadline.py."""
    house.add()
    house.server.usual = Answer(act="hang")
    call = Call("wire", tool, {}, Caller("cli"))
    wait = submit(house, call)
    wait_for_request(house)
    call.cancel_token.cancel(reason)
    outcome = wait()
    assert (outcome.kind, outcome.reason) == ("unavailable", reason)
    assert "may have been sent" in outcome.message
    assert len(house.server.requests) == 1


def test_a_step_of_a_batch_ends_at_its_own_time_limit(house):
    house.add()
    house.server.usual = Answer(act="hang")
    told = house.talk.batch({"id": "a", "module": "wire", "tool": "create", "time_limit": 0.2})
    assert told["steps"][0]["status"] == "timeout"
    assert len(house.server.requests) <= 1


def test_a_client_without_a_call_has_a_time_limit_too(house):
    account = house.add()
    house.server.usual = Answer(act="hang")

    async def send():
        client = house.app.services.open(read(house, account), "wire", time_limit=0.05)
        await client.send(ServiceRequest("GET", "/"))

    with pytest.raises(Unavailable) as caught:
        asyncio.run(send())
    assert caught.value.reason == "timeout"


def test_what_cannot_be_reached_is_tried_three_times_also_for_a_write(house):
    house.add(details={"base_url": f"http://127.0.0.1:{find_free_port()}"})
    error = house.refuse("create")
    assert (error["code"], "Nothing was sent" in error["message"]) == ("EXTERNAL_API_ERROR", True)
    assert house.time.slept == [0.5, 1.0]  # two pauses: three tries


def test_after_five_failed_calls_the_service_is_left_alone_for_a_while(house):
    house.add()
    house.server.usual = Answer(500)
    for _ in range(5):
        assert house.refuse("create")["details"]["http_status"] == 500
    assert len(house.server.requests) == 5
    error = house.refuse("create")
    assert (error["code"], len(house.server.requests)) == ("EXTERNAL_API_ERROR", 5)
    assert 0 < error["details"]["retry_after"] <= 30
    house.time.slept.append(31)  # half a minute later one call goes ahead; it fails, and the pause begins again
    assert house.refuse("create")["details"]["http_status"] == 500
    assert "http_status" not in house.refuse("create")["details"]
    assert len(house.server.requests) == 6
    house.time.slept.append(31)
    house.server.usual = Answer()
    assert house.call("create")["status"] == 200
    assert house.call("create")["status"] == 200


def test_refusals_of_single_requests_do_not_open_the_breaker(house):
    house.add()
    for status in (404, 422, 403) * 3:
        house.server.script.append(Answer(status))
        assert house.refuse()["details"]["http_status"] == status
    assert house.call()["status"] == 200


def test_a_breaker_lets_one_call_try_again(house):
    house.add()
    house.server.usual = Answer(500)
    for _ in range(5):
        house.refuse("create")
    house.time.slept.append(31)
    house.server.usual = Answer()
    house.server.hold()
    wait = start(house, "create")
    wait_for_request(house)
    assert "in a row" in house.refuse("create")["message"]
    house.server.release()
    assert wait()["status"] == 200
    assert house.call("create")["status"] == 200


def test_never_more_requests_are_under_way_than_the_service_allows(house, monkeypatch):
    known = providers.PROVIDERS["supabase"]
    limited = replace(known, limits=providers.ServiceLimits(2))
    monkeypatch.setitem(providers.PROVIDERS, "supabase", limited)
    house.prepare("supabase")
    house.add()
    house.server.hold()
    waits = [start(house) for _ in range(20)]
    for _ in range(2):
        wait_for_request(house)
    house.server.release()
    assert [wait()["status"] for wait in waits] == [200] * 20
    assert (house.server.most_under_way, len(house.server.requests)) == (2, 20)


def test_a_limit_holds_for_the_next_calls_of_the_account_too(house):
    house.add("work")
    house.add("home")
    house.server.script.append(Answer(429, {"retry-after": "600"}))
    assert house.refuse(account="work")["details"]["retry_after"] == 600
    error = house.refuse(account="work")
    assert (error["code"], len(house.server.requests)) == ("RATE_LIMITED", 1)
    assert 595 <= error["details"]["retry_after"] <= 600
    assert house.call(account="home")["status"] == 200
    house.time.slept.append(600)
    assert house.call(account="work")["status"] == 200


def test_github_names_the_end_of_its_primary_limit(house):
    house.add()
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(now() // 1000 + 3)}
    house.server.script.append(Answer(403, headers, b'{"message":"API rate limit exceeded"}'))
    assert house.call()["status"] == 200
    assert 1 < sum(house.time.slept) <= 3
    assert len(house.server.requests) == 2


def test_the_gate_is_not_held_during_pauses_and_limits_are_waited_for_together(house):
    house.add()
    house.server.script.extend([Answer(429, {"retry-after": "2"})])
    waits = [start(house) for _ in range(12)]
    assert [wait()["status"] for wait in waits] == [200] * 12
    assert sum(house.time.slept) >= 2


# Addresses


@pytest.mark.parametrize("path", ["/a/../b", "/..", "/a/.", "/a/%2e%2e/b", "/a/%2E./b", "/./a", "/a/..?x=1"])
def test_a_path_that_climbs_is_refused(house, path):
    house.add()
    assert house.refuse(path=path)["code"] == "INVALID_ARGUMENT"
    assert house.server.requests == []


@pytest.mark.parametrize("path", ["/a b", "/a\r\nx: y", "/a\0", "/é", "/a#b", "/a\\b", "a/b", "//evil.example/x", ""])
def test_a_path_that_is_not_quoted_is_refused(house, path):
    house.add()
    assert house.refuse(path=path)["code"] in ("INVALID_ARGUMENT", "EXTERNAL_API_ERROR")
    assert house.server.requests == []


@pytest.mark.parametrize(
    "path",
    [
        "/a/..%2F..%2Fuser",
        "/a%2Fb",
        "/%252e%252e",
        "/a%3Fx%3D1",
        "/a%23b",
        "/%C3%A9",
        "/a%20b",
        "/a%0D%0A",
        "/a..b/...",
    ],
)
def test_quoted_values_stay_one_segment(house, path):
    house.add()
    house.call(path=path)
    assert [each.path for each in house.server.requests] == [path]


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.2:{port}/x", "http://127.0.0.1:1/x", "https://127.0.0.1:{port}/x", "http://me@127.0.0.1:{port}/x",
     "http://127.0.0.1:{port}@evil.example/x", "http://evil.example/x"],
)  # fmt: skip
def test_a_next_page_at_another_host_is_not_asked(house, url):
    house.add()
    error = house.refuse(path=url.format(port=house.server.url.rpartition(":")[2]))
    assert error["code"] == "EXTERNAL_API_ERROR"
    assert house.server.requests == []


def test_a_next_page_of_the_same_host_is_asked_as_it_is(house):
    house.add()
    house.call(path=f"{house.server.url}/next?cursor=a%2Bb&page=2")
    assert house.server.requests[0].path == "/next?cursor=a%2Bb&page=2"
    assert house.server.requests[0].headers["authorization"] == "Bearer pasted-token"


@pytest.mark.parametrize(
    "base", ["http://10.0.0.1", "http://example.com", "ftp://127.0.0.1", "https://a@b.example", "x"]
)
def test_an_account_that_leads_elsewhere_in_clear_is_refused(house, base):
    house.add(details={"base_url": base})
    assert house.refuse()["code"] == "TOKEN_INVALID"


def test_one_redirect_to_a_named_host_is_followed_without_the_token(house):
    house.add()
    house.server.script.append(Answer(302, {"location": f"{house.server.url}/file?sig=1", "set-cookie": "a=b"}))
    assert house.call(redirect_hosts=["127.0.0.1"])["status"] == 200
    first, second = house.server.requests
    assert first.headers["authorization"] == "Bearer pasted-token"
    assert (second.path, "authorization" in second.headers, "cookie" in second.headers) == ("/file?sig=1", False, False)
    house.server.script.extend([Answer(302, {"location": f"{house.server.url}/again"})] * 2)
    assert house.refuse(redirect_hosts=["127.0.0.1"])["details"]["http_status"] == 302
    assert len(house.server.requests) == 4
    house.server.script.extend([Answer(302, {"location": f"{house.server.url}/x"}), Answer(401)])
    assert house.refuse(redirect_hosts=["127.0.0.1"])["code"] == "EXTERNAL_API_ERROR"
    assert house.find().state == "ready"  # what another host says is nothing about the account
    house.server.script.append(Answer(302, {"location": f"{house.server.url}/file"}))
    assert house.refuse(redirect_hosts=["*.example.com"])["code"] == "EXTERNAL_API_ERROR"


# Accounts


def test_which_account_is_used_and_what_a_mask_hides(house):
    assert house.refuse()["code"] == "TOKEN_NOT_CONFIGURED"
    house.add("work", {"token": "of-work"})
    house.add("home", {"token": "of-home"})
    error = house.refuse()
    assert (error["code"], error["details"]["reason"]) == ("INVALID_ARGUMENT", "ambiguous")
    house.call(account="home")
    assert house.server.requests[-1].headers["authorization"] == "Bearer of-home"
    assert house.refuse(account="other")["code"] == "NOT_FOUND"
    with house.app.write_as_owner("keys") as statements:
        token = create_key(statements, "reader", Reach(mask=frozenset({"wire@home", "wire@work:write"})))
    assert ask_as(house, token, "fetch")["status"] == 200
    assert house.server.requests[-1].headers["authorization"] == "Bearer of-work"
    assert ask_as(house, token, "fetch", account="home").kind == "missing"
    assert ask_as(house, token, "create").reason == "token_not_configured"


def ask_as(house, token, tool, **params):
    return submit(house, Call("wire", tool, params, Caller("http", token=token, remote="192.0.2.1")))()


def test_an_account_with_an_email_address_and_a_token(house):
    house.prepare("atlassian")
    house.add(kind="basic", details={"email": "a@example.com"}, secrets={"token": "api-token"})
    house.call()
    assert house.server.requests[0].headers["authorization"] == "Basic YUBleGFtcGxlLmNvbTphcGktdG9rZW4="


def test_headers_of_the_provider_are_sent_and_cookies_are_not_kept(house):
    house.add()
    house.server.script.append(Answer(headers={"set-cookie": "session=1; Path=/"}))
    house.call()
    house.call()
    sent = house.server.requests[1].headers
    assert (sent["x-github-api-version"], sent["user-agent"]) == ("2022-11-28", "tokonoma")
    assert "cookie" not in sent


def test_a_broken_account_is_not_asked_again_until_it_is_connected_anew(house):
    house.add()
    house.server.usual = Answer(401)
    error = house.refuse()
    assert error["code"] == "TOKEN_INVALID"
    assert "tokonoma connect" in error["message"]
    assert house.refuse()["code"] == "TOKEN_INVALID"
    assert len(house.server.requests) == 2


def test_a_token_that_is_no_header_is_refused_and_not_shown(house, capfd):
    house.add(secrets={"token": "canary-1\r\nx: y"})
    error = house.refuse()
    assert error["code"] == "TOKEN_INVALID"
    assert "canary-1" not in json.dumps(error) + capfd.readouterr().err
    assert house.server.requests == []


def test_what_a_service_answers_passes_the_policy_and_is_not_stored(house):
    house.add()
    key = f"ghp_{random_hex(18)}"
    house.server.usual = Answer(body=json.dumps({"mail": "a.tanaka@example.co.jp", "key": key}).encode())
    answer = house.call()
    assert key not in json.dumps(answer)
    assert answer["value"]["mail"] == "a.tanaka@example.co.jp"
    house.app.journal.flush()
    with house.app.database.reading() as rows:
        tables = [table for (table,) in rows.rows(house.app.database.dialect.tables)]
        stored = "".join(str(row) for table in tables for row in rows.rows(f'select * from "{table}"'))
    assert key not in stored
    assert "a.tanaka" not in stored


# A write is sent once


def test_no_write_is_taken_twice_whatever_happens(house):
    """Answers that may mean that the request was taken, or not; at most one of those that were taken per call."""
    chance = random.Random(19)
    taken = [Answer(status) for status in (200, 500, 502, 408, 529, 404)]
    taken += [Answer(503, {"retry-after": "0"}), Answer(302, {"location": "/x"}), Answer(body=b"{broken")]
    taken += [Answer(act="drop"), Answer(act="half")]
    not_taken = [Answer(429), Answer(429, {"retry-after": "1"}), Answer(401), Answer(403, {"retry-after": "0"})]
    for round_number in range(1_000 if SOAK else 200):
        house.prepare(chance.choice(["github", "notion", "google", "microsoft"]))
        house.add()
        house.server.script.extend(chance.choices(taken + not_taken, k=6))
        script = list(house.server.script)
        house.talk.tool("call", module="wire", tool_name="create", params={"text": f"{round_number}"})
        received = script[: len(house.server.requests)]
        assert sum(answer not in not_taken for answer in received) <= 1, received
        assert len(received) <= 4


def test_the_journal_holds_that_a_write_was_sent_also_if_it_failed(house):
    house.add()
    house.server.usual = Answer(500)
    house.refuse("create")
    house.refuse("fetch")
    house.app.journal.flush()
    sql = "select tool, outcome from journal where module = 'wire' order by at desc, tool limit 3"
    with house.app.database.reading() as rows:
        found = {tuple(row) for row in rows.rows(sql)}
    assert ("create", "sent") in found
    assert ("fetch", "sent") not in found


def test_the_client_closes_with_its_process(tmp_path, server):
    app = build_house(tmp_path / "home")
    house = Wire(app, server)
    house.prepare()
    house.add()
    assert house.call()["status"] == 200
    [(client, task)] = app.services._parts.http._opened.values()
    app.close()
    assert client.is_closed
    assert task.done()


def send(house, account, request: ServiceRequest):
    async def run():
        client = house.app.services.open(read(house, account), "wire")
        assert (client.account, client.details["base_url"]) == ("work", house.server.url)
        return await client.send(request)

    return asyncio.run(run())


@pytest.mark.parametrize("headers", [{"AUTHORIZATION": "Bearer other"}, {"X": "a\r\nauthorization: b"}, {"X": "é"}])
def test_a_connector_cannot_replace_the_token_or_end_a_header(house, headers):
    with pytest.raises(Invalid):
        send(house, house.add(), ServiceRequest("GET", "/", headers=headers))
    assert house.server.requests == []


def test_a_connector_replaces_a_header_of_its_provider_and_sends_its_query_and_bytes(house):
    headers, query = {"accept": "text/plain", "X-Own": "1"}, [("q", "a b&c"), ("q", "é")]
    house.server.usual = Answer(headers={"content-type": "text/plain", "X-Other": "2"}, body=b"plain")
    request = ServiceRequest("PUT", "/file?v=1", query, content=b"\x00\x01", headers=headers)
    response = send(house, house.add(), request)
    assert (response.status, response.content, response.value) == (200, b"plain", None)
    assert response.headers["x-other"] == "2"
    sent = house.server.requests[0]
    assert (sent.method, sent.path, sent.body) == ("PUT", "/file?v=1&q=a+b%26c&q=%C3%A9", b"\x00\x01")
    assert (sent.headers["accept"], sent.headers["x-own"]) == ("text/plain", "1")
