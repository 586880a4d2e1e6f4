"""A stand-in for the model behind Claude Code: it asks for one tool, then says what the tool has answered."""

import contextlib
import json
import threading
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class ScriptedModel:
    """`answers`: what the tool gave back, in the order of the calls."""

    def __init__(self, tool: str, arguments: dict[str, Any]) -> None:
        self.tool, self.arguments = tool, arguments
        self.answers: list[Any] = []
        self.url = ""

    def choose(self, request: dict[str, Any]) -> dict[str, Any]:
        """The next block of the conversation."""
        if self.tool not in [tool.get("name") for tool in request.get("tools", [])]:
            return {"type": "text", "text": "There is no such tool."}
        last = request["messages"][-1]["content"]
        results = [block for block in last if isinstance(block, dict) and block["type"] == "tool_result"]
        if not results:
            return {"type": "tool_use", "id": "toolu_1", "name": self.tool, "input": {}}
        self.answers += results
        return {"type": "text", "text": "Done."}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: ScriptedModel

    def do_HEAD(self) -> None:
        self._send(b"", "text/plain")

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if not self.path.startswith("/v1/messages") or "count_tokens" in self.path:
            self._send(b'{"input_tokens": 1}', "application/json")
            return
        block = self.model.choose(request)
        if request.get("stream"):
            events = "".join(
                f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in self._list_events(block)
            )
            self._send(events.encode(), "text/event-stream")
        else:
            self._send(json.dumps(_build_message([block], _find_reason(block))).encode(), "application/json")

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: what matters is in `answers`."""

    def _list_events(self, block: dict[str, Any]) -> list[dict[str, Any]]:
        if block["type"] == "tool_use":
            delta = {"type": "input_json_delta", "partial_json": json.dumps(self.model.arguments)}
            start = block
        else:
            delta, start = {"type": "text_delta", "text": block["text"]}, {"type": "text", "text": ""}
        stop = {"stop_reason": _find_reason(block), "stop_sequence": None}
        return [
            {"type": "message_start", "message": _build_message([], None)},
            {"type": "content_block_start", "index": 0, "content_block": start},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 1}},
            {"type": "message_stop"},
        ]

    def _send(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _find_reason(block: dict[str, Any]) -> str:
    return "tool_use" if block["type"] == "tool_use" else "end_turn"


def _build_message(content: list[dict[str, Any]], reason: str | None) -> dict[str, Any]:
    facts = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": content}
    usage = {"input_tokens": 1, "output_tokens": 1}
    return {**facts, "stop_reason": reason, "stop_sequence": None, "usage": usage}


@contextlib.contextmanager
def serve_model(tool: str, arguments: dict[str, Any]) -> Generator[ScriptedModel]:
    model = ScriptedModel(tool, arguments)
    handler = type("_ModelHandler", (_Handler,), {"model": model})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        model.url = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield model
        finally:
            server.shutdown()
            thread.join()
