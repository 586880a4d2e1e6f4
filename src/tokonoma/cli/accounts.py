"""`accounts`: the connections with other services, their defaults, and how they end."""

import sys
from collections.abc import Sequence

import click

from tokonoma.app import App
from tokonoma.app.accounts import check_account, remove_account, revoke_account
from tokonoma.cli.command import group, json_option, pass_app
from tokonoma.cli.output import confirm, print_json, print_note, print_table
from tokonoma.core.desk import Rows
from tokonoma.core.errors import Invalid, Missing, Refusal
from tokonoma.core.namespaces import normalize_namespace
from tokonoma.core.providers import PROVIDER_MODULES, find_provider
from tokonoma.keyring.accounts import (
    Account,
    AccountDefault,
    clear_default,
    list_accounts,
    list_defaults,
    set_default,
)
from tokonoma.services.providers import MCP

_HEADINGS = ("SERVICE", "NAME", "NAMESPACE", "KIND", "WHO", "STATE", "EXPIRES", "DEFAULT FOR")


@group("accounts")
def accounts() -> None:
    """List, test and disconnect accounts of services, and set defaults.

    A SERVICE is a module such as jira, or the provider behind it, such as atlassian.
    """


@accounts.command("list", settings=("database_url",))
@click.argument("service", required=False)
@json_option
@pass_app
def list_all(app: App, service: str | None, as_json: bool) -> None:
    """List the accounts, of all services or of one. Their secrets are never shown."""
    provider = None if service is None else find_provider(service)
    with app.database.reading() as rows:
        found = list_accounts(rows, provider)
        defaults = list_defaults(rows, found)
    if as_json:
        print_json([{**each.to_response(), "default_for": _list_uses(each, defaults)} for each in found])
    elif not found:
        print_note("No account is connected.")
    else:
        print_table(_HEADINGS, [_format_row(each, defaults) for each in found])


@accounts.command("default", settings=("database_url",))
@click.argument("module")
@click.argument("name", required=False)
@click.option("--namespace", default="/", show_default=True, help="For calls in this namespace and below.")
@click.option("--clear", is_flag=True, help="Remove the default instead.")
@pass_app
def choose_default(app: App, module: str, name: str | None, namespace: str, clear: bool) -> None:
    """Let calls of MODULE that name no account use the one called NAME.

    The nearest namespace with a default decides.
    """
    if clear == (name is not None):
        raise click.UsageError("Give either the NAME of an account or --clear.")
    provider = find_provider(module)
    if module not in PROVIDER_MODULES[provider]:
        names = ", ".join(PROVIDER_MODULES[provider])
        raise Invalid(f"{module!r} is a provider. Name the module: {names}.", field="module")
    space = normalize_namespace(namespace)
    with app.write_as_owner("accounts.default") as statements:
        if name is None:
            removed = clear_default(statements, module, space)
        else:
            # Of several with this name, the nearest that serves the namespace, as in a call.
            serving = [each for each in list_accounts(statements, provider) if each.serves(space)]
            account = _find_account(serving, provider, name)
            set_default(statements, module, space, account)
            removed = False
    if name is None:
        print_note(f"{module} has no default in {space} now." if removed else f"{module} had no default in {space}.")
    else:
        print_note(f"Calls of {module} in {space} and below use {name!r} unless they name another account.")


