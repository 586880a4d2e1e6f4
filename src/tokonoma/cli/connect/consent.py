"""`connect --oauth`: the owner's own app, the consent in a browser, and the tokens for it."""

from collections.abc import Sequence
from functools import partial

import click

from tokonoma.app import App
from tokonoma.app.connecting import (
    OwnerConsent,
    build_consent_url,
    find_own_app,
    finish_consent,
    prepare_consent,
    store_own_app,
)
from tokonoma.cli.connect.ask import ask_text, ask_whose, read_secret
from tokonoma.cli.connect.options import ConnectOptions
from tokonoma.cli.connect.receivers import open_receiver
from tokonoma.cli.output import open_browser, print_line, print_note, stands_at_terminal
from tokonoma.core.errors import Invalid
from tokonoma.keyring.accounts import Account
from tokonoma.services.credentials import AppCredentials
from tokonoma.services.identity import Site
from tokonoma.services.providers import Provider
from tokonoma.services.sign_in import create_pkce, create_state, require_code


def connect_by_consent(app: App, provider: Provider, options: ConnectOptions) -> Account:
    choices = options.choices
    if choices.account == choices.app:
        raise Invalid(f"{choices.app!r} is the name of the OAuth app: give the account another.", field="account")
    own = find_own_app(app, provider, choices)
    if own is None or choices.client_id is not None:
        own = _store_app(app, provider, options)
    return _ask_consent(app, prepare_consent(provider, own, choices), options)


def _store_app(app: App, provider: Provider, options: ConnectOptions) -> Account:
    """Ask for it and keep it; with a client id that is known already, for a new secret."""
    port = app.settings.get_int("connect_port")
    place = app.settings.get_text("public_url") or f"http://localhost:{port or 'PORT'}"
    print_note(f"{provider.name} needs an OAuth app of your own, with the redirect URL {place}/services/callback.")
    if place.endswith("PORT"):
        print_note("If it takes a fixed port alone, choose one with --connect-port or the setting connect_port.")
    client_id = ask_text(options.choices.client_id, "Client id", "--client-id")
    return store_own_app(app, provider, options.choices, AppCredentials(client_id, read_secret("Client secret")))


def _ask_consent(app: App, consent: OwnerConsent, options: ConnectOptions) -> Account:
    state, pkce = create_state(), create_pkce() if consent.provider.pkce else None
    with open_receiver(app, consent.provider.name, state) as receiver:
        show_url(build_consent_url(consent, receiver.redirect_uri, state, pkce), browser=options.browser)
        code = require_code(receiver.wait(options.wait), state)
        whose = partial(ask_whose, untested=options.untested)
        verifier = pkce.verifier if pkce else ""
        return finish_consent(app, consent, code, receiver.redirect_uri, verifier, _choose_site, whose)


def show_url(url: str, *, browser: bool) -> None:
    print_note("Open this address in a browser and agree:")
    print_line(url)
    if browser:
        open_browser(url)


def _choose_site(sites: Sequence[Site]) -> Site:
    for number, each in enumerate(sites, 1):
        print_note(f"{number}  {each.name}  {each.url}")
    if not stands_at_terminal():
        raise Invalid("The consent is for several sites: name one with --site.", field="site")
    number = click.prompt("Which site", type=click.IntRange(1, len(sites)), err=True)
    print_note("Run the command again with another --account for another site.")
    return sites[number - 1]
