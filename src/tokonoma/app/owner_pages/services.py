"""Accounts of services, for the pages that connect, test and disconnect them."""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from tokonoma.app.accounts import check_account, remove_account, revoke_account
from tokonoma.app.connecting import (
    build_consent_url,
    connect_by_token,
    find_own_app,
    finish_consent,
    prepare_consent,
    store_own_app,
)
from tokonoma.app.page_calls import open_page_write
from tokonoma.auth.sessions import WebSession
from tokonoma.core.call import Caller
from tokonoma.core.errors import Invalid, Missing, Refusal
from tokonoma.core.log import log
from tokonoma.keyring import accounts
from tokonoma.keyring.accounts import Account, AccountDefault
from tokonoma.keyring.sign_ins import begin_sign_in, end_sign_in, read_draft, take_answer
from tokonoma.server.web.access_parts import OpenConsent, ServiceParts
from tokonoma.services.connecting import ConnectChoices
from tokonoma.services.credentials import AppCredentials
from tokonoma.services.identity import Site
from tokonoma.services.providers import PROVIDERS, Provider, get_provider
from tokonoma.services.sign_in import (
    CALLBACK_PATH,
    SIGN_IN_SECONDS,
    create_pkce,
    create_state,
    parse_callback,
    require_code,
)

if TYPE_CHECKING:
    from tokonoma.app import App


def build_service_parts(app: "App") -> ServiceParts:
    return ServiceParts(
        list_accounts=partial(_list_accounts, app),
        list_defaults=partial(_list_defaults, app),
        connect_by_token=partial(_connect_by_token, app),
        register_app=partial(_register_app, app),
        begin_consent=partial(_begin_consent, app),
        find_consent=partial(_find_consent, app),
        finish_consent=partial(_finish_consent, app),
        test=partial(_test, app),
        set_default=partial(_set_default, app),
        clear_default=partial(_clear_default, app),
        disconnect=partial(_disconnect, app),
    )


def _list_accounts(app: "App") -> list[Account]:
    with app.database.reading() as rows:
        return [each for each in accounts.list_accounts(rows) if each.provider in PROVIDERS]


def _list_defaults(app: "App") -> list[AccountDefault]:
    with app.database.reading() as rows:
        return accounts.list_defaults(rows, accounts.list_accounts(rows))


def _connect_by_token(app: "App", caller: Caller, provider: Provider, choices: ConnectChoices, token: str) -> Account:
    return connect_by_token(app, provider, choices, token, write=open_page_write(app, caller))


def _register_app(
    app: "App", caller: Caller, provider: Provider, choices: ConnectChoices, credentials: AppCredentials
) -> Account:
    return store_own_app(app, provider, choices, credentials, open_page_write(app, caller))


# Consents


def _begin_consent(app: "App", session: WebSession, provider: Provider, choices: ConnectChoices, origin: str) -> str:
    own = find_own_app(app, provider, choices)
    if own is None:
        raise Invalid("Register your OAuth app first.", field="app")
    consent = prepare_consent(provider, own, choices)
    state, pkce, redirect_uri = create_state(), create_pkce() if provider.pkce else None, origin + CALLBACK_PATH
    draft = {
        "session": session.id,
        "provider": provider.name,
        "redirect_uri": redirect_uri,
        "verifier": pkce.verifier if pkce else "",
        "choices": {**asdict(choices), "urls": dict(choices.urls)},
    }
    with app.database.writing() as statements:
        begin_sign_in(statements, provider.name, state, SIGN_IN_SECONDS, json.dumps(draft))
    return build_consent_url(consent, redirect_uri, state, pkce)


def _read_draft(app: "App", session: WebSession, state: str) -> tuple[dict[str, Any], str | None]:
    """What the consent began with, and the answer if it has come. Only the session that began it may go on."""
    with app.database.reading() as rows:
        text = read_draft(rows, state)
        draft: dict[str, Any] = json.loads(text) if text else {}
        if draft.get("session") != session.id:
            raise Missing("This consent did not begin in this session. Begin it again.", reason="sign_in")
        return draft, take_answer(rows, state)


def _find_consent(app: "App", session: WebSession, state: str) -> OpenConsent:
    draft, answer = _read_draft(app, session, state)
    return OpenConsent(draft["provider"], draft["choices"]["account"], answer is not None)


def _finish_consent(app: "App", caller: Caller, session: WebSession, state: str) -> Account:
    draft, answer = _read_draft(app, session, state)
    if answer is None:
        raise Invalid("The service has not answered yet.", reason="consent")
    with app.database.writing() as statements:  # a code is good once: whatever comes now, it is over
        end_sign_in(statements, state)
    code = require_code(parse_callback(answer), state)
    provider = get_provider(draft["provider"])
    kept: dict[str, Any] = draft["choices"]
    choices = replace(ConnectChoices(**kept), scopes=tuple(kept["scopes"]))  # JSON knows no tuples
    own = find_own_app(app, provider, choices)
    if own is None:
        raise Missing("The OAuth app of this consent is no longer there.", reason="account")
    consent = prepare_consent(provider, own, choices)
    write = open_page_write(app, caller)
    return finish_consent(app, consent, code, draft["redirect_uri"], draft["verifier"], _refuse_sites, write=write)


def _refuse_sites(sites: Sequence[Site]) -> Site:
    names = ", ".join(each.name for each in sites)
    raise Invalid(f"The consent is for several sites: {names}. Begin again, and name one of them.", field="site")


# Accounts that are connected


def _test(app: "App", caller: Caller, account: Account) -> str:
    return check_account(app, account, open_page_write(app, caller))


def _set_default(app: "App", caller: Caller, account: Account, module: str, namespace: str) -> None:
    with open_page_write(app, caller)("accounts.default") as statements:
        accounts.set_default(statements, module, namespace, account)


def _clear_default(app: "App", caller: Caller, module: str, namespace: str) -> bool:
    with open_page_write(app, caller)("accounts.default") as statements:
        return accounts.clear_default(statements, module, namespace)


def _disconnect(app: "App", caller: Caller, account: Account) -> bool:
    """Whatever goes wrong at the service, the account can be disconnected."""
    try:
        revoked = revoke_account(app, account)
    except Refusal as error:
        log("warning", "accounts.revoke", provider=account.provider, reason=error.reason or error.kind)
        revoked = False
    remove_account(app, account, open_page_write(app, caller))
    return revoked
