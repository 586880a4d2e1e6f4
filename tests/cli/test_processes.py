"""The program as clients and people start it: processes of their own."""

import json
import signal
import socket
import subprocess
import urllib.request
from typing import Any

import pytest

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}


def lines(*messages: dict[str, Any]) -> str:
    return "".join(json.dumps(message) + "\n" for message in messages)


@pytest.mark.parametrize("words", [(), ("stdio",), ("stdio", "--direct", "system"), ("--log-level", "debug", "stdio")])
def test_a_pipe_is_spoken_to_in_mcp(spawned, words):
    ended = subprocess.run(**spawned(*words), input=lines(HELLO, LIST), check=False)
    assert ended.returncode == 0, ended.stderr
    first, second = map(json.loads, ended.stdout.splitlines())
    assert first["result"]["serverInfo"]["name"] == "tokonoma"
    names = [tool["name"] for tool in second["result"]["tools"]]
    assert names[:3] == ["get_module_schema", "call", "batch"]
    assert ("system_status" in names) is ("--direct" in words)


def test_a_call_over_stdio_is_in_the_journal_when_the_process_has_ended(spawned, value):
    call = {
        "method": "tools/call",
        "params": {"name": "call", "arguments": {"module": "system", "tool_name": "status"}},
    }
    with subprocess.Popen(**spawned("stdio"), stdin=subprocess.PIPE) as talking:
        assert talking.stdin is not None
        assert talking.stdout is not None
        talking.stdin.write(lines(HELLO, {"jsonrpc": "2.0", "id": 3, **call}))
        talking.stdin.flush()
        answer = next(told for told in map(json.loads, talking.stdout) if told["id"] == 3)
        talking.communicate()
    assert answer["result"]["structuredContent"]["version"]
    (entry,) = value("call", "system", "recent")["items"]
    assert (entry["tool"], entry["transport"]) == ("status", "stdio")


def test_a_wrong_setting_ends_stdio_with_a_sentence(spawned):
    ended = subprocess.run(**spawned("stdio", "--port", "many"), input="", check=False)
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert "port must be a whole number" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_nothing_but_the_catalogue_is_loaded_to_answer_a_list(spawned):
    """stdio answers before it imports click, pydantic, the store or the HTTP stack."""
    how = spawned("stdio")
    how["args"][1:1] = ["-X", "importtime"]
    with subprocess.Popen(**how, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(lines(HELLO))
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 1
        process.stdin.close()
        errors = process.stderr.read() if process.stderr else ""
    loaded = {line.rpartition("|")[2].strip() for line in errors.splitlines()}
    assert "tokonoma.server.stdio" in loaded
    heavy = {"apsw", "asyncio", "click", "importlib.metadata", "pydantic", "psycopg", "rich", "uvicorn", "numpy"}
    heavy.add("starlette")
    assert not loaded & heavy


@pytest.fixture
def server(spawned):
    """Starts `serve` on a free port; the address that it says it serves."""
    processes: list[subprocess.Popen[str]] = []

    def start(*words: str) -> tuple[subprocess.Popen[str], str]:
        process = subprocess.Popen(**spawned("serve", "--port", "0", *words))
        processes.append(process)
        assert process.stderr is not None
        for line in process.stderr:
            told = json.loads(line)
            if told["event"] == "serving":
                return process, told["url"]
        raise AssertionError("it ended before it served")

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def get(url: str, **headers: str) -> bytes:
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as answer:
        return answer.read()


def test_serve_answers_and_ends_when_told_to(server, value):
    process, url = server()
    base = url.removesuffix("/mcp")
    assert url.startswith("http://127.0.0.1:")
    assert json.loads(get(base + "/health")) == {"status": "ok"}
    assert json.loads(get(base + "/ready"))["ready"] is True
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "system_status", "arguments": {}}}
    request = urllib.request.Request(
        url,
        json.dumps(body).encode(),
        {"content-type": "application/json", "accept": "application/json, text/event-stream"},
    )
    with urllib.request.urlopen(request) as answer:
        assert json.load(answer)["result"]["structuredContent"]["version"]
    assert b'tokonoma_calls_total{module="system",outcome="ok",tool="status"} 1.0' in get(base + "/metrics")
    port = base.rpartition(":")[2]
    (finding,) = [each for each in value("doctor", "--json", "--port", port)["findings"] if each["name"] == "port"]
    assert "is used by a running tokonoma" in finding["says"]
    process.send_signal(signal.SIGTERM)
    process.communicate()
    assert process.returncode == 0
    (entry,) = value("call", "system", "recent")["items"]
    assert entry["transport"] == "http"


def test_a_port_that_is_taken_is_told(run):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = run("serve", "--port", str(taken.getsockname()[1]))
    assert result.exit_code == 1
    assert "already in use" in result.stderr


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_no_other_machine_is_let_in_while_nobody_needs_a_key(run, host):
    result = run("serve", "--host", host, "--port", "0")
    assert result.exit_code == 1
    assert "tokonoma keys create" in result.stderr
    assert "--require-key" in result.stderr


def test_with_keys_the_address_is_tried(run):
    # 192.0.2.1 is nobody's: the refusal is now the system's, so nothing is opened to the network.
    for words in (("--require-key",), ()):
        if not words:
            assert run("keys", "create", "one").exit_code == 0
        result = run("serve", "--host", "192.0.2.1", "--port", "0", *words)
        assert result.exit_code == 1
        assert "does not have that address" in result.stderr


def test_help_is_quick_to_load(spawned):
    """`--help` imports none of the commands, and nothing that they need."""
    how = spawned("--help")
    how["args"][1:1] = ["-X", "importtime"]
    ended = subprocess.run(**how, check=False)
    assert ended.returncode == 0
    assert "Commands:" in ended.stdout
    loaded = {line.rpartition("|")[2].strip() for line in ended.stderr.splitlines()}
    assert not loaded & {"tokonoma.app", "pydantic", "rich", "orjson", "apsw", "asyncio", "importlib.metadata"}
