"""A whole server on a port of 127.0.0.1 to which clients sign in, with the person who lets them in and a clock that
tests move."""

import contextlib
import json
import time
from collections.abc import Generator, Sequence
from typing import Any

import httpx
import pytest
from oauth_clients.person import Person
from web.site import Site

from tokonoma.app import App
from tokonoma.app import oauth as app_oauth
from tokonoma.auth.oauth.fetch import DocumentFetcher
from tokonoma.auth.oauth.grants import StoredGrant, list_grants, revoke_grant
from tokonoma.core import clock

HOUR = 3_600
DOCUMENT_URL = "https://client.example/oauth/metadata.json"
MEMO = "The kettle is in the alcove."


class MovedClock:
    """The server's clock, some seconds ahead of that of the machine."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._ahead = 0
        monkeypatch.setattr(clock, "_last", (0, 0))  # afterwards the time of before the test holds again
        monkeypatch.setattr(clock, "read_nanoseconds", lambda: time.time_ns() + self._ahead)

    def advance(self, seconds: int) -> None:
        self._ahead += seconds * 1_000_000_000


class OpenHouse:
    """`url` of the MCP endpoint, and what a test does to it from behind."""

    def __init__(self, site: Site, origin: str, moved: MovedClock) -> None:
        self.app, self.origin, self.url, self._clock = site.app, origin, f"{origin}/mcp", moved
        self.person = Person(origin)
        self.person.sign_in(f"{origin}/sign-in?link={site.create_link()}")
        self.app.dispatcher  # noqa: B018 - opened before requests of several clients would open it

    def list_grants(self) -> list[StoredGrant]:
        with self.app.database.reading() as rows:
            return list_grants(rows)

    def find_grant(self) -> StoredGrant:
        (found,) = self.list_grants()
        return found

    def count_refreshes(self) -> int:
        """Refresh tokens that were exchanged for the next one."""
        with self.app.database.reading() as rows:
            row = rows.row("select count(*) from oauth_refresh where used_at is not null")
        assert row is not None
        return row[0]

    def expire_tokens(self) -> None:
        """An hour goes by: no access token that was given out so far is good any more."""
        self._clock.advance(HOUR + 1)
        self.app.authenticator.forget()

    def revoke(self) -> None:
        """End every grant, as another process would."""
        for grant in self.list_grants():
            if grant.revoked_at is None:
                with self.app.database.writing() as statements:
                    revoke_grant(statements, grant.name)
        self.app.authenticator.forget()

    def find_challenge(self) -> str:
        """What the endpoint says to a caller without a token."""
        answer = httpx.post(self.url, json={}, headers={"accept": "application/json, text/event-stream"})
        assert answer.status_code == 401
        return answer.headers["www-authenticate"]


@contextlib.contextmanager
def open_house(app: App, moved: MovedClock) -> Generator[OpenHouse]:
    site = Site(app)
    with site.serve() as origin:
        house = OpenHouse(site, origin, moved)
        try:
            yield house
        finally:
            house.person.close()


def publish_documents(monkeypatch: pytest.MonkeyPatch, documents: dict[str, dict[str, Any]]) -> None:
    """Instead of the internet: these documents at their URLs, and no other host. The checks of a fetch stay."""

    def resolve(host: str, port: int) -> Sequence[str]:
        if any(f"//{host}/" in url for url in documents):
            return ["93.184.216.34"]
        raise OSError("there is no such name")

    def answer(request: httpx.Request) -> httpx.Response:
        url = f"https://{request.headers['host']}{request.url.path}"
        return httpx.Response(200, stream=httpx.ByteStream(json.dumps(documents[url]).encode()))

    fetcher = DocumentFetcher(resolve, lambda: httpx.MockTransport(answer))
    monkeypatch.setattr(app_oauth, "DocumentFetcher", lambda: fetcher)
