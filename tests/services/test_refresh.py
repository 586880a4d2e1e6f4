"""Tokens that expire: renewed early and once, in one process and in several, on both databases."""

import json
import os
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from conftest import SOAK
from services.conftest import Wire, build_house
from services.faulty import Answer
from services.test_client import start, submit, wait_for_request

from tokonoma.app.keyring import open_keyring
from tokonoma.app.services import refresh_idle
from tokonoma.core.call import Call, Caller
from tokonoma.core.clock import now
from tokonoma.core.errors import Unavailable
from tokonoma.keyring.accounts import read_secrets
from tokonoma.keyring.lease import store_refreshed, take_lease
from tokonoma.services import refresh
from tokonoma.services.credentials import AppCredentials
from tokonoma.services.token_endpoint import TokenSet

pytestmark = pytest.mark.migrated

HERE = Path(__file__).parent
PROCESSES, ROUNDS = (4, 100) if SOAK else (2, 2)


def read_pair(house: Wire) -> dict[str, str]:
    with house.app.database.reading() as rows:
        return dict(read_secrets(rows, open_keyring(house.app), house.find()))


def list_tokens(house: Wire) -> list[str]:
    return [request.headers["authorization"].removeprefix("Bearer ") for request in house.server.requests]


PAIR_2 = {"access_token": "access-2", "refresh_token": "refresh-2"}


def test_a_refused_token_is_renewed_once_and_the_request_sent_again(house):
    house.add_oauth()
    house.server.generation, house.server.checks_tokens = 1, True
    house.server.script.append(Answer(401))
    assert house.call("create")["status"] == 200
    assert list_tokens(house) == ["access-1", "access-2"]
    assert len(house.server.refreshes) == 1
    assert read_pair(house) == PAIR_2
    assert house.find().generation == 2


def test_a_token_that_is_refused_also_after_its_renewal_breaks_the_account(house):
    house.add_oauth()
    house.server.usual = Answer(401)
    error = house.refuse()
    assert (error["code"], error["details"]["http_status"]) == ("TOKEN_INVALID", 401)
    assert (list_tokens(house), house.find().state) == (["access-1", "access-2"], "broken")
    house.refuse()
    assert (len(house.server.requests), len(house.server.refreshes)) == (2, 1)


@pytest.mark.parametrize(("left", "refreshes"), [(310, 0), (295, 1), (-1, 1)])
def test_a_token_is_renewed_five_minutes_before_its_end(house, left, refreshes):
    house.add_oauth(left)
    house.call()
    assert len(house.server.refreshes) == refreshes
    assert list_tokens(house) == [f"access-{1 + refreshes}"]
    house.call()
    assert len(house.server.refreshes) == refreshes


def test_the_new_pair_is_stored_before_it_is_used(house):
    house.add_oauth(-1)
    house.server.look = lambda: house.find().generation
    house.call()
    assert house.server.looks == [2]


def test_a_refresh_that_is_refused_says_how_to_connect_again_and_is_not_repeated(house):
    house.add_oauth(-1)
    house.server.generation = 7
    error = house.refuse()
    assert error["code"] == "TOKEN_EXPIRED"
    assert "tokonoma connect" in error["message"]
    assert (house.server.requests, len(house.server.refreshes), house.find().state) == ([], 1, "broken")
    assert house.refuse()["code"] == "TOKEN_INVALID"
    assert len(house.server.refreshes) == 1


@pytest.mark.parametrize("code", ["bad_refresh_token", "invalid_grant"])
def test_an_error_of_a_token_endpoint_may_come_with_a_status_of_200(house, code):
    house.add_oauth(-1)
    house.server.token_answer = Answer(200, body=json.dumps({"error": code}).encode())
    assert house.refuse()["code"] == "TOKEN_EXPIRED"


FAILING = [
    Answer(500),
    Answer(act="drop"),
    Answer(act="half"),
    Answer(body=b"{broken"),
    Answer(body=b"[]"),
    Answer(body=b"{}"),
    Answer(302, {"location": "/elsewhere"}),
    Answer(401, body=b'{"error":"invalid_client","error_description":"app-secret refresh-1"}'),
]


