"""Connecting an account: by a token, or through the owner's own OAuth app. For the command and the page."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tokonoma.app.accounts import draft_credentials, find_name, store_account
from tokonoma.app.keyring import open_keyring
from tokonoma.core.errors import Invalid
from tokonoma.keyring.accounts import Account, NewAccount, list_accounts
from tokonoma.keyring.data_keys import read_snapshot
from tokonoma.services.connecting import URL_DETAILS, ConnectChoices, parse_site
from tokonoma.services.credentials import AppCredentials, Credentials, read_credentials
from tokonoma.services.identity import Site, list_sites, open_http
from tokonoma.services.providers import Provider
from tokonoma.services.sign_in import PkcePair, build_authorize_url, exchange_code

if TYPE_CHECKING:
    from tokonoma.app import App
    from tokonoma.app.page_calls import OpenOwnerWrite

AskWhose = Callable[[Credentials], str]
"""How the service calls the user of these credentials. Raises Unready if it refuses them."""
ChooseSite = Callable[[Sequence[Site]], Site]


@dataclass(frozen=True, slots=True)
class OwnerConsent:
    """A consent at a provider through an app of the owner: where it is asked for and exchanged."""

    provider: Provider
    own: Account  # the app
    urls: Mapping[str, str]
    choices: ConnectChoices

    def find_url(self, name: str) -> str:
        return self.urls.get(name) or str(getattr(self.provider, name))


def connect_by_token(
    app: "App",
    provider: Provider,
    choices: ConnectChoices,
    token: str,
    ask_whose: AskWhose = find_name,
    write: "OpenOwnerWrite | None" = None,
) -> Account:
    """Store a token that the owner has made at the service, after the service has said whose it is."""
    details: dict[str, Any] = dict(choices.urls)
    is_basic = uses_password(provider)
    if is_basic:
        if not choices.email:
            raise Invalid("The e-mail address is necessary.", field="email")
        details |= {"site": parse_site(choices.site or ""), "email": choices.email}
    kind = "basic" if is_basic else "token"
    new = NewAccount(provider.name, choices.account, choices.namespace, kind, details=details)
    secrets = {"token": token}
    who = ask_whose(draft_credentials(new, secrets))
    return store_account(app, replace(new, who=who), secrets, write)


def uses_password(provider: Provider) -> bool:
    """Whether a token of this provider goes with a site and an e-mail address."""
    return provider.token_header == "Basic"  # noqa: S105 - a scheme


def find_own_app(app: "App", provider: Provider, choices: ConnectChoices) -> Account | None:
    """The nearest of this name that serves the namespace; Invalid if its client id is not the one that was given."""
    with app.database.reading() as rows:
        found = [
            each
            for each in list_accounts(rows, provider.name)
            if each.kind == "app" and each.name == choices.app and each.serves(choices.namespace)
        ]
    nearest = max(found, key=lambda each: len(each.namespace), default=None)
    if nearest is not None and choices.client_id not in (None, nearest.details.get("client_id")):
        message = f"The {nearest.describe()} has another client id."
        raise Invalid(f"{message} Name the new app with --app, or disconnect that one first.", field="client_id")
    return nearest


def store_own_app(
    app: "App",
    provider: Provider,
    choices: ConnectChoices,
    credentials: AppCredentials,
    write: "OpenOwnerWrite | None" = None,
) -> Account:
    """Keep the owner's app; with a client id that is known already, its new secret."""
    before = find_own_app(app, provider, replace(choices, client_id=credentials.client_id))
    details = {**(before.details if before else {}), "client_id": credentials.client_id, **choices.urls}
    namespace = before.namespace if before else choices.namespace
    new = NewAccount(provider.name, choices.app, namespace, "app", "", details)
    return store_account(app, new, {"client_secret": credentials.client_secret}, write)


def prepare_consent(provider: Provider, own: Account, choices: ConnectChoices) -> OwnerConsent:
    if choices.account == choices.app:
        raise Invalid(f"{choices.app!r} is the name of the OAuth app: give the account another.", field="account")
    urls: dict[str, str] = {name: own.details[name] for name in URL_DETAILS if own.details.get(name)}
    return OwnerConsent(provider, own, {**urls, **choices.urls}, choices)


def build_consent_url(consent: OwnerConsent, redirect_uri: str, state: str, pkce: PkcePair | None) -> str:
    return build_authorize_url(
        consent.find_url("authorize_url"),
        client_id=str(consent.own.details["client_id"]),
        redirect_uri=redirect_uri,
        state=state,
        scopes=consent.choices.list_scopes(consent.provider),
        challenge=pkce.challenge if pkce else "",
        extra=consent.provider.authorize_extra,
    )


def finish_consent(
    app: "App",
    consent: OwnerConsent,
    code: str,
    redirect_uri: str,
    verifier: str,
    choose_site: ChooseSite,
    ask_whose: AskWhose = find_name,
    write: "OpenOwnerWrite | None" = None,
) -> Account:
    """Exchange the code for tokens, and store the account."""
    provider, choices, keyring = consent.provider, consent.choices, open_keyring(app)
    held = read_snapshot(app.database.reading, lambda rows: read_credentials(rows, keyring, consent.own))
    credentials = AppCredentials(str(consent.own.details["client_id"]), held.secrets["client_secret"])

    async def exchange() -> Any:
        async with open_http() as http:
            place = consent.find_url("token_url")
            return await exchange_code(http, provider, place, credentials, code, redirect_uri, verifier)

    tokens = asyncio.run(exchange())
    details: dict[str, Any] = {**consent.urls, "app": consent.own.name}
    scopes = tokens.scopes or choices.list_scopes(provider)
    new = NewAccount(provider.name, choices.account, choices.namespace, "oauth", "", details, scopes, tokens.expires_at)
    secrets = {"access_token": tokens.access_token}
    if tokens.refresh_token:
        secrets["refresh_token"] = tokens.refresh_token
    if provider.sites_url:
        site = _choose_site(new, secrets, choices.site, choose_site)
        named = next(iter(_list_names(site)), site.name)
        new = replace(new, details={**details, "cloud_id": site.cloud_id, "site": named})
    who = ask_whose(draft_credentials(new, secrets))
    return store_account(app, replace(new, who=who), secrets, write)


def _choose_site(new: NewAccount, secrets: Mapping[str, str], wanted: str | None, choose: ChooseSite) -> Site:
    """One of the sites that the consent is for. Two accounts on one consent would use up each other's refresh token."""

    async def ask() -> list[Site]:
        async with open_http() as http:
            return await list_sites(http, draft_credentials(new, secrets))

    sites = asyncio.run(ask())
    if wanted:
        name = parse_site(wanted)
        sites = [each for each in sites if name in (each.name.lower(), *_list_names(each))]
    if not sites:
        raise Invalid("The consent is for no such site. Agree again, and choose the site there.", field="site")
    return sites[0] if len(sites) == 1 else choose(sites)


def _list_names(site: Site) -> list[str]:
    try:
        return [parse_site(site.url)]
    except Invalid:
        return []
