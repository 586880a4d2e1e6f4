"""A whole server with its pages: asked in memory as a browser would, or over a port."""

import asyncio
import contextlib
import re
import threading
from collections.abc import Generator
from typing import Any
from urllib.parse import urlencode

import httpx
from starlette.routing import BaseRoute

from tokonoma.app import App
from tokonoma.app.pages import build_page_parts
from tokonoma.app.web import build_web_parts
from tokonoma.auth.oauth.clients import check_metadata, save_client
from tokonoma.auth.people import add_person, ensure_owner, find_person, set_password
from tokonoma.auth.sessions import create_ticket
from tokonoma.cli.serve import build_endpoint
from tokonoma.core.call import OWNER, Caller
from tokonoma.core.clock import now
from tokonoma.core.errors import Refusal
from tokonoma.core.reach import Reach
from tokonoma.journal.verify import list_recent
from tokonoma.server.http.run import HttpServer, listen
from tokonoma.server.web.pages import list_routes

CALLBACK = "http://127.0.0.1:3999/callback"
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


class Site:
    """`app` behind the HTTP application that `tokonoma serve` builds for it, and one browser with its cookies."""

    def __init__(self, app: App, origin: str = "http://127.0.0.1:8722") -> None:
        self.app, self.origin = app, origin
        self.endpoint = build_endpoint(app)
        self.cookies = httpx.Cookies()
        self.parts = build_page_parts(app)
        self.run_tool = self.parts.run_tool

    def ask(self, method: str, path: str, remote: str = "127.0.0.1", **options: Any) -> httpx.Response:
        async def call(scope: Any, receive: Any, send: Any) -> None:
            await self.endpoint({**scope, "client": (remote, 1)}, receive, send)

        async def go() -> httpx.Response:
            transport = httpx.ASGITransport(call)
            async with httpx.AsyncClient(transport=transport, base_url=self.origin, cookies=self.cookies) as client:
                response = await client.request(method, path, **options)
                self.cookies = client.cookies
                return response

        return asyncio.run(go())

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self.ask("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})

    def post(self, path: str, form: dict[str, Any], remote: str = "127.0.0.1", **headers: str) -> httpx.Response:
        """A form of a page of this site; `headers` replaces what a browser would send."""
        sent = {"origin": self.origin, "sec_fetch_site": "same-origin", **headers}
        named = {name.replace("_", "-"): value for name, value in sent.items() if value}
        return self.ask("POST", path, remote, data=form, headers=named)

    def call(self, module: str, tool: str, **params: Any) -> Any:
        """The value of a tool, called by the owner."""
        return self.parts.run_tool(Caller("web", principal=OWNER), module, tool, params)

    def call_unknown(self, module: str, tool: str) -> None:
        """A call that fails, and that the journal holds by the names that it was given."""
        with contextlib.suppress(Refusal):
            self.call(module, tool)

    def list_backups(self) -> list[str]:
        return [each.name for each in self.parts.system.list_backups()]

    def create_backup(self) -> None:
        self.parts.system.create_backup(Caller("web", principal=OWNER), True)

    def list_routes(self) -> list[BaseRoute]:
        return list_routes(build_web_parts(self.app))

    def create_link(self, person: str = "owner", path: str = "/admin/") -> str:
        with self.app.database.writing() as statements:
            ensure_owner(statements)
            return create_ticket(statements, find_person(statements, person).id, path)

    def sign_in(self, person: str = "owner") -> httpx.Response:
        return self.post("/sign-in", {"link": self.create_link(person)})

    def add_person(self, name: str, stored: bytes | None = None, reach: Reach | None = None) -> None:
        """`stored`: what `hash_password` has made."""
        with self.app.database.writing() as statements:
            person = add_person(statements, name, reach or Reach())
            set_password(statements, person, stored)

    def find_token(self, path: str = "/admin/") -> str:
        """What a form of this session carries."""
        found = re.search(r'name="token" value="([^"]+)"', self.get(path).text)
        assert found is not None
        return found[1]

    def add_client(self, name: str = "Claude Code", redirect_uri: str = CALLBACK, id: str = "client-1") -> None:
        """A client that has registered itself, or with a URL as its id one whose host has published it."""
        metadata = {"client_name": name, "redirect_uris": [redirect_uri], "token_endpoint_auth_method": "none"}
        kind, fetched_at = ("document", now()) if id.startswith("https:") else ("registered", None)
        with self.app.database.writing() as statements:
            save_client(statements, id, kind, check_metadata(metadata), fetched_at=fetched_at)

    def build_request(self, origin: str = "", **changed: str | None) -> str:
        """The path of a good request for access; `changed` replaces, and None leaves out."""
        origin = origin or self.origin
        values: dict[str, str | None] = {
            "response_type": "code",
            "client_id": "client-1",
            "redirect_uri": CALLBACK,
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
            "state": "st&te",
            "resource": f"{origin}/mcp",
            **changed,
        }
        return f"/authorize?{urlencode({name: value for name, value in values.items() if value is not None})}"

    def list_codes(self) -> list[Any]:
        with self.app.database.reading() as rows:
            return rows.rows("select person, root, start, modules, mask, extras from oauth_code order by hash")

    def read_journal(self) -> list[dict[str, Any]]:
        self.app.journal.flush()
        with self.app.database.reading() as rows:
            return list_recent(rows, None, 1_000, None)[0]

    @contextlib.contextmanager
    def serve(self) -> Generator[str]:
        """Listen on a free port of 127.0.0.1; the origin."""
        listener, started = listen("127.0.0.1", 0), threading.Event()
        running = HttpServer(self.endpoint, tls=None, on_started=started.set, grace=0.0, limits=None)
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]})
        thread.start()
        started.wait()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            running.should_exit = True
            thread.join()
