"""A client of 2026-07-28 cancels by closing its connection: what had not started by then never runs."""

import json
import socket
import threading
from typing import Any

import pytest
from pipeline import slow
from server.hostile import modern
from server.web import headers_of, served

from tokonoma import catalogue
from tokonoma.app import App


@pytest.fixture
def app(tmp_path):
    module = catalogue.describe_module(slow.MODULE, "pipeline.slow:MODULE")
    (tmp_path / "plugins.json").write_bytes(catalogue.dump_catalogue([module]))
    slow.BEGUN.clear()
    slow.CANCELLED.clear()
    made = App({"home": str(tmp_path), "durable": False}, {})
    made.warm()
    yield made
    made.close()


def post_and_leave_after(app: App, message: Any, sign: bytes) -> None:
    """Send a batch, read until `sign` has come, close the connection, and wait for the end of the batch."""
    body = json.dumps(message).encode()
    ended = threading.Event()
    app.observers.append(lambda call, outcome, spent: ended.set() if call.tool == "batch" else None)
    with served(app.dispatcher) as (url, _):
        host, port = url.removeprefix("http://").split(":")
        headers = "".join(f"{name}: {value}\r\n" for name, value in headers_of(message).items())
        head = f"POST /mcp HTTP/1.1\r\nhost: {host}\r\n{headers}content-length: {len(body)}\r\n\r\n"
        with socket.create_connection((host, int(port))) as connection:
            connection.sendall(head.encode() + body)
            heard = b""
            while sign not in heard:
                part = connection.recv(65536)
                assert part, heard
                heard += part
        assert ended.wait(30)


def list_calls(app: App) -> list[tuple[str, str]]:
    app.pool.close(30)  # every call has ended
    app.journal.flush()
    with app.database.reading() as rows:
        found = rows.rows("select tool, code from journal where module in ('slow', 'gateway') order by at, seq")
    return [(tool, code) for tool, code in found]


def test_leaving_after_the_first_note_of_progress_stops_the_batch(app):
    steps = [
        {"id": "first", "module": "slow", "tool": "forever"},
        {"id": "second", "module": "slow", "tool": "note", "params": {"text": "x"}, "after": "first"},
        {"id": "beside", "module": "slow", "tool": "echo", "params": {"text": "y"}},
    ]
    arguments = {"jsonl": "\n".join(map(json.dumps, steps))}
    message = modern("tools/call", {"name": "batch", "arguments": arguments}, progressToken="p")
    post_and_leave_after(app, message, b"notifications/progress")
    calls = list_calls(app)
    assert ("forever", "unavailable.cancelled") in calls
    assert ("batch", "unavailable.cancelled") in calls
    assert "note" not in dict(calls)  # `second` never started
