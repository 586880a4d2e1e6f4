"""Clients whose id is the URL of their metadata: fetched once a day, and the last good copy while the host is away.

For a few known clients a copy is shipped, so that they can sign in to a server without a way to the internet. It is
used only as long as nothing was ever fetched, so it never adds to what the client publishes.
"""

import json
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache
from importlib import resources
from typing import Any, Protocol

from tokonoma.auth.oauth.clients import check_metadata, make_room, save_client
from tokonoma.auth.oauth.errors import OAuthError
from tokonoma.auth.oauth.fetch import check_document_url
from tokonoma.core.clock import now
from tokonoma.core.desk import Rows, Statements
from tokonoma.core.errors import Invalid, Unavailable
from tokonoma.core.log import log

_FRESH = 86_400_000  # milliseconds
_PAUSE = 60.0  # seconds in which a host that was away is not asked again
_MAX_AWAY = 1_000  # hosts that are remembered as away


class ClientStore(Protocol):
    """What of a database is needed here."""

    def reading(self) -> AbstractContextManager[Rows]: ...
    def writing(self) -> AbstractContextManager[Statements]: ...


class DocumentClients:
    """`fetch` returns the object at a URL, as `DocumentFetcher.fetch` does. `may_fetch` counts: strangers name the
    hosts, and must not use this server to flood one."""

    def __init__(
        self, store: ClientStore, fetch: Callable[[str], dict[str, Any]], may_fetch: Callable[[], bool] = lambda: True
    ) -> None:
        self._store, self._fetch, self._may_fetch = store, fetch, may_fetch
        self._away: dict[str, float] = {}  # URL → when it may be asked again, by `time.monotonic`
        self._lock = threading.Lock()

    def update(self, client_id: str) -> None:
        """Make sure that the store knows this client as well as possible. Never inside a transaction."""
        if not is_document_id(client_id) or self._is_fresh(client_id):
            return
        try:
            if self._is_away(client_id) or not self._may_fetch():
                raise Unavailable("Its host is not asked again so soon.", reason="away")
            document = check_document(client_id, self._fetch(client_id))
        except Unavailable as error:
            log("info", "oauth.document", client=client_id, reason=error.reason)
            self._note_away(client_id)
            self._use_copy(client_id)
        except Invalid as error:
            # What the client publishes now is not good, so an earlier copy is not either.
            log("info", "oauth.document", client=client_id, reason=error.reason)
            with self._store.writing() as statements:
                statements.run("update oauth_client set document = :none where id = :id", none=_NOTHING, id=client_id)
            self._note_away(client_id)
        else:
            self._save(client_id, "document", document, now())

    def _save(self, client_id: str, kind: str, document: dict[str, Any], fetched_at: int | None) -> None:
        with self._store.writing() as statements:
            if statements.row("select 1 from oauth_client where id = :id", id=client_id) is None:
                make_room(statements)
            save_client(statements, client_id, kind, document, fetched_at=fetched_at)

    def _use_copy(self, client_id: str) -> None:
        copy = read_known_clients().get(client_id)
        with self._store.reading() as rows:
            known = rows.row("select 1 from oauth_client where id = :id", id=client_id)
        if copy is not None and known is None:
            self._save(client_id, "known", copy, None)

    def _is_fresh(self, client_id: str) -> bool:
        with self._store.reading() as rows:
            row = rows.row("select fetched_at from oauth_client where id = :id", id=client_id)
        return row is not None and row[0] is not None and now() - row[0] < _FRESH

    def _is_away(self, client_id: str) -> bool:
        return time.monotonic() < self._away.get(client_id, 0.0)

    def _note_away(self, client_id: str) -> None:
        with self._lock:
            if len(self._away) >= _MAX_AWAY:
                self._away.clear()
            self._away[client_id] = time.monotonic() + _PAUSE


def is_document_id(client_id: str) -> bool:
    try:
        check_document_url(client_id)
    except Invalid:
        return False
    return True


def check_document(client_id: str, document: dict[str, Any]) -> dict[str, Any]:
    """What is kept of a fetched document; Invalid if it is not this client's, or asks for what is not possible."""
    if document.get("client_id") != client_id:
        raise Invalid("The metadata is that of another client.", reason="client_id")
    if "client_secret" in document or "client_secret_expires_at" in document:
        raise Invalid("A secret that everybody can read is none.", reason="client_secret")
    if document.get("token_endpoint_auth_method", "none") != "none":
        raise Invalid("A client that is known by its document has no secret.", reason="method")
    try:
        return check_metadata({"token_endpoint_auth_method": "none", **document})
    except OAuthError as error:
        raise Invalid(error.description, reason=error.error) from None


def was_fetched(rows: Rows) -> bool:
    """Whether a document could ever be fetched: this server has a way to the internet."""
    return rows.row("select 1 from oauth_client where kind = 'document' limit 1") is not None


@cache
def read_known_clients() -> dict[str, dict[str, Any]]:
    """The shipped copies, by client id."""
    text = resources.files("tokonoma.auth.oauth").joinpath("data/known_clients.json").read_text(encoding="utf-8")
    return {each["client_id"]: check_document(each["client_id"], each) for each in json.loads(text)["clients"]}


_NOTHING = json.dumps({"client_name": "", "redirect_uris": [], "token_endpoint_auth_method": "none"})
