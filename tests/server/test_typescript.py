"""The official TypeScript clients, a full session in both eras over both transports."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conformance.node import NODE, packages
from server.fixture import TOOLS
from server.web import served

HERE = Path(__file__).parent


def session(*target: str):
    packages()
    done = subprocess.run([str(NODE), str(HERE / "session.mjs"), *target], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


@pytest.mark.parametrize("kind", ["stdio", "http"])
@pytest.mark.parametrize("era", ["handshake", "2026-07-28"])
def test_a_full_session(kind, era):
    if kind == "stdio":
        seen = session(era, "stdio", sys.executable, str(HERE / "program.py"))
    else:
        with served() as (url, _):
            seen = session(era, "http", f"{url}/mcp")
    if era == "handshake":
        assert seen["ping"] == {}
    else:
        assert seen["version"] == era
    # Over HTTP a client of the older era says who it is once, and nothing is kept of that.
    if era != "handshake" or kind == "stdio":
        assert seen["who"] == "typescript/1"
    assert seen["server"] == {"name": "workshop", "title": "The Workshop", "version": "1.2.3"}
    assert seen["instructions"] == "Call echo first."
    assert seen["tools"] == [tool["name"] for tool in TOOLS]
    assert (seen["resources"], seen["templates"], seen["prompts"]) == ([], [], [])
    assert (seen["echo"], seen["failed"], seen["unknown"]) == ({"text": "床の間"}, True, -32602)
    assert seen["steps"] == [0, 1, 2, 3]
    assert (seen["waited"], seen["left"]) == ("opened", "opened at last")
    assert [error for error in seen["errors"] if "AbortError" not in error] == []
