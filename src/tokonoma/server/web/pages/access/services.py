"""`/admin/services`: the services and their accounts: connect, test, make default, disconnect. No secret is shown."""

from functools import partial

from starlette.routing import BaseRoute, Route

from tokonoma.core.errors import Missing, Refusal
from tokonoma.keyring.accounts import Account
from tokonoma.server.web.access_parts import ServiceParts
from tokonoma.server.web.page_parts import PageParts
from tokonoma.server.web.pages.access import connect
from tokonoma.server.web.pages.access.service_names import SERVICES, name_provider
from tokonoma.server.web.pages.handler import PageHandler
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path, redirect
from tokonoma.services.providers import PROVIDERS

ACCOUNTS = f"{SERVICES}/accounts"


def list_routes(pages: PageParts) -> list[BaseRoute]:
    parts = pages.access.services
    show, change = partial(show_account, parts), partial(change_account, parts)
    ask, leave = partial(ask_disconnect, parts), partial(disconnect, parts)
    return [
        Route(SERVICES, PageHandler(pages, partial(show_services, parts), owner_only=True)),
        Route(f"{ACCOUNTS}/{{id}}", PageHandler(pages, show, change, owner_only=True)),
        Route(f"{ACCOUNTS}/{{id}}/disconnect", PageHandler(pages, ask, leave, owner_only=True)),
        *connect.list_routes(pages),
    ]


def show_services(parts: ServiceParts, request: PageRequest) -> PageResponse:
    accounts, defaults = parts.list_accounts(), parts.list_defaults()
    services = [
        (provider, name_provider(name), [each for each in accounts if each.provider == name])
        for name, provider in PROVIDERS.items()
    ]
    uses = {each.id: [use for use in defaults if use.account.id == each.id] for each in accounts}
    return PageResponse("access/services.html", {"services": services, "uses": uses})


def show_account(parts: ServiceParts, request: PageRequest, problem: str = "") -> PageResponse:
    account = find_account(parts, request)
    everything = parts.list_accounts()
    values = {
        "account": account,
        "service": name_provider(account.provider),
        "uses": [each for each in parts.list_defaults() if each.account.id == account.id],
        "users": [
            each
            for each in everything
            if account.kind == "app" and each.provider == account.provider and each.details.get("app") == account.name
        ],
        "problem": problem,
    }
    return PageResponse("access/account.html", values, 400 if problem else 200)


def change_account(parts: ServiceParts, request: PageRequest) -> PageResponse:
    account, chosen = find_account(parts, request), request.get_field("do")
    module, namespace = request.get_field("module"), request.get_field("namespace").strip() or "/"
    notice = "saved"
    try:
        if chosen == "test":
            notice = "account_broken" if parts.test(request.owner_caller, account) else "account_works"
        elif chosen == "default":
            parts.set_default(request.owner_caller, account, module, namespace)
        elif chosen == "clear":
            parts.clear_default(request.owner_caller, module, namespace)
    except Refusal as error:
        return show_account(parts, request, error.message)
    return redirect(build_path(request.path, notice=notice))


def ask_disconnect(parts: ServiceParts, request: PageRequest, problem: str = "") -> PageResponse:
    account = find_account(parts, request)
    values = {"account": account, "service": name_provider(account.provider), "problem": problem}
    return PageResponse("access/disconnect.html", values, 409 if problem else 200)


def disconnect(parts: ServiceParts, request: PageRequest) -> PageResponse:
    try:
        revoked = parts.disconnect(request.owner_caller, find_account(parts, request))
    except Refusal as error:
        return ask_disconnect(parts, request, error.message)
    return redirect(build_path(SERVICES, notice="disconnected" if revoked else "disconnected_here"))


def find_account(parts: ServiceParts, request: PageRequest) -> Account:
    for each in parts.list_accounts():
        if each.id == request.names["id"]:
            return each
    raise Missing("This account is no longer connected.")
