"""`connect --oauth`: the owner's own app, the consent in a browser, and the tokens for it."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import click

from tokonoma.app import App
from tokonoma.app.accounts import draft_credentials, store_account
from tokonoma.app.keyring import open_keyring
from tokonoma.cli.connect.ask import ask_text, ask_whose, parse_site, read_secret
from tokonoma.cli.connect.options import ConnectOptions
from tokonoma.cli.connect.receivers import open_receiver
from tokonoma.cli.output import open_browser, print_line, print_note, stands_at_terminal
from tokonoma.core.errors import Invalid
from tokonoma.keyring.accounts import Account, NewAccount, list_accounts
from tokonoma.keyring.data_keys import read_snapshot
from tokonoma.services.credentials import AppCredentials, read_credentials
from tokonoma.services.identity import Site, list_sites, open_http
from tokonoma.services.providers import Provider
from tokonoma.services.sign_in import build_authorize_url, create_pkce, create_state, exchange_code, require_code
from tokonoma.services.token_endpoint import TokenSet

_URLS = ("base_url", "authorize_url", "token_url", "revoke_url")


def connect_by_consent(app: App, provider: Provider, options: ConnectOptions) -> Account:
    if options.account == options.app:
        raise Invalid(f"{options.app!r} is the name of the OAuth app: give the account another.", field="account")
    own = _find_app(app, provider, options)
    if own is None or options.client_id is not None:
        own = _store_app(app, provider, options, own)
    urls: dict[str, str] = {name: own.details[name] for name in _URLS if own.details.get(name)}
    urls.update(options.urls)
    tokens = _ask_consent(app, provider, own, urls, options)
    details: dict[str, Any] = {**urls, "app": own.name}
    scopes = tokens.scopes or options.list_scopes(provider)
    new = NewAccount(provider.name, options.account, options.namespace, "oauth", "", details, scopes, tokens.expires_at)
    secrets = {"access_token": tokens.access_token}
    if tokens.refresh_token:
        secrets["refresh_token"] = tokens.refresh_token
    if provider.sites_url:
        site = _choose_site(new, secrets, options.site)
        new = replace(
            new, details={**details, "cloud_id": site.cloud_id, "site": next(iter(_list_names(site)), site.name)}
        )
    who = ask_whose(draft_credentials(new, secrets), untested=options.untested)
    return store_account(app, replace(new, who=who), secrets)


def _find_app(app: App, provider: Provider, options: ConnectOptions) -> Account | None:
    """The nearest of this name that serves the namespace; Invalid if its client id is not the one that was given."""
    with app.database.reading() as rows:
        found = [
            each
            for each in list_accounts(rows, provider.name)
            if each.kind == "app" and each.name == options.app and each.serves(options.namespace)
        ]
    nearest = max(found, key=lambda each: len(each.namespace), default=None)
    if nearest is not None and options.client_id not in (None, nearest.details.get("client_id")):
        message = f"The {nearest.describe()} has another client id."
        raise Invalid(f"{message} Name the new app with --app, or disconnect that one first.", field="client_id")
    return nearest


def _store_app(app: App, provider: Provider, options: ConnectOptions, before: Account | None) -> Account:
    """Ask for it and keep it; with a client id that is known already, for a new secret."""
    port = app.settings.get_int("connect_port")
    place = app.settings.get_text("public_url") or f"http://localhost:{port or 'PORT'}"
    print_note(f"{provider.name} needs an OAuth app of your own, with the redirect URL {place}/services/callback.")
    if place.endswith("PORT"):
        print_note("If it takes a fixed port alone, choose one with --connect-port or the setting connect_port.")
    client_id = ask_text(options.client_id, "Client id", "--client-id")
    secret = read_secret("Client secret")
    details = {**(before.details if before else {}), "client_id": client_id, **options.urls}
    namespace = before.namespace if before else options.namespace
    new = NewAccount(provider.name, options.app, namespace, "app", "", details)
    return store_account(app, new, {"client_secret": secret})


def _ask_consent(
    app: App, provider: Provider, own: Account, urls: Mapping[str, str], options: ConnectOptions
) -> TokenSet:
    keyring = open_keyring(app)
    held = read_snapshot(app.database.reading, lambda rows: read_credentials(rows, keyring, own))
    credentials = AppCredentials(str(own.details["client_id"]), held.secrets["client_secret"])
    state, pkce = create_state(), create_pkce() if provider.pkce else None
    with open_receiver(app, provider.name, state) as receiver:
        url = build_authorize_url(
            urls.get("authorize_url") or provider.authorize_url,
            client_id=credentials.client_id,
            redirect_uri=receiver.redirect_uri,
            state=state,
            scopes=options.list_scopes(provider),
            challenge=pkce.challenge if pkce else "",
            extra=provider.authorize_extra,
        )
        show_url(url, browser=options.browser)
        code = require_code(receiver.wait(options.wait), state)

        async def exchange() -> TokenSet:
            async with open_http() as http:
                place = urls.get("token_url") or provider.token_url
                verifier = pkce.verifier if pkce else ""
                return await exchange_code(http, provider, place, credentials, code, receiver.redirect_uri, verifier)

        return asyncio.run(exchange())


def show_url(url: str, *, browser: bool) -> None:
    print_note("Open this address in a browser and agree:")
    print_line(url)
    if browser:
        open_browser(url)


def _choose_site(new: NewAccount, secrets: Mapping[str, str], wanted: str | None) -> Site:
    """One of the sites that the consent is for. Two accounts on one consent would use up each other's refresh token."""

    async def ask() -> list[Site]:
        async with open_http() as http:
            return await list_sites(http, draft_credentials(new, secrets))

    sites = asyncio.run(ask())
    if wanted is not None:
        name = parse_site(wanted)
        sites = [each for each in sites if name in (each.name.lower(), *_list_names(each))]
    if not sites:
        raise Invalid("The consent is for no such site. Agree again, and choose the site there.", field="site")
    if len(sites) == 1:
        return sites[0]
    for number, each in enumerate(sites, 1):
        print_note(f"{number}  {each.name}  {each.url}")
    if not stands_at_terminal():
        raise Invalid("The consent is for several sites: name one with --site.", field="site")
    number = click.prompt("Which site", type=click.IntRange(1, len(sites)), err=True)
    print_note("Run the command again with another --account for another site.")
    return sites[number - 1]


def _list_names(site: Site) -> list[str]:
    try:
        return [parse_site(site.url)]
    except Invalid:
        return []
