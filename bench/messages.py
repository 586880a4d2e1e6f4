"""The messages of both eras, as bytes. Every peer gets the same ones, but for the name of its echo."""

import json
from typing import Any

HANDSHAKE = "2025-11-25"
STATELESS = "2026-07-28"
ERAS = (HANDSHAKE, STATELESS)
TEXT = "The quick brown fox jumps over the lazy dog; いろはにほへと."

_META = "io.modelcontextprotocol/"
_CLIENT = {"name": "bench", "version": "1"}


def encode(message: dict[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode()


def request(number: int, method: str, params: dict[str, Any] | None = None) -> bytes:
    return encode({"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}})


INITIALIZE = request(1, "initialize", {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": _CLIENT})
INITIALIZED = encode({"jsonrpc": "2.0", "method": "notifications/initialized"})
LIST = request(2, "tools/list")


def tool_call(number: int, params: dict[str, Any], era: str = HANDSHAKE) -> bytes:
    """One `tools/call`; since 2026-07-28 every request says in `_meta` what the handshake used to say once."""
    if era == STATELESS:
        meta = {
            f"{_META}protocolVersion": STATELESS,
            f"{_META}clientInfo": _CLIENT,
            f"{_META}clientCapabilities": {},
        }
        params = {**params, "_meta": meta}
    return request(number, "tools/call", params)


def http_headers(port: int, era: str, method: str, name: str | None, session: str | None = None) -> dict[str, str]:
    headers = {
        "Host": f"127.0.0.1:{port}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": era,
    }
    if era == STATELESS:
        headers["Mcp-Method"] = method
        if name is not None:
            headers["Mcp-Name"] = name
    if session is not None:
        headers["Mcp-Session-Id"] = session
    return headers


def failure(answer: bytes, text: str) -> str | None:
    """Why this answer is not a good one; None when it is. The text must be in it: an echo that is lost counts."""
    try:
        message = json.loads(answer)
    except ValueError:
        return "not JSON"
    if "error" in message:
        return f"error {message['error'].get('code')}: {message['error'].get('message')}"
    result = message.get("result", {})
    if result.get("isError"):
        return "tool error: " + json.dumps(result.get("content"), ensure_ascii=False)[:400]
    return None if text in json.dumps(result, ensure_ascii=False) else "the text did not come back"
