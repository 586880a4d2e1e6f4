"""A provider on this machine: consent, tokens, whose token it is, revocation. It checks what a real one checks."""

import base64
import hashlib
import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

CLIENT = ("client-1", "client-secret-canary-ü&=".encode().hex())
WHOAMI = {
    "/user": {"login": "ada"},
    "/v1/users/me": {"bot": {"workspace_name": "ada"}},
    "/rest/api/3/myself": {"displayName": "ada"},
    "/wiki/rest/api/user/current": {"displayName": "ada"},
    "/v1/organizations": [{"name": "ada"}],
    "/users/me/calendarList/primary": {"id": "ada"},
    "/me": {"userPrincipalName": "ada"},
}
SITES = [
    {"id": "cloud-1", "name": "acme", "url": "https://acme.atlassian.net"},
    {"id": "cloud-2", "name": "beta", "url": "https://beta.atlassian.net"},
    {"id": "cloud-1", "name": "acme", "url": "https://acme.atlassian.net"},
]


@dataclass
class ProviderServer:
    url: str = ""
    tokens: dict[str, str] = field(default_factory=dict[str, str])  # token → whose it is
    codes: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    asked: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list[Any])
    missing: set[str] = field(default_factory=set[str])  # paths that are not there
    sites: list[dict[str, str]] = field(default_factory=lambda: SITES[:1])
    refuses_consent: bool = False
    expires_in: int | None = 3600
    refreshes: int = 0

    def answer(self, method: str, target: str, headers: dict[str, str], body: bytes) -> tuple[int, Any]:
        self.asked.append((method, target, headers, body))
        path = urlsplit(target).path
        if path in self.missing:
            return 404, {"message": "Not Found"}
        if path == "/authorize":
            return 302, self._consent(dict(parse_qsl(urlsplit(target).query)))
        if path == "/token":
            return self._give_tokens(headers, body)
        if path in ("/revoke", f"/applications/{CLIENT[0]}/token"):
            return self._revoke(method, headers, body)
        token = self._read_token(headers)
        if token not in self.tokens:
            # As careless as a service can be: it repeats what it was sent.
            return 401, {
                "message": f"Bad credentials: {token}\x1b[2J",
                "error": {"message": f"Bad credentials: {token}"},
            }
        if path == "/oauth/token/accessible-resources":
            return 200, self.sites
        who = WHOAMI.get(path)
        if who is None:
            return 404, {"message": "Not Found"}
        return 200, json.loads(json.dumps(who).replace("ada", self.tokens[token]))

    def _read_token(self, headers: dict[str, str]) -> str:
        scheme, _, value = headers.get("authorization", "").partition(" ")
        return base64.b64decode(value).decode() if scheme == "Basic" else value

    def _consent(self, query: dict[str, str]) -> str:
        assert query["response_type"] == "code" and query["client_id"] == CLIENT[0], query
        told = {"state": query["state"]}
        if self.refuses_consent:
            told["error"] = "access_denied"
        else:
            told["code"] = f"code-canary-{len(self.codes)}"
            self.codes[told["code"]] = query
        return f"{query['redirect_uri']}?{urlencode(told)}"

    def _give_tokens(self, headers: dict[str, str], body: bytes) -> tuple[int, Any]:
        given = json.loads(body) if "json" in headers.get("content-type", "") else dict(parse_qsl(body.decode()))
        if not self._is_client(headers, given):
            return 401, {"error": "invalid_client"}
        if given["grant_type"] == "refresh_token":
            self.refreshes += 1
            if self.tokens.pop(given["refresh_token"], None) is None:
                return 400, {"error": "invalid_grant"}
            return self._issue()
        asked = self.codes.pop(given.get("code", ""), None)
        if asked is None or asked["redirect_uri"] != given.get("redirect_uri"):
            return 400, {"error": "invalid_grant"}
        challenge = asked.get("code_challenge")
        digest = hashlib.sha256(given.get("code_verifier", "").encode()).digest()
        if challenge is not None and base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != challenge:
            return 400, {"error": "invalid_grant"}
        return self._issue(asked.get("scope", ""))

    def _issue(self, scope: str = "") -> tuple[int, Any]:
        number = len(self.tokens)
        access, refresh = f"access-canary-{number}", f"refresh-canary-{number}"
        self.tokens |= {access: "ada", refresh: "ada"}
        lasts = {} if self.expires_in is None else {"expires_in": self.expires_in}
        return 200, {"access_token": access, "refresh_token": refresh, "scope": scope, **lasts}

    def _is_client(self, headers: dict[str, str], given: dict[str, str]) -> bool:
        scheme, _, value = headers.get("authorization", "").partition(" ")
        if scheme == "Basic":
            return tuple(map(unquote, base64.b64decode(value).decode().split(":", 1))) == CLIENT
        return (given.get("client_id"), given.get("client_secret")) == CLIENT

    def _revoke(self, method: str, headers: dict[str, str], body: bytes) -> tuple[int, Any]:
        given = json.loads(body) if "json" in headers.get("content-type", "") else dict(parse_qsl(body.decode()))
        token = next((given[name] for name in ("token", "access_token", "refresh_token") if given.get(name)), "")
        if self.tokens.pop(token, None) is None:
            return 400, {"message": f"no such token {token}"}
        return (204, None) if method == "DELETE" else (200, {})


@contextmanager
def start_provider() -> Generator[ProviderServer]:
    provider = ProviderServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = self.rfile.read(int(headers.get("content-length", 0)))
            status, value = provider.answer(self.command, self.path, headers, body)
            content = b"" if value is None or status == 302 else json.dumps(value).encode()
            self.send_response(status)
            if status == 302:
                self.send_header("Location", str(value))
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_DELETE = answer

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    provider.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
