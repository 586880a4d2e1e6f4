"""`start_standin("github")`: a running stand-in, what it was asked, its state, its faults and its OAuth issuer."""

import asyncio
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from threading import Condition
from typing import Any

from .faults import FaultScripts
from .oauth import OAuthIssuer
from .official import load_official
from .service import Service
from .wire import WireReply, WireRequest, WireServer

SERVICES = ("notion", "github", "jira", "confluence", "supabase", "google_calendar", "microsoft_todo")


@dataclass(frozen=True)
class Seen:
    """One request as it came, without its secrets, and the status that it was answered with (None: not answered)."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...]
    headers: Mapping[str, str]
    body: bytes
    status: int | None
    fault: str
    at_once: int  # how many were under way when it came, itself included

    @property
    def token_end(self) -> str:
        """The last six characters of its token: enough to tell tokens apart."""
        return self.headers.get("authorization", "")[-6:]


class Standin:
    def __init__(self, kind: type[Service], oauth: OAuthIssuer) -> None:
        self.service = kind.name
        self.oauth = oauth
        self.token = oauth.add_token(kind.token)
        self.faults = FaultScripts()
        self.requests: list[Seen] = []
        self.token_requests: list[Seen] = []
        self.errors: list[Exception] = []
        self._under_way = 0
        self._came = Condition()
        self._server = WireServer(self._answer)
        self.url = f"http://127.0.0.1:{self._server.port}"
        self.state: Any = kind(self.url, oauth, load_official(kind.name))

    @property
    def base_url(self) -> str:
        """What an account keeps as its `base_url`."""
        return self.url + self.state.prefix

    @property
    def authorize_url(self) -> str:
        return self.url + self.oauth.rules.authorize_path

    @property
    def token_url(self) -> str:
        return self.url + self.oauth.rules.token_path

    @property
    def details(self) -> dict[str, Any]:
        """What an account of this stand-in keeps beside its secrets."""
        urls = {"base_url": self.base_url, "authorize_url": self.authorize_url, "token_url": self.token_url}
        return {**urls, **self.state.details}

    @property
    def most_at_once(self) -> int:
        return max((seen.at_once for seen in self.requests), default=0)

    def wait_for_requests(self, count: int) -> None:
        """Returns when so many requests have come, answered or not."""
        with self._came:
            if not self._came.wait_for(lambda: len(self.requests) >= count, timeout=60):
                raise TimeoutError(f"{len(self.requests)} of {count} requests came")

    def release(self) -> None:
        """Answers the requests that `hold()` keeps."""
        self._server.call_soon(self.faults.open_gate)

    def close(self) -> None:
        self._server.close()
        self.state.close()

    async def _answer(self, request: WireRequest, writer: asyncio.StreamWriter) -> bool:
        oauth = self.oauth.handles(request.path)
        fault = self.faults.take(request.method, request.path, oauth)
        self._under_way += 1
        try:
            reply: WireReply | None = None
            if fault.kind == "answer":
                reply = fault.reply
            elif fault.handled or fault.kind in ("proceed", "hold"):
                reply = self._handle(request, oauth)
            self._note(request, reply, fault.kind, oauth)
            return await self.faults.play(fault, reply, writer)
        finally:
            self._under_way -= 1

    def _handle(self, request: WireRequest, oauth: bool) -> WireReply:
        try:
            return self.oauth.handle(request) if oauth else self.state.handle(request)
        except Exception as error:  # a defect of the stand-in: the test that met it must fail
            self.errors.append(error)
            return WireReply(500, b"The stand-in is broken")

    def _note(self, request: WireRequest, reply: WireReply | None, fault: str, oauth: bool) -> None:
        headers = dict(request.headers)
        if "authorization" in headers:
            scheme, _, token = headers["authorization"].partition(" ")
            headers["authorization"] = f"{scheme} …{token[-6:]}"
        body = b"" if oauth else request.body
        status = None if reply is None or fault in ("drop", "hang") else reply.status
        log = self.token_requests if oauth else self.requests
        seen = Seen(request.method, request.path, request.query, headers, body, status, fault, self._under_way)
        with self._came:
            log.append(seen)
            self._came.notify_all()


def load_service(name: str) -> type[Service]:
    return import_module(f".{name}", __package__).SERVICE


@contextmanager
def start_standin(service: str, oauth: OAuthIssuer | None = None) -> Generator[Standin]:
    """A stand-in on a free port of the loopback. With the `oauth` of another one, a consent there serves here too."""
    kind = load_service(service)
    standin = Standin(kind, oauth or OAuthIssuer(kind.oauth_rules))
    try:
        yield standin
    finally:
        standin.close()
    if standin.errors:
        raise standin.errors[0]
