"""An authorization server on a database, and a client that signs in to it."""

import base64
import hashlib
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

from tokonoma.app.oauth import build_seal_functions
from tokonoma.app.store import TABLES
from tokonoma.auth.oauth.documents import DocumentClients
from tokonoma.auth.oauth.exchange import TokenRules
from tokonoma.auth.oauth.model import ClientRequest
from tokonoma.auth.oauth.server import AuthorizationServer, OAuthLimits, OAuthRules
from tokonoma.auth.oauth.signing import SealFunctions, SigningKeys
from tokonoma.auth.reaches import to_columns
from tokonoma.core.call import Quota
from tokonoma.core.clock import now
from tokonoma.core.errors import Unavailable
from tokonoma.core.reach import UNLIMITED, Reach
from tokonoma.keyring.data_keys import Keyring
from tokonoma.keyring.source import HomeKey
from tokonoma.store.database import Database
from tokonoma.store.migrate import migrate

ORIGIN = "http://127.0.0.1:8722"
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
REDIRECT = "https://a.example/cb"
RULES = TokenRules(access_seconds=3600, refresh_seconds=60 * 86_400, reuse_seconds=1800)
ResultT = TypeVar("ResultT")


def take_any(name: str) -> Quota:
    return Quota(True, 1, 1, 0, 0)


def fetch_nothing(url: str) -> dict[str, Any]:
    raise Unavailable("There is no internet here.", reason="unreachable")


def migrate_all(database: Database) -> Database:
    for name in ("auth", "rate", "keyring"):
        migrate(database, name, TABLES[name], lambda reason: None)
    return database


def add_person(database: Database, person_id: str = "owner", reach: Reach = UNLIMITED) -> str:
    with database.writing() as statements:
        statements.run(
            """insert into person (id, name, root, start, modules, mask, extras, created_at)
            values (:id, :id, :root, :start, :modules, :mask, :extras, :at) on conflict (id) do nothing""",
            id=person_id,
            at=now(),
            **to_columns(reach),
        )
    return person_id


@dataclass
class OAuthHouse:
    """`server` as one process has it; `open_server` makes that of another process on the same database."""

    database: Database
    home: Path
    rules: OAuthRules = field(default_factory=lambda: OAuthRules(RULES))
    fetch: Callable[[str], dict[str, Any]] = fetch_nothing
    limits: OAuthLimits = field(default_factory=lambda: OAuthLimits(take_any, take_any))

    def __post_init__(self) -> None:
        migrate_all(self.database)
        add_person(self.database)
        self.server = self.open_server()

    def open_seal(self) -> SealFunctions:
        return build_seal_functions(Keyring(HomeKey(self.home)))

    def open_server(self) -> AuthorizationServer:
        keys = SigningKeys(self.open_seal(), self.rules.tokens.access_seconds)
        documents = DocumentClients(self.database, self.fetch)
        return AuthorizationServer(
            self.database, lambda person: self.database.writing(), self.rules, keys, documents, self.limits
        )

    def register(self, **changed: Any) -> dict[str, Any]:
        metadata = {"redirect_uris": [REDIRECT], "token_endpoint_auth_method": "none", "client_name": "Test Client"}
        return self.server.register({**metadata, **changed}, "127.0.0.1")

    def get_code(
        self, client_id: str, person: str = "owner", reach: Reach = UNLIMITED, origin: str = ORIGIN, **changed: Any
    ) -> str:
        pairs = {
            "response_type": "code",
            "client_id": client_id,
            "redirect_uri": REDIRECT,
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
            "scope": "mcp offline_access",
            **changed,
        }
        request = self.server.check_authorization(list(pairs.items()), origin)
        location = self.server.build_code_location(request, person, reach, origin)
        return parse_qs(urlsplit(location).query)["code"][0]

    def exchange(
        self, client_id: str, code: str, origin: str = ORIGIN, authorization: str = "", **changed: Any
    ) -> dict[str, Any]:
        form = {
            "grant_type": "authorization_code",
            "client_id": client_id,
            "code": code,
            "redirect_uri": REDIRECT,
            "code_verifier": VERIFIER,
            **changed,
        }
        sent = {name: value for name, value in form.items() if value is not None}
        return self.server.exchange(ClientRequest(sent, authorization, origin, "192.0.2.7"))

    def sign_in(self, client_id: str, **options: Any) -> dict[str, Any]:
        return self.exchange(client_id, self.get_code(client_id, **options))

    def refresh(self, client_id: str, token: str, origin: str = ORIGIN, **changed: Any) -> dict[str, Any]:
        form = {"grant_type": "refresh_token", "client_id": client_id, "refresh_token": token, **changed}
        return self.server.exchange(ClientRequest(form, "", origin, "192.0.2.8"))

    def revoke(self, client_id: str, token: str) -> None:
        self.server.revoke(ClientRequest({"client_id": client_id, "token": token}, "", ORIGIN, None))


def read_claims(token: str) -> dict[str, Any]:
    payload = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))


def run_together(count: int, work: Callable[[int], ResultT]) -> list[ResultT | Exception]:
    """What this many threads get that all begin at the same moment."""
    barrier, found = threading.Barrier(count), list[ResultT | Exception]()

    def run(number: int) -> None:
        barrier.wait()
        try:
            found.append(work(number))
        except Exception as error:
            found.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found