@pytest.mark.parametrize("answer", FAILING, ids=range(len(FAILING)))
def test_a_token_endpoint_that_fails_breaks_nothing(house, answer):
    house.add_oauth(100)
    house.server.token_answer = answer
    assert house.call()["status"] == 200  # the old one is still good
    assert house.call()["status"] == 200
    assert (list_tokens(house), len(house.server.refreshes)) == (["access-1", "access-1"], 1)
    house.prepare()
    house.add_oauth(-1)
    house.server.token_answer = answer
    error = house.refuse()
    assert error["code"] == "EXTERNAL_API_ERROR"
    assert "app-secret" not in json.dumps(error)
    assert house.find().state == "ready"
    house.server.token_answer = None
    assert house.call()["status"] == 200  # the lease was given back


def test_many_calls_of_a_process_share_one_refresh(house):
    house.add_oauth(-1)
    house.server.checks_tokens = True
    waits = [start(house) for _ in range(50)]
    assert [wait()["status"] for wait in waits] == [200] * 50
    assert (len(house.server.refreshes), len(house.server.requests)) == (1, 50)


def test_others_write_while_a_refresh_waits_for_its_provider(house):
    house.add_oauth(-1)
    house.server.hold()
    wait = start(house)
    wait_for_request(house)
    house.talk.call("memory", "save", content="meanwhile")
    assert house.find().generation == 1
    house.server.release()
    assert wait()["status"] == 200
    assert house.find().generation == 2


def test_a_caller_that_leaves_does_not_end_the_refresh(house):
    """What the provider has given would be lost, and the refresh token of before may be used up."""
    house.add_oauth(-1)
    house.server.hold()
    call = Call("wire", "fetch", {}, Caller("cli"))
    first = submit(house, call)
    wait_for_request(house)
    call.cancel_token.cancel("cancelled")
    assert first().reason == "cancelled"
    second = start(house)
    house.server.release()
    assert second()["status"] == 200
    assert (len(house.server.refreshes), list_tokens(house)) == (1, ["access-2"])


def test_while_another_process_refreshes_the_old_token_is_used_or_the_new_one_waited_for(house):
    account = house.add_oauth(100)
    with house.app.database.writing() as statements:
        lease = take_lease(statements, account)
    assert lease is not None
    assert house.call()["status"] == 200
    assert (list_tokens(house), house.server.refreshes) == (["access-1"], [])
    with house.app.database.writing() as statements:
        statements.run("update account set expires_at = :at where id = :id", at=now() - 1, id=account.id)
    slept = threading.Event()
    house.time.on_sleep = slept.set
    wait = start(house)
    assert slept.wait(60)
    with house.app.database.writing() as statements:
        pair = {"access_token": "access-9", "refresh_token": "refresh-9"}
        assert store_refreshed(statements, open_keyring(house.app), lease, pair, now() + 3_600_000)
    assert wait()["status"] == 200
    assert (list_tokens(house)[-1], house.server.refreshes) == ("access-9", [])


def test_a_token_that_another_process_has_renewed_meanwhile_is_used_and_not_renewed_again(house):
    account = house.add_oauth()
    pair = {"access_token": "access-9", "refresh_token": "refresh-9"}

    def renew_elsewhere() -> None:
        if len(house.server.requests) == 1:
            with house.app.database.writing() as statements:
                lease = take_lease(statements, account)
                assert lease is not None
                assert store_refreshed(statements, open_keyring(house.app), lease, pair, now() + 3_600_000)

    house.server.look = renew_elsewhere
    house.server.script.append(Answer(401))
    assert house.call("create")["status"] == 200
    assert (list_tokens(house), house.server.refreshes) == (["access-1", "access-9"], [])


def test_what_the_provider_gave_is_stored_also_if_the_database_is_busy_at_first(house, monkeypatch):
    house.add_oauth(-1)
    failures = [Unavailable("busy", reason="busy"), Unavailable("away", reason="database")]

    def store(*given):
        if failures:
            raise failures.pop()
        return store_refreshed(*given)

    monkeypatch.setattr(refresh, "store_refreshed", store)
    monkeypatch.setattr(refresh, "_SAVE_PAUSES", (0.0, 0.0))
    assert house.call()["status"] == 200
    assert (read_pair(house), len(house.server.refreshes)) == (PAIR_2, 1)


@pytest.mark.parametrize(
    ("provider", "basic", "sent"),
    [("github", "", True), ("notion", "Basic YXBwLWlkOmFwcC1zZWNyZXQ=", False), ("atlassian", "", True)],
)
def test_each_provider_is_told_of_the_app_in_its_own_way(house, provider, basic, sent):
    house.prepare(provider)
    house.add_oauth(-1)
    assert house.call()["status"] == 200
    asked = house.server.refreshes[0]
    assert (asked["grant_type"], asked["refresh_token"]) == ("refresh_token", "refresh-1")
    assert (asked["authorization"], asked.get("client_secret") == "app-secret") == (basic, sent)


