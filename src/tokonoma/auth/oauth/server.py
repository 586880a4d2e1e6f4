"""The authorization server: each function is one request of a client, and one transaction. Knows nothing of HTTP."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from tokonoma.auth.oauth.authorize import ShownError, build_code_location, check_authorization
from tokonoma.auth.oauth.clients import authenticate_client, find_client, register_client
from tokonoma.auth.oauth.documents import ClientStore, DocumentClients, is_document_id, was_fetched
from tokonoma.auth.oauth.errors import OAuthError, build_limit_error
from tokonoma.auth.oauth.exchange import TokenExchange, TokenRequest, TokenRules
from tokonoma.auth.oauth.metadata import build_server_metadata
from tokonoma.auth.oauth.model import AuthorizationRequest, ClientRequest
from tokonoma.auth.oauth.signing import SigningKeys
from tokonoma.core.call import Quota
from tokonoma.core.desk import Rows, Statements
from tokonoma.core.reach import Reach

TakeQuota = Callable[[str], Quota]

_NEEDED = {"authorization_code": "code", "refresh_token": "refresh_token"}


@dataclass(frozen=True, slots=True)
class OAuthRules:
    """`documents`: on, off, or auto, which announces them once one could be fetched."""

    tokens: TokenRules
    registration: bool = True
    documents: str = "auto"


@dataclass(frozen=True, slots=True)
class OAuthLimits:
    """How often each address may ask."""

    register: TakeQuota
    token: TakeQuota


class AuthorizationServer:
    """`write_as`: id of a person → a transaction that the journal holds as that person's."""

    def __init__(
        self,
        store: ClientStore,
        write_as: Callable[[str], AbstractContextManager[Statements]],
        rules: OAuthRules,
        keys: SigningKeys,
        documents: DocumentClients,
        limits: OAuthLimits,
    ) -> None:
        self._store, self._write_as, self._rules, self._keys = store, write_as, rules, keys
        self._documents, self._limits = documents, limits

    def describe(self, origin: str) -> dict[str, Any]:
        """The metadata of RFC 8414."""
        documents = self._rules.documents == "on"
        if self._rules.documents == "auto":
            with self._store.reading() as rows:
                documents = was_fetched(rows)
        return build_server_metadata(origin, registration=self._rules.registration, documents=documents)

    def list_keys(self) -> list[dict[str, Any]]:
        with self._store.reading() as rows:
            return self._keys.list_public(rows)

    def register(self, metadata: object, remote: str | None) -> dict[str, Any]:
        if not self._rules.registration:
            raise OAuthError("access_denied", "Clients cannot register themselves here", 403)
        _take(self._limits.register, "register", remote)
        with self._store.writing() as statements:
            return register_client(statements, metadata)

    def check_authorization(self, pairs: list[tuple[str, str]], origin: str) -> AuthorizationRequest:
        """May fetch the metadata of the client from its host first."""
        named = [value for name, value in pairs if name == "client_id"]
        if len(named) == 1 and is_document_id(named[0]):
            if self._rules.documents == "off":
                raise ShownError("This server does not accept applications by the address of their metadata.")
            self._documents.update(named[0])
        with self._store.reading() as rows:
            return check_authorization(rows, pairs, origin, find_client)

    def build_code_location(self, request: AuthorizationRequest, person_id: str, reach: Reach, origin: str) -> str:
        with self._write_as(person_id) as statements:
            return build_code_location(statements, request, person_id, reach, origin)

    def exchange(self, request: ClientRequest) -> dict[str, Any]:
        """Tokens for a code, or for a refresh token."""
        _take(self._limits.token, "token", request.remote)
        grant_type = request.form.get("grant_type", "")
        needed = _NEEDED.get(grant_type)
        if needed is None:
            error = "unsupported_grant_type" if grant_type else "invalid_request"
            raise OAuthError(error, "grant_type must be authorization_code or refresh_token")
        if not request.form.get(needed):
            raise OAuthError("invalid_request", f"{needed} is missing")
        with self._store.writing() as statements:
            known = _identify(statements, request)
            exchange = TokenExchange(statements, self._keys.use_current(statements), self._rules.tokens)
            answer = exchange.exchange_code(known) if needed == "code" else exchange.refresh(known)
        if isinstance(answer, OAuthError):  # raised after the commit: what was revoked stays revoked
            raise answer
        return answer

    def revoke(self, request: ClientRequest) -> None:
        _take(self._limits.token, "token", request.remote)
        if not request.form.get("token"):
            raise OAuthError("invalid_request", "token is missing")
        with self._store.writing() as statements:
            known = _identify(statements, request)
            TokenExchange(statements, self._keys.use_current(statements), self._rules.tokens).revoke(known)


def _identify(rows: Rows, request: ClientRequest) -> TokenRequest:
    client = authenticate_client(rows, request.form, request.authorization)
    return TokenRequest(client, request.form, request.origin, request.remote)


def _take(take: TakeQuota, what: str, remote: str | None) -> None:
    quota = take(f"oauth.{what}:{remote or 'local'}")
    if not quota.allowed:
        raise build_limit_error("Too many requests from this address", quota.wait)
