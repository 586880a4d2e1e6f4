"""`connect`: an account of a service, by a token or through the owner's own OAuth app."""

from dataclasses import replace
from functools import partial
from typing import Any

import click

from tokonoma.app import App
from tokonoma.app.connecting import connect_by_token, uses_password
from tokonoma.cli.command import command, pass_app
from tokonoma.cli.connect.ask import ask_text, ask_whose, read_secret, refuse_tokens
from tokonoma.cli.connect.consent import connect_by_consent
from tokonoma.cli.connect.options import ConnectOptions
from tokonoma.cli.output import print_line, print_note, stands_at_terminal
from tokonoma.core.errors import Invalid
from tokonoma.core.namespaces import normalize_namespace
from tokonoma.core.providers import find_provider
from tokonoma.core.reach import Reach
from tokonoma.keyring.accounts import Account
from tokonoma.keyring.choose import list_usable
from tokonoma.services.connecting import ConnectChoices, parse_site, read_urls
from tokonoma.services.providers import Provider, get_provider
from tokonoma.services.sign_in import SIGN_IN_SECONDS


@command("connect", "database_url", "public_url", "connect_port")
@click.argument("service")
@click.argument("more", nargs=-1, metavar="")
@click.option("--account", default="main", show_default=True, help="Name of the account, as calls name it.")
@click.option("--namespace", default="/", show_default=True, help="The account serves this namespace and those below.")
@click.option("--url", metavar="URL", help="Base URL of the API, for a server of your own.")
@click.option("--site", help="Atlassian: the site, as in acme.atlassian.net.")
@click.option("--email", help="Atlassian: the e-mail address of the user.")
@click.option("--no-test", "untested", is_flag=True, help="Store it without asking the service whose token it is.")
@click.option("--oauth", is_flag=True, help="Sign in through an OAuth app of your own instead of giving a token.")
@click.option("--app", "app_name", default="app", show_default=True, help="Name under which the OAuth app is kept.")
@click.option("--client-id", help="Client id of the OAuth app.")
@click.option("--scope", multiple=True, help="Ask for this scope, too; may be given several times.")
@click.option("--authorize-url", metavar="URL", help="Where the consent is given, for a server of your own.")
@click.option("--token-url", metavar="URL", help="Where tokens are given, for a server of your own.")
@click.option("--revoke-url", metavar="URL", help="Where tokens are revoked, for a server of your own.")
@click.option("--no-browser", is_flag=True, help="Print the address of the consent, but open no browser.")
@click.option(
    "--wait", type=click.IntRange(1, SIGN_IN_SECONDS), default=SIGN_IN_SECONDS, show_default=True,
    help="Seconds to wait for the consent.",
)  # fmt: skip
@click.option("--token", hidden=True)
@pass_app
def connect(app: App, service: str, more: tuple[str, ...], oauth: bool, token: str | None, **given: Any) -> None:
    """Connect an account of SERVICE: github, notion, jira, confluence, supabase, google_calendar or microsoft_todo.

    The token is asked for, or read from standard input. The service is asked whose it is before it is stored in the
    keyring. Running servers notice the account within a second.
    """
    refuse_tokens([*more, *filter(None, [token])], {"service": service, **_list_texts(given)})
    provider = get_provider(find_provider(service))
    options = _read_options(given)
    if not provider.pastes and not oauth:
        message = f"{provider.name} has no tokens to paste."
        raise Invalid(f"{message} Use --oauth, with an OAuth app of your own.", field="oauth")
    _report(app, connect_by_consent(app, provider, options) if oauth else _connect_by_token(app, provider, options))


def _list_texts(given: dict[str, Any]) -> dict[str, str | None]:
    """What could be a token by mistake. Client ids are no secrets, and as long as tokens."""
    return {name: given[name] for name in ("account", "namespace", "url", "site", "email", "app_name")}


def _read_options(given: dict[str, Any]) -> ConnectOptions:
    urls = {name: given[name] for name in ("authorize_url", "token_url", "revoke_url")}
    choices = ConnectChoices(
        account=given["account"],
        namespace=normalize_namespace(given["namespace"]),
        urls=read_urls({"base_url": given["url"], **urls}),
        site=given["site"],
        email=given["email"],
        client_id=given["client_id"],
        app=given["app_name"],
        scopes=given["scope"],
    )
    return ConnectOptions(choices, given["untested"], not given["no_browser"], given["wait"])


def _connect_by_token(app: App, provider: Provider, options: ConnectOptions) -> Account:
    choices = options.choices
    if uses_password(provider):
        site = parse_site(ask_text(choices.site, "Site (acme for acme.atlassian.net)", "--site"))
        choices = replace(choices, site=site, email=ask_text(choices.email, "E-mail address", "--email"))
    if stands_at_terminal() and "base_url" not in choices.urls:
        print_note(f"Make a token at {provider.token_page}")
    whose = partial(ask_whose, untested=options.untested)
    return connect_by_token(app, provider, choices, read_secret("Token"), whose)


def _report(app: App, account: Account) -> None:
    whose = f" ({account.who})" if account.who else ""
    print_line(f"Connected the {account.describe()}{whose} for {', '.join(account.modules)}.")
    with app.database.reading() as rows:
        names = [each.name for each in list_usable(rows, account.provider, Reach(account.namespace, account.namespace))]
    if len(set(names)) > 1:
        module = account.modules[0]
        print_note(f"{module} has several accounts here: {', '.join(names)}. Calls name one as `account`,")
        print_note(f"or set a default with `tokonoma accounts default {module} NAME`.")
