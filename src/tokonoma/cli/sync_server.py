"""The tools of another Tokonoma server over HTTP, with an API key."""

import ipaddress
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import orjson

from tokonoma.core.errors import Denied, Invalid, Unavailable

_SECONDS = 600.0
_MOST_BYTES = 64 * 1024 * 1024


class SyncServer:
    """`url` is that of the server, with or without `/mcp`. The key is sent over TLS, or to this machine only."""

    def __init__(self, url: str, key: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
            raise Invalid("Write the URL of the server like https://host.example or http://127.0.0.1:8722.")
        if parts.scheme == "http" and not _is_this_machine(parts.hostname):
            raise Invalid(
                "The key and all records would travel unencrypted. Use https://, or a tunnel to this machine."
            )
        path = parts.path.rstrip("/")
        path = path if path.endswith("/mcp") else f"{path}/mcp"
        self._url, self._key = urlunsplit((parts.scheme, parts.netloc, path, "", "")), key
        # A proxy of the environment, or a redirect, would be shown the key.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirect())

    def call(self, tool: str, params: Mapping[str, Any]) -> Any:
        """The value of a tool of the module system there."""
        asked = {"module": "system", "tool_name": tool, "params": dict(params)}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "call", "arguments": asked}}
        answer = self._post(orjson.dumps(message))
        if "error" in answer:
            raise Unavailable(f"The server there answers: {str(answer['error'].get('message'))[:500]}", reason="server")
        result = answer["result"]
        value = orjson.loads(result["content"][0]["text"]) if result.get("content") else result["structuredContent"]
        if result.get("isError"):
            raise _to_refusal(value.get("error", {}))
        return value

    def _post(self, body: bytes) -> dict[str, Any]:
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(self._url, body, headers)  # noqa: S310 - the scheme was checked
        try:
            with self._opener.open(request, timeout=_SECONDS) as response:
                kind, text = response.headers.get_content_type(), response.read(_MOST_BYTES)
        except urllib.error.HTTPError as error:
            if error.code in (401, 403):
                raise Denied("The server there refuses this key.", reason="key") from None
            raise Unavailable(f"The server there answers with the status {error.code}.", reason="server") from None
        except (OSError, ValueError):
            raise Unavailable(f"{self._url} does not answer. Check the address.", reason="server") from None
        try:
            return _read_events(text) if kind == "text/event-stream" else orjson.loads(text)
        except (orjson.JSONDecodeError, StopIteration):
            raise Unavailable(f"{self._url} is not a server of Tokonoma.", reason="server") from None


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> None:
        return None


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _read_events(text: bytes) -> dict[str, Any]:
    events = (orjson.loads(line[6:]) for line in text.splitlines() if line.startswith(b"data: "))
    return next(event for event in events if "id" in event)


def _to_refusal(error: Mapping[str, Any]) -> Exception:
    message = str(error.get("message", ""))[:500]
    if error.get("code") in ("NOT_FOUND", "UNKNOWN_TOOL") or "sync_" in message:
        return Denied(
            "This key may not sync. Make one there with `tokonoma keys create NAME --sync`."
            f" The server says: {message}",
            reason="key",
        )
    return Unavailable(f"The server there answers: {message}", reason="server")