@accounts.command("disconnect", settings=("database_url",))
@click.argument("service")
@click.argument("name", required=False)
@click.option("--namespace", help="The namespace that the account lives in, if several have this name.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@pass_app
def disconnect(app: App, service: str, name: str | None, namespace: str | None, yes: bool) -> None:
    """Remove the account called NAME, or the only one of SERVICE, with its secrets.

    Servers notice it within a second. A consent is revoked at the service, where it has a way to do so; a token that
    was pasted is not: revoke it there, too.
    """
    with app.database.reading() as rows:
        account = _find_one(rows, service, name, namespace)
    if not yes:
        confirm(f"Disconnect the {account.describe()}?", f"This removes the {account.describe()} and its secrets.")
    revoked = _revoke(app, account)
    remove_account(app, account)
    print_note(f"Disconnected the {account.describe()}. Its secrets are removed here{revoked}")


def _revoke(app: App, account: Account) -> str:
    """What is said about it. Whatever goes wrong, the account can be disconnected."""
    try:
        done = revoke_account(app, account)
    except Refusal as error:
        print_note(f"{account.provider} did not revoke the consent: {error.message}")
        done = False
    return ", and revoked at the service." if done else "; revoke them at the service, too."


@accounts.command("test", settings=("database_url",))
@click.argument("names", nargs=-1)
@json_option
@pass_app
def test(app: App, names: tuple[str, ...], as_json: bool) -> None:
    """Ask the services whether the accounts work: all, or those called NAMES. The exit code is 1 if one does not."""
    with app.database.reading() as rows:
        usable = [each for each in list_accounts(rows) if each.kind != "app" and each.provider != MCP.name]
        found = [each for each in usable if not names or each.name in names]
    if unknown := [name for name in names if name not in {each.name for each in found}]:
        raise Missing(f"There is no account called {unknown[0]!r}. See `tokonoma accounts list`.", reason="account")
    tested = [(each, *_test(app, each)) for each in found]
    if as_json:
        print_json([
            {"provider": each.provider, "name": each.name, "namespace": each.namespace, "state": state, "problem": says}
            for each, state, says in tested
        ])  # fmt: skip
    elif not found:
        print_note("No account is connected.")
    else:
        rows_shown = [[each.provider, each.name, each.namespace, state, says or "-"] for each, state, says in tested]
        print_table(("SERVICE", "NAME", "NAMESPACE", "STATE", "PROBLEM"), rows_shown)
    sys.exit(0 if all(state == "ready" for _, state, _ in tested) else 1)


def _test(app: App, account: Account) -> tuple[str, str]:
    """`ready`, `broken` or `unknown` (the service cannot be asked, or the keyring does not open), and why."""
    try:
        problem = check_account(app, account)
    except Refusal as error:
        return "unknown", error.message
    return ("broken", problem) if problem else ("ready", "")


def _find_one(rows: Rows, service: str, name: str | None, namespace: str | None) -> Account:
    provider = find_provider(service)
    found = list_accounts(rows, provider)
    if namespace is not None:
        space = normalize_namespace(namespace)
        found = [each for each in found if each.namespace == space]
    named = [each for each in found if name in (None, each.name)]
    if len(named) > 1:
        names = ", ".join(f"{each.name} ({each.namespace})" for each in named)
        message = f"There are several {provider} accounts: {names}. Name one, with --namespace if necessary."
        raise Invalid(message, reason="ambiguous")
    return named[0] if named else _find_account(found, provider, name or "")


def _find_account(found: Sequence[Account], provider: str, name: str) -> Account:
    """The nearest one with this name; Missing lists the others."""
    named = [each for each in found if each.name == name]
    if not named:
        names = f"There are: {', '.join(sorted({each.name for each in found}))}." if found else "There is none here."
        what = f"{provider} account called {name!r}" if name else f"{provider} account"
        raise Missing(f"There is no {what}. {names}", reason="account")
    return max(named, key=lambda each: len(each.namespace))


def _list_uses(account: Account, defaults: Sequence[AccountDefault]) -> list[dict[str, str]]:
    return [
        {"module": each.module, "namespace": each.namespace} for each in defaults if each.account.id == account.id
    ]  # fmt: skip


def _format_row(account: Account, defaults: Sequence[AccountDefault]) -> list[str]:
    told = account.to_response()
    state = f"{account.state}: {account.problem}" if account.problem else account.state
    uses = ", ".join(f"{each['module']} in {each['namespace']}" for each in _list_uses(account, defaults)) or "-"
    expires = told["expires_at"] or "-"
    modules = ", ".join(account.modules) if account.modules != (account.provider,) else ""
    service = f"{account.provider} ({modules})" if modules else account.provider
    return [service, account.name, account.namespace, account.kind, account.who or "-", state, expires, uses]
