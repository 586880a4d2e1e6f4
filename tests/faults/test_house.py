"""Whole processes on one SQLite file: writing together, and killed while they write."""

import json
import os
import random
import subprocess
import sys
import threading
from pathlib import Path

import httpx
import pytest
from talk import told_by

from tokonoma import catalogue
from tokonoma.app import App
from tokonoma.journal.verify import verify

HERE = Path(__file__).parent
SOAK = bool(os.environ.get("TOKONOMA_SOAK"))
BUMP = {"method": "tools/call", "params": {"name": "counter_bump", "arguments": {}}}
START = (
    '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",'
    '"capabilities":{},"clientInfo":{"name":"faults","version":"1"}}}'
)


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(HERE))
    source = "counter:MODULE"
    (tmp_path / "plugins.json").write_bytes(
        catalogue.dump_catalogue([catalogue.describe_module(catalogue.load_module(source), source)])
    )
    return tmp_path


def spawned(home: Path, *arguments: str) -> "subprocess.Popen[str]":
    environ = {**os.environ, "TOKONOMA_HOME": str(home), "PYTHONPATH": str(HERE), "TOKONOMA_LOG_LEVEL": "warning"}
    return subprocess.Popen(
        [sys.executable, "-m", "tokonoma", *arguments],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environ,
    )  # fmt: skip


def over_stdio(home: Path, times: int, errors: list[str]) -> None:
    process = spawned(home, "stdio")
    lines = [START, *(json.dumps({"jsonrpc": "2.0", "id": number + 1, **BUMP}) for number in range(times))]
    feeder = threading.Thread(target=fed, args=(process, "\n".join(lines) + "\n"))
    feeder.start()
    answers = [json.loads(process.stdout.readline()) for _ in lines]
    feeder.join()
    process.communicate(timeout=60)
    errors += [json.dumps(answer) for answer in answers if "error" in answer or answer["result"].get("isError")]
    if len(answers) != times + 1 or process.returncode:
        errors.append(f"{len(answers)} answers, exit {process.returncode}")


def over_http(url: str, times: int, errors: list[str]) -> None:
    headers = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25"}
    with httpx.Client(headers=headers, timeout=60) as client:
        for number in range(times):
            answer = told_by(client.post(url, json={"jsonrpc": "2.0", "id": number, **BUMP}))
            if "error" in answer or answer["result"].get("isError"):
                errors.append(json.dumps(answer))


def together(works) -> None:
    threads = [threading.Thread(target=work, args=arguments) for work, *arguments in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def state(home: Path):
    app = App({"home": str(home)}, {})
    with app.database.reading() as rows:
        count = rows.row("select number from tally where id = 1")
        said, kept = (
            verify(rows),
            rows.row("select count(*) from journal where tool = 'bump' and outcome = 'committed'"),
        )
    problems = app.database.find_problems()
    app.close()
    return count[0], kept[0], said.problems, problems


@pytest.mark.soak
def test_processes_and_a_server_on_one_file_lose_nothing(home):
    """3 × 1 500 read-modify-writes in a soak, a fiftieth of it otherwise; an HTTP server joins in."""
    times, errors = 1500 if SOAK else 30, []
    server = spawned(home, "serve", "--port", "0", "--log-level", "info")
    url = None
    for line in server.stderr:
        told = json.loads(line)
        if told["event"] == "serving":
            url = told["url"]
            break
    try:
        together([*[(over_stdio, home, times, errors)] * 3, (over_http, url, times // 3, errors)])
    finally:
        server.terminate()
        server.communicate(timeout=60)
    assert errors == []
    total = 3 * times + times // 3
    assert state(home) == (total, total, (), [])


@pytest.mark.soak
def test_no_acknowledged_write_is_lost_when_the_process_is_killed(home):
    """100 kills in a soak, 3 otherwise. What was acknowledged is there, and the journal's chain holds."""
    acknowledged, dice = 0, random.Random(7)
    for _ in range(100 if SOAK else 3):
        process = spawned(home, "stdio")
        process.stdin.write(START + "\n")
        lines = "".join(json.dumps({"jsonrpc": "2.0", "id": n + 1, **BUMP}) + "\n" for n in range(400))
        feeder = threading.Thread(target=fed, args=(process, lines))
        feeder.start()
        assert json.loads(process.stdout.readline())["id"] == 0
        for _ in range(dice.randrange(1, 120)):
            assert not json.loads(process.stdout.readline())["result"].get("isError")
            acknowledged += 1
        process.kill()
        rest = process.stdout.read().rpartition("\n")[0]  # answers that were already on their way
        acknowledged += len(rest.splitlines())
        feeder.join()
        process.communicate()
        count, kept, chain, problems = state(home)
        assert count >= acknowledged
        assert (count, chain, problems) == (kept, (), [])


def fed(process, lines: str) -> None:
    try:
        process.stdin.write(lines)
        process.stdin.flush()
    except OSError:
        return  # killed while it was being fed
