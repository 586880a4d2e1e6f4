"""An MCP server at an address that wants a consent, with its own authorization server. A person agrees at once."""

import base64
import hashlib
import json
import secrets
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

TOOL = {
    "name": "whoami",
    "description": "Who.",
    "inputSchema": {"type": "object"},
    "annotations": {"readOnlyHint": True},
}


class LockedServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), LockedHandler)
        self.origin = f"http://127.0.0.1:{self.server_address[1]}"
        self.access, self.refresh, self.challenge = "", "", ""
        self.refreshes, self.registered = 0, 0
        self.asked: list[dict[str, str]] = []  # of the token endpoint
        self.lock = threading.Lock()
        self.answers: dict[str, Any] = {}  # what metadata says instead
        self.issuer_told: str | None = self.origin
        self.refusal = ""  # what calls of tools are refused with, and a status of 403

    def issue(self) -> dict[str, Any]:
        self.access, self.refresh = secrets.token_hex(8), secrets.token_hex(8)
        return {"access_token": self.access, "refresh_token": self.refresh, "expires_in": 3600, "token_type": "Bearer"}


class LockedHandler(BaseHTTPRequestHandler):
    server: LockedServer  # type: ignore[assignment]

    def log_message(self, format: str, *args: object) -> None:
        pass

    def reply(self, status: int, value: Any, **headers: str) -> None:
        content = json.dumps(value).encode()
        self.send_response(status)
        for name, each in {"Content-Type": "application/json", "Content-Length": str(len(content)), **headers}.items():
            self.send_header(name.replace("_", "-"), each)
        self.end_headers()
        self.wfile.write(content)

    def do_GET(self) -> None:
        house, origin = self.server, self.server.origin
        parts = urlsplit(self.path)
        match parts.path:
            case "/.well-known/oauth-protected-resource/mcp":
                told = {"resource": f"{origin}/mcp", "authorization_servers": [origin], "scopes_supported": ["mcp"]}
                self.reply(200, {**told, **house.answers.get("resource", {})})
            case "/.well-known/oauth-authorization-server":
                self.reply(200, {
                    "issuer": origin, "authorization_endpoint": f"{origin}/authorize",
                    "token_endpoint": f"{origin}/token", "registration_endpoint": f"{origin}/register",
                    "code_challenge_methods_supported": ["S256"], "token_endpoint_auth_methods_supported": ["none"],
                    "authorization_response_iss_parameter_supported": True, **house.answers.get("server", {}),
                })  # fmt: skip
            case "/authorize":
                asked = {name: each[0] for name, each in parse_qs(parts.query).items()}
                house.challenge = asked["code_challenge"]
                back = {"code": "the-code", "state": asked["state"]}
                if house.issuer_told is not None:
                    back["iss"] = house.issuer_told
                self.reply(302, {}, Location=f"{asked['redirect_uri']}?{urlencode(back)}")
            case _:
                self.reply(404, {})

    def do_POST(self) -> None:
        house = self.server
        body = self.rfile.read(int(self.headers["Content-Length"]))
        match urlsplit(self.path).path:
            case "/register":
                house.registered += 1
                self.reply(201, {"client_id": "client-1", **json.loads(body)})
            case "/token":
                self.give_token({name: each[0] for name, each in parse_qs(body.decode()).items()})
            case "/mcp":
                self.answer(json.loads(body))
            case _:
                self.reply(404, {})

    def give_token(self, asked: dict[str, str]) -> None:
        house = self.server
        with house.lock:
            house.asked.append(asked)
            if asked["grant_type"] == "authorization_code":
                digest = base64.urlsafe_b64encode(hashlib.sha256(asked["code_verifier"].encode()).digest())
                good = asked["code"] == "the-code" and digest.rstrip(b"=").decode() == house.challenge
            else:
                house.refreshes += 1
                good = asked["refresh_token"] == house.refresh
            self.reply(200, house.issue()) if good else self.reply(400, {"error": "invalid_grant"})

    def answer(self, message: dict[str, Any]) -> None:
        house = self.server
        if not house.access or self.headers.get("Authorization") != f"Bearer {house.access}":
            place = f"{house.origin}/.well-known/oauth-protected-resource/mcp"
            self.reply(401, {}, WWW_Authenticate=f'Bearer resource_metadata="{place}", scope="mcp"')
            return
        if message["method"] == "tools/call" and house.refusal:
            self.reply(403, {}, WWW_Authenticate=house.refusal)
            return
        results: dict[str, Any] = {
            "server/discover": {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}},
            "tools/list": {"tools": [TOOL]},
            "tools/call": {"content": [{"type": "text", "text": "ada"}]},
        }
        self.reply(200, {"jsonrpc": "2.0", "id": message.get("id"), "result": results[message["method"]]})


@contextmanager
def start_locked() -> Generator[LockedServer]:
    server = LockedServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()
