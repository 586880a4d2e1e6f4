"""Start a program and use it as an MCP client does: initialize, list the tools, save a memo, find it again.

    python talk.py PROGRAM [ARGUMENT …]

Prints what was seen as JSON. Standard library only: it also runs inside bare environments.
"""

import json
import subprocess
import sys
from typing import Any

TEXT = "The spare key lies in the kitchen drawer."


class Conversation:
    """One client and one server, over standard input and output."""

    def __init__(self, words: list[str]) -> None:
        self._server = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._count = 0

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        self._count += 1
        self._send({"jsonrpc": "2.0", "id": self._count, "method": method, "params": params})
        assert self._server.stdout is not None
        for line in self._server.stdout:
            message = json.loads(line)
            if message.get("id") == self._count:
                if "error" in message:
                    raise SystemExit(f"{method}: {message['error']}")
                return message["result"]
        raise SystemExit(f"{method}: the program ended with {self._server.wait()} and no answer")

    def notify(self, method: str) -> None:
        self._send({"jsonrpc": "2.0", "method": method})

    def end(self) -> int:
        assert self._server.stdin is not None
        self._server.stdin.close()
        return self._server.wait()

    def _send(self, message: dict[str, Any]) -> None:
        assert self._server.stdin is not None
        try:
            self._server.stdin.write(json.dumps(message) + "\n")
            self._server.stdin.flush()
        except BrokenPipeError:
            raise SystemExit(f"the program ended with {self._server.wait()}") from None


def talk(words: list[str]) -> dict[str, Any]:
    """What the server is, which tools it lists, and what it finds."""
    talking = Conversation(words)
    client = {"name": "dist", "version": "1"}
    started = talking.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
    talking.notify("notifications/initialized")
    tools = talking.ask("tools/list", {})["tools"]
    saving = {"module": "memory", "tool_name": "save", "params": {"namespace": "home", "content": TEXT}}
    saved = talking.ask("tools/call", {"name": "call", "arguments": saving})
    found = talking.ask("tools/call", {"name": "search", "arguments": {"query": "合鍵はどこ？", "k": 1}})
    if saved.get("isError") or found.get("isError"):
        raise SystemExit(f"{saved}\n{found}")
    code = talking.end()
    hits = found["structuredContent"]["results"]
    return {
        "server": started["serverInfo"],
        "tools": [{"name": each["name"], "description": each["description"]} for each in tools],
        "found": bool(hits) and TEXT.split(".")[0] in json.dumps(hits[0], ensure_ascii=False),
        "code": code,
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(talk(sys.argv[1:]), ensure_ascii=False) + "\n")
