"""The authorization server of this process: the settings, the keyring and the limits that it works with."""

from functools import partial
from typing import TYPE_CHECKING

from tokonoma.app.keyring import open_keyring
from tokonoma.auth.oauth.authorize import build_denied_location
from tokonoma.auth.oauth.documents import DocumentClients
from tokonoma.auth.oauth.exchange import TokenRules
from tokonoma.auth.oauth.fetch import DocumentFetcher
from tokonoma.auth.oauth.server import AuthorizationServer, OAuthLimits, OAuthRules
from tokonoma.auth.oauth.signing import SealFunctions, SigningKeys
from tokonoma.auth.people import OWNER_ID
from tokonoma.auth.rate_limit import RateLimiter
from tokonoma.core.call import OWNER, Call, Caller, Principal
from tokonoma.core.errors import Missing
from tokonoma.core.ids import uuid7
from tokonoma.keyring.data_keys import Keyring
from tokonoma.keyring.seal import SecretPlace
from tokonoma.server.web.parts import OAuthParts

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from tokonoma.app import App
    from tokonoma.core.desk import Statements

REGISTRATIONS = 20  # an hour, for one address
TOKEN_REQUESTS = 600  # a minute, for one address: that of a service in the cloud is shared by many of its users
FETCHES = 60  # an hour, of clients' metadata


def build_oauth_parts(app: "App", fetcher: DocumentFetcher | None = None) -> OAuthParts:
    server = open_authorization_server(app, fetcher or DocumentFetcher())
    return OAuthParts(
        is_offered=app.authenticator.offers_oauth,
        check_authorization=server.check_authorization,
        build_code_location=server.build_code_location,
        build_denied_location=build_denied_location,
        describe=server.describe,
        list_keys=server.list_keys,
        register=server.register,
        exchange=server.exchange,
        revoke=server.revoke,
    )


def open_authorization_server(app: "App", fetcher: DocumentFetcher) -> AuthorizationServer:
    settings, database = app.settings, app.database
    tokens = TokenRules(
        access_seconds=settings.get_int("access_minutes") * 60,
        refresh_seconds=settings.get_int("refresh_days") * 86_400,
        reuse_seconds=settings.get_int("reuse_minutes") * 60,
    )
    rules = OAuthRules(tokens, settings.get_flag("oauth_registration"), settings.get_text("oauth_documents"))
    keys = SigningKeys(build_seal_functions(open_keyring(app)), tokens.access_seconds)
    fetches = RateLimiter(database.writing, FETCHES, 3600.0)
    documents = DocumentClients(database, fetcher.fetch, lambda: fetches.take("oauth.fetch").allowed)
    limits = OAuthLimits(
        register=RateLimiter(database.writing, REGISTRATIONS, 3600.0).take,
        token=RateLimiter(database.writing, TOKEN_REQUESTS, 60.0).take,
    )
    return AuthorizationServer(database, partial(_write_consent, app), rules, keys, documents, limits)


def _write_consent(app: "App", person_id: str) -> "AbstractContextManager[Statements]":
    """A transaction for a consent: the journal says who has given it."""
    with app.database.reading() as rows:
        row = rows.row("select name from person where id = :id and revoked_at is null", id=person_id)
    if row is None:
        raise Missing("There is no such person.", reason="person")
    principal = OWNER if person_id == OWNER_ID else Principal(f"person:{row[0]}", "web", person=person_id)
    caller = Caller("web", principal=principal)
    return app.journal.write(Call("admin", "clients.allow", {}, caller, request_id=uuid7(), identified=principal))


def build_seal_functions(keyring: Keyring) -> SealFunctions:
    """How the keyring seals the key that signs tokens."""

    def place(kid: str) -> SecretPlace:
        return SecretPlace("oauth", kid, "signing_key", "the key that signs tokens")

    return SealFunctions(
        seal=lambda statements, kid, secret: keyring.seal(statements, place(kid), secret),
        open=lambda rows, kid, key_id, sealed: keyring.open(rows, place(kid), key_id, sealed),
    )
