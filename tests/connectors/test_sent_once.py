"""Whatever goes wrong on the way, a service is never made to do twice what was asked once."""

import os
import subprocess
import sys
from collections import Counter
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
from conftest import SOAK
from connectors.connected_house import connect_standin
from connectors.standins import Standin, answer, drop, half_body, hang, make_error, make_limit, proceed, start_standin
from connectors.standins.faults import Fault
from services.test_client import submit

from tokonoma.app import App
from tokonoma.core.call import Call, Caller

pytestmark = pytest.mark.migrated

soak = [pytest.mark.soak, pytest.mark.skipif(not SOAK, reason="the full count: make soak")]
REPO = {"owner": "mio", "repo": "garden"}


def choose_fault(state: Any, chance: Random) -> Fault:
    handled, status = chance.random() < 0.5, chance.choice([400, 401, 403, 404, 408, 422, 425, 500, 502, 503, 504])
    headers = chance.choice([{}, {"Retry-After": "1"}, {"Retry-After": "soon"}])
    return chance.choice(
        [
            proceed(), drop(handled), half_body(), hang(handled), make_error(state, status),
            answer(status, "<h1>Bad</h1>", headers), answer(429, {"message": "slow"}, headers),
            make_limit(state, 1), make_limit(state, 1, "primary"), answer(200, "{broken"), answer(201, None),
        ]
    )  # fmt: skip


def make_issue(house: Any, standin: Standin, title: str) -> Any:
    """The value or the error of the call. One that gets no answer is ended, as by its time limit."""
    call = Call("github", "create_issue", {**REPO, "title": title, "account": "github"}, Caller("cli"))
    noted = standin._note

    def note(request: Any, reply: Any, fault: str, oauth: bool) -> None:
        noted(request, reply, fault, oauth)
        if fault == "hang":
            call.cancel_token.cancel("timeout")

    standin._note = note
    try:
        return submit(house, call)()
    finally:
        standin._note = noted


@pytest.mark.parametrize("rounds", [60, pytest.param(1000, marks=soak)], ids=["quick", "full"])
def test_a_write_is_never_taken_twice_whatever_goes_wrong(house, rounds):
    chance, standin = Random(rounds), house.standins["github"]
    outcomes: dict[str, Any] = {}
    for number in range(rounds):
        house.begin("github")
        standin.faults.script([choose_fault(standin.state, chance) for _ in range(chance.randint(1, 4))])
        title = f"round {rounds} {number}"
        outcomes[title] = make_issue(house, standin, title)
    made = Counter(row["title"] for row in standin.state.repositories[0].issues.values())
    assert [title for title in outcomes if made[title] > 1] == []
    answered = [title for title, outcome in outcomes.items() if isinstance(outcome, dict) and "number" in outcome]
    assert [title for title in answered if not made[title]] == []
    unsure = {title: outcome for title, outcome in outcomes.items() if made[title] and not isinstance(outcome, dict)}
    assert [title for title, error in unsure.items() if "may have" not in error.message] == []
    assert min(len(answered), len(unsure)) > rounds / 20


# Several processes


@pytest.fixture
def database_url(request) -> str:
    """On PostgreSQL it has its tables already."""
    return request.getfixturevalue(f"{'migrated_' * (request.param == 'postgres')}{request.param}_at")


@contextmanager
def run_process(home: Path, url: str, service: str, tool: str):
    here = Path(__file__).parent
    words = [sys.executable, str(here / "asking.py"), str(home), url, service, tool]
    pipe: Any = subprocess.PIPE
    environ = {**os.environ, "PYTHONPATH": str(here.parent)}
    with subprocess.Popen(words, env=environ, stdin=pipe, stdout=pipe, text=True) as process:
        yield process
        process.stdin.close()


@pytest.mark.parametrize(
    ("service", "tool", "database_url"),
    [
        ("github", "get_me", "sqlite"),
        ("jira", "get_myself", "postgres"),
        pytest.param("github", "get_me", "postgres", marks=soak),
        pytest.param("jira", "get_myself", "sqlite", marks=soak),
    ],
    indirect=["database_url"],
)
def test_two_processes_with_50_calls_at_the_end_of_a_token_renew_it_once(tmp_path, database_url, service, tool):
    flags = {"home": str(tmp_path / "home"), "database_url": database_url, "durable": False, "embed_provider": "none"}
    with ExitStack() as opened:
        standin, app = opened.enter_context(start_standin(service)), App(flags, {})
        opened.callback(app.close)
        connect_standin(app, standin, left=-1)
        standin.oauth.advance(standin.oauth.expires_in + 1)
        words = tmp_path / "home", database_url, service, tool
        processes = [opened.enter_context(run_process(*words)) for _ in range(2)]
        assert [process.stdout.readline() for process in processes] == ["ready\n"] * 2
        for process in processes:
            process.stdin.write("25\n")
            process.stdin.flush()
        assert [process.stdout.readline() for process in processes] == ["ok\n"] * 2
        assert (standin.oauth.refreshes, len(standin.token_requests)) == (1, 1)
        assert [seen.status for seen in standin.requests] == [200] * 50
        assert len({seen.token_end for seen in standin.requests}) == 1