def test_an_account_without_its_app_or_without_a_refresh_token_says_so(house):
    house.add("work", {"access_token": "a"}, kind="oauth", expires_at=now() - 1)
    assert house.refuse()["code"] == "TOKEN_EXPIRED"
    house.prepare()
    pair = {"access_token": "a", "refresh_token": "r"}
    house.add("work", pair, kind="oauth", expires_at=now() - 1, details={"app": "gone"})
    assert "The app 'gone'" in house.refuse()["message"]
    assert (house.server.requests, house.server.refreshes) == ([], [])


def test_idle_accounts_are_renewed_once_a_week(house, frozen_clock):
    house.add_oauth()
    refresh_idle(house.app)
    assert house.server.refreshes == []
    frozen_clock.advance(8 * 86_400_000)
    refresh_idle(house.app)
    refresh_idle(house.app)
    assert (len(house.server.refreshes), read_pair(house)) == (1, PAIR_2)
    house.server.generation = 9
    frozen_clock.advance(8 * 86_400_000)
    refresh_idle(house.app)
    refresh_idle(house.app)
    assert (len(house.server.refreshes), house.find().state) == (2, "broken")


def test_nothing_secret_is_in_a_representation():
    shown = repr(TokenSet("canary-1", "canary-2")) + repr(AppCredentials("id", "canary-3"))
    assert "canary" not in shown


# Several processes


@pytest.fixture
def database_url(request) -> str:
    """On PostgreSQL it has its tables already."""
    return request.getfixturevalue(f"{'migrated_' * (request.param == 'postgres')}{request.param}_at")


@pytest.fixture
def stored(database_url, tmp_path, server):
    """A house on either database."""
    app = build_house(tmp_path / "home", database_url=database_url)
    house = Wire(app, server)
    house.prepare()
    yield house
    app.close()


@contextmanager
def run_process(house: Wire, url: str, *more: str):
    words = [sys.executable, str(HERE / "asking.py"), str(house.app.home), url, "github", *more]
    environ = {**os.environ, "PYTHONPATH": str(HERE.parent)}
    pipe: Any = subprocess.PIPE
    with subprocess.Popen(words, env=environ, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        yield process
        process.stdin.close()


def tell(process: Any, count: int) -> None:
    process.stdin.write(f"{count}\n")
    process.stdin.flush()


@pytest.mark.parametrize("database_url", ["sqlite", "postgres"], indirect=True)
def test_calls_of_several_processes_at_the_end_of_a_token_ask_for_one_new_one(stored, database_url):
    house, calls = stored, 50 // PROCESSES
    account = house.add_oauth(-1)
    house.server.checks_tokens = True
    with ExitStack() as opened:
        processes = [opened.enter_context(run_process(house, database_url)) for _ in range(PROCESSES)]
        assert [process.stdout.readline() for process in processes] == ["ready\n"] * PROCESSES
        for number in range(1, ROUNDS + 1):
            for process in processes:
                tell(process, calls)
            assert [process.stdout.readline() for process in processes] == ["200\n"] * PROCESSES
            assert len(house.server.refreshes) == number
            assert len(house.server.requests) == number * PROCESSES * calls
            with house.app.database.writing() as statements:
                statements.run("update account set expires_at = :at where id = :id", at=now() - 1, id=account.id)


KILLED = [("sqlite", True), ("postgres", False), *([("sqlite", False), ("postgres", True)] if SOAK else [])]


@pytest.mark.parametrize(("database_url", "grace"), KILLED, indirect=["database_url"])
def test_a_process_killed_between_answer_and_save_leaves_an_account_that_recovers_or_says_so(
    stored, database_url, frozen_clock, grace
):
    house = stored
    house.add_oauth(-1)
    house.server.grace = grace
    with run_process(house, database_url, "die") as process:
        assert process.stdout.readline() == "ready\n"
        tell(process, 1)
        assert process.stdout.readline() == ""
    assert process.returncode == -9
    assert (len(house.server.refreshes), house.find().generation) == (1, 1)
    frozen_clock.at = time.time_ns() // 1_000_000 + 31_000  # its lease is over
    if grace:
        assert house.call()["status"] == 200
        assert read_pair(house) == PAIR_2
    else:
        error = house.refuse()
        assert (error["code"], "tokonoma connect" in error["message"]) == ("TOKEN_EXPIRED", True)
        house.refuse()
    assert len(house.server.refreshes) == 2
