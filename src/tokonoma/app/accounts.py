"""Connecting and disconnecting accounts: stored, and known to all processes within a second."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tokonoma.app.keyring import open_keyring
from tokonoma.app.page_calls import OpenOwnerWrite
from tokonoma.core.errors import Conflict, Unready
from tokonoma.keyring.accounts import (
    Account,
    NewAccount,
    SecretFields,
    add_account,
    disconnect_account,
    list_accounts,
    replace_account,
    set_state,
)
from tokonoma.keyring.data_keys import read_snapshot
from tokonoma.services.credentials import AppCredentials, Credentials, find_app, read_credentials
from tokonoma.services.http import OutgoingHttp
from tokonoma.services.identity import ask_who, open_http, revoke_tokens
from tokonoma.services.providers import get_provider
from tokonoma.services.refresh import TokenRefresher
from tokonoma.services.timing import Timing

if TYPE_CHECKING:
    from tokonoma.app import App
    from tokonoma.core.desk import Rows

_PLACES = ("cloud_id", "site", "base_url", "client_id")


def draft_credentials(new: NewAccount, secrets: Mapping[str, str]) -> Credentials:
    """Credentials that are not stored yet: they are tried first."""
    facts = new.provider, new.name, new.namespace, new.kind, new.who, new.details, new.scopes
    account = Account("", *facts, "ready", "", new.expires_at, generation=0, created_at=0, refreshed_at=None)
    return Credentials(account, SecretFields(secrets))


def find_name(credentials: Credentials) -> str:
    """How the service calls whose token this is. Raises what `ask_who` raises."""

    async def ask() -> str:
        async with open_http() as http:
            return await ask_who(http, credentials)

    return asyncio.run(ask())


def store_account(
    app: "App", new: NewAccount, secrets: Mapping[str, str], write: OpenOwnerWrite | None = None
) -> Account:
    """Add it, or replace the one of this name if it is the same user's at the same place. Conflict otherwise: calls
    would act as another person from one moment to the next."""
    with (write or app.write_as_owner)("accounts.connect") as statements:
        known = [each for each in list_accounts(statements, new.provider) if each.name == new.name]
        before = next((each for each in known if each.namespace == new.namespace), None)
        if before is not None:
            _require_same(before, new)
        put = add_account if before is None else replace_account
        account = put(statements, open_keyring(app), new, secrets)
    app.modules.look_now()
    return account


def _require_same(before: Account, new: NewAccount) -> None:
    is_app = "app" in (before.kind, new.kind)
    same_kind = before.kind == new.kind or not is_app
    same_user = is_app or "" in (before.who, new.who) or before.who == new.who
    same_place = is_app or all(before.details.get(name) == new.details.get(name) for name in _PLACES)
    if not (same_kind and same_user and same_place):
        whose = f", and belongs to {before.who}" if before.who else ""
        message = f"There is already a {before.describe()}{whose}. This one is another."
        raise Conflict(f"{message} Choose a name with --account, or disconnect that one first.", reason="exists")


def remove_account(app: "App", account: Account, write: OpenOwnerWrite | None = None) -> None:
    with (write or app.write_as_owner)("accounts.disconnect") as statements:
        users = [each for each in list_accounts(statements, account.provider) if _signs_in_through(each, account)]
        if users:
            names = ", ".join(each.name for each in users)
            message = f"These accounts renew their tokens through the {account.describe()}: {names}."
            raise Conflict(f"{message} Disconnect them first.", reason="used")
        disconnect_account(statements, account)
    app.modules.look_now()


def _signs_in_through(account: Account, app: Account) -> bool:
    named = account.kind == "oauth" and account.details.get("app") == app.name
    return app.kind == "app" and named and app.serves(account.namespace)


def check_account(app: "App", account: Account, write: OpenOwnerWrite | None = None) -> str:
    """Why the account does not work; empty if it does. An expired token is renewed first, as for a call. What the
    service says of the token is stored as the account's state; that it cannot be asked is not. Raises Unavailable
    then."""
    keyring, http = open_keyring(app), OutgoingHttp()
    held = read_snapshot(app.database.reading, lambda rows: read_credentials(rows, keyring, account))

    async def ask() -> tuple[Account, str]:
        current = held
        try:
            current = await TokenRefresher(app.database, keyring, http.get, Timing()).prepare(held)
            await ask_who(http.get(), current)
        except Unready as error:
            return current.account, error.message
        return current.account, ""

    tested, problem = asyncio.run(ask())
    with (write or app.write_as_owner)("accounts.test") as statements:
        set_state(statements, tested, problem)
    return problem


def revoke_account(app: "App", account: Account) -> bool:
    """Ask the provider to end this consent; False if it has no way to be asked. Raises what went wrong."""
    provider = get_provider(account.provider)
    details = account.details
    # A token of a server of one's own is never sent to the provider's.
    elsewhere = any(details.get(name) for name in ("token_url", "base_url"))
    url = str(details.get("revoke_url") or ("" if elsewhere else provider.revoke_url))
    if account.kind != "oauth" or not url:
        return False
    keyring = open_keyring(app)

    def read(rows: "Rows") -> tuple[AppCredentials, Credentials]:
        return find_app(rows, keyring, account), read_credentials(rows, keyring, account)

    own, held = read_snapshot(app.database.reading, read)

    async def ask() -> None:
        async with open_http() as http:
            await revoke_tokens(http, provider, url, own, held.secrets)

    asyncio.run(ask())
    return True
