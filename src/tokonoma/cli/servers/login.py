"""Signing in to a server at an address, where it wants a consent."""

import asyncio
from dataclasses import replace
from typing import Any

from tokonoma.app import App
from tokonoma.app.servers import ServerSecrets, look_at
from tokonoma.cli.connect.ask import read_secret
from tokonoma.cli.connect.consent import show_url
from tokonoma.cli.connect.receivers import open_receiver
from tokonoma.cli.output import print_note, stands_at_terminal
from tokonoma.services.credentials import AppCredentials
from tokonoma.services.discovery import AuthChallenge
from tokonoma.services.identity import open_http
from tokonoma.services.providers import MCP
from tokonoma.services.sign_in import DOCUMENT_PATH, SIGN_IN_SECONDS, ConsentAnswer, create_state
from tokonoma.services.token_endpoint import TokenSet
from tokonoma.upstream.inspect import Inspection
from tokonoma.upstream.login import LoginAttempt, begin_login, finish_login, probe
from tokonoma.upstream.servers import NewServer


def sign_in_to(
    app: App, new: NewServer, secrets: ServerSecrets, given: dict[str, Any]
) -> tuple[Inspection, ServerSecrets]:
    """What the server offers, and the secrets that open it: with the tokens of a consent, if it wants one."""

    async def ask() -> AuthChallenge | None:
        async with open_http() as http:
            return await probe(http, new.url, secrets.headers)

    challenge = asyncio.run(ask())
    if challenge is not None:
        secrets = _get_tokens(app, new, secrets, challenge, given)
    return look_at(app, new, secrets), secrets


def _get_tokens(
    app: App, new: NewServer, secrets: ServerSecrets, challenge: AuthChallenge, given: dict[str, Any]
) -> ServerSecrets:
    known = _read_client(given.get("client_id"))
    scopes, state = given.get("scope") or (), create_state()
    public = app.settings.get_text("public_url")
    # Others can read it only under a public name; with it, nothing has to be registered.
    document = public + DOCUMENT_PATH if public.startswith("https://") else ""

    async def begin(redirect_uri: str) -> LoginAttempt:
        async with open_http() as http:
            return await begin_login(http, new.url, challenge, redirect_uri, scopes, known, document, state)

    async def finish(attempt: LoginAttempt, answer: ConsentAnswer) -> TokenSet:
        async with open_http() as http:
            return await finish_login(http, attempt, answer)

    with open_receiver(app, MCP.name, state) as receiver:
        attempt = asyncio.run(begin(receiver.redirect_uri))
        print_note(f"{new.name} wants a consent, which {attempt.access.server.issuer} takes.")
        show_url(attempt.authorize_url, browser=not given.get("no_browser"))
        tokens = asyncio.run(finish(attempt, receiver.wait(SIGN_IN_SECONDS)))
    fields = {"access_token": tokens.access_token}
    if tokens.refresh_token:
        fields["refresh_token"] = tokens.refresh_token
    if attempt.client.app.client_secret:
        fields["client_secret"] = attempt.client.app.client_secret
    return replace(secrets, tokens=fields, details=attempt.describe(), expires_at=tokens.expires_at)


def _read_client(client_id: str | None) -> AppCredentials | None:
    if client_id is None:
        return None
    secret = read_secret("Client secret") if stands_at_terminal() else ""
    return AppCredentials(client_id, secret)
