"""Which account a call uses: the one that it names, else the nearest default, else the only one. Never a guess."""

from collections.abc import Callable, Sequence

from tokonoma.core.desk import Rows
from tokonoma.core.errors import Invalid, Missing, Unready
from tokonoma.core.providers import find_provider, not_connected_error
from tokonoma.core.reach import Reach
from tokonoma.keyring.accounts import Account, list_accounts, list_defaults

Sees = Callable[[str], bool]


def choose_account(
    rows: Rows, module: str, reach: Reach, named: str | None = None, sees: Sees = lambda name: True
) -> Account:
    """The account for a call of this module by a caller with this reach. `sees` says whether a mask leaves an account
    of this name visible; a hidden one does not exist."""
    provider = find_provider(module)
    usable = list_usable(rows, provider, reach, sees)
    if not usable:
        raise not_connected_error(module)
    nearest = {account.name: account for account in usable}  # the last of a name is the nearest
    if named is not None:
        if named not in nearest:
            message = f"There is no account called {named!r} for {module}. There are: {', '.join(nearest)}."
            raise Missing(message, reason="account", accounts=list(nearest))
        return nearest[named]
    chosen = _find_default(rows, module, reach, usable)
    if chosen is not None:
        return chosen
    if len(nearest) > 1:
        message = f"{module} has several accounts here: {', '.join(nearest)}. Name one as `account`."
        advice = f"The owner sets a default with `tokonoma accounts default {module} NAME`."
        raise Invalid(f"{message} {advice}", reason="ambiguous", accounts=list(nearest))
    return usable[-1]


def list_usable(rows: Rows, provider: str, reach: Reach, sees: Sees = lambda name: True) -> list[Account]:
    """The accounts that serve the whole of this reach, the nearest last. Those of namespaces below its root belong to
    others."""
    found = [
        account
        for account in list_accounts(rows, provider)
        if account.kind != "app" and reach.uses_account(account.namespace) and sees(account.name)
    ]
    return sorted(found, key=lambda account: (len(account.namespace), account.name))


def require_ready(account: Account) -> None:
    """Unready if the service has refused its credentials."""
    if account.state == "broken":
        message = f"The {account.describe()} does not work: {account.problem}"
        advice = f"The owner connects it again with `tokonoma connect {account.modules[0]} --account {account.name}`."
        raise Unready(f"{message} {advice}", reason="token_invalid", account=account.name)


def _find_default(rows: Rows, module: str, reach: Reach, usable: Sequence[Account]) -> Account | None:
    """The default of the nearest namespace, from where the caller starts up to the top."""
    above = [
        default
        for default in list_defaults(rows, usable)
        if default.module == module and (reach.default + "/").startswith(default.namespace.rstrip("/") + "/")
    ]
    return max(above, key=lambda default: len(default.namespace)).account if above else None
