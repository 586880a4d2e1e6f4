"""What the start of the server tells a person, and a log."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tokonoma.cli.install.clients import CLIENTS, Machine
from tokonoma.cli.install.found import FoundClient, find_clients
from tokonoma.cli.welcome import Welcome, format_welcome
from tokonoma.core import log as log_lines
from tokonoma.core.printable import measure_width

BOTH = [FoundClient(CLIENTS["cursor"], connected=True), FoundClient(CLIENTS["vscode"], connected=False)]
CONFIG = {"mcpServers": {"tokonoma": {"command": "tokonoma"}}}


@pytest.fixture
def machine(tmp_path) -> Machine:
    return Machine(tmp_path, tmp_path, "linux", {"PATH": str(tmp_path / "bin")})


def build_welcome(*found: FoundClient, access: str = "open") -> Welcome:
    return Welcome("~/data", "http://127.0.0.1:8722/mcp", access, "https://x/mcp", "tokonoma", "", found)


def test_the_lines_say_where_data_lies_and_what_to_do_next():
    assert format_welcome(build_welcome(*BOTH), "en")[1:] == [
        "  Data     ~/data",
        "  MCP      http://127.0.0.1:8722/mcp (callers on this machine need no key)",
        "  Pages    tokonoma open opens them in a browser",
        "  Clients  connected: Cursor",
        "           connect VS Code: tokonoma install vscode",
    ]
    assert format_welcome(build_welcome(), "en")[-1] == "  Clients  none found; tokonoma setup helps to connect one"


@pytest.mark.parametrize("access", ["open", "key", "oauth"])
def test_both_languages_tell_the_same(access):
    english, japanese = (format_welcome(build_welcome(*BOTH, access=access), each) for each in ("en", "ja"))
    assert len(english) == len(japanese)
    for command in ("tokonoma open", "tokonoma install vscode", "http://127.0.0.1:8722/mcp", "Cursor", "~/data"):
        assert command in "\n".join(english)
        assert command in "\n".join(japanese)
    starts = {
        measure_width(line[: line.index(says)]) for line, says in zip(japanese[1:3], ("~/data", "http"), strict=True)
    }
    assert len(starts) == 1


def test_a_client_is_found_by_its_folder_or_its_program(machine, tmp_path):
    assert find_clients(machine) == []
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".config" / "Code" / "User").mkdir(parents=True)
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    found = {each.client.name: each.connected for each in find_clients(machine)}
    assert found == {"claude-code": False, "cursor": False, "vscode": False}
    (tmp_path / ".cursor" / "mcp.json").write_text(json.dumps(CONFIG))
    (tmp_path / ".claude.json").write_text("not { json")
    found = {each.client.name: each.connected for each in find_clients(machine)}
    assert found == {"claude-code": False, "cursor": True, "vscode": False}


@pytest.mark.parametrize(("name", "shown"), [("json", '{"at": '), ("text", "")])
def test_a_log_line_is_json_or_text(monkeypatch, capsys, name, shown):
    monkeypatch.setattr(log_lines, "_format", name)
    log_lines.log("warning", "store.slow", seconds=3, why="a\x1b[1m\nb")
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(shown)
    assert "\x1b" not in line
    if name == "text":
        assert line[9:] == r"warning store.slow seconds=3 why=a\x1b[1m\nb"


def start_server(environ: dict[str, str | None], **streams: Any) -> "subprocess.Popen[Any]":
    variables = {name: value for name, value in {**os.environ, **environ}.items() if value}
    command = [sys.executable, "-m", "tokonoma", "serve", "--port", "0"]
    return subprocess.Popen(command, env=variables | {"LC_ALL": "C.UTF-8"}, **streams)


def test_a_first_start_at_a_terminal_is_calm(environ):
    pty = pytest.importorskip("pty", reason="a pseudo-terminal")
    ours, theirs = pty.openpty()
    server = start_server(environ, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    received = b""
    while b"Clients" not in received:
        received += os.read(ours, 65_536)
    server.send_signal(signal.SIGTERM)
    assert server.wait() == 0
    os.close(ours)
    lines = received.decode().splitlines()
    assert lines[0].startswith("Tokonoma ")
    assert len(lines) <= 9
    assert "{" not in received.decode()


def test_a_first_start_in_a_log_is_one_line_of_json(environ, tmp_path):
    file = Path(tmp_path / "log")
    with file.open("wb") as out:
        server = start_server(environ, stdin=subprocess.DEVNULL, stderr=out.fileno())
        while b'"serving"' not in file.read_bytes():
            assert server.poll() is None
        server.send_signal(signal.SIGTERM)
        assert server.wait() == 0
    events = [json.loads(line)["event"] for line in file.read_text().splitlines()]
    assert events == ["serving"]
