"""`/admin/services/connect/…`: an account by a pasted token, or through the owner's own OAuth app."""

from functools import partial
from typing import Any

from starlette.routing import BaseRoute, Route

from tokonoma.core.errors import Invalid, Refusal
from tokonoma.core.namespaces import normalize_namespace
from tokonoma.server.web.access_parts import ServiceParts
from tokonoma.server.web.page_parts import PageParts
from tokonoma.server.web.pages.access.service_names import SERVICES, name_provider
from tokonoma.server.web.pages.handler import PageHandler
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path, redirect
from tokonoma.services.connecting import URL_DETAILS, ConnectChoices, check_secret, read_urls
from tokonoma.services.credentials import AppCredentials
from tokonoma.services.providers import Provider, get_provider
from tokonoma.services.sign_in import CALLBACK_PATH

CONNECT, CONSENT = f"{SERVICES}/connect", f"{SERVICES}/consent"
_TYPED = ("account", "namespace", "site", "email", "app", "client_id", "scopes", *URL_DETAILS)


def list_routes(pages: PageParts) -> list[BaseRoute]:
    parts = pages.access.services
    show, take = partial(show_connect, parts), partial(connect, parts)
    look, finish = partial(show_consent, parts), partial(finish_consent, parts)
    return [
        Route(f"{CONNECT}/{{provider}}", PageHandler(pages, show, take, owner_only=True)),
        Route(CONSENT, PageHandler(pages, look, finish, owner_only=True)),
    ]


def show_connect(parts: ServiceParts, request: PageRequest, problem: str = "", **more: Any) -> PageResponse:
    provider = get_provider(request.names["provider"])
    typed = {name: request.get_field(name) for name in _TYPED}
    if not request.form:
        typed |= {"account": "main", "namespace": "/", "app": "app"}
    apps = [each for each in parts.list_accounts() if each.provider == provider.name and each.kind == "app"]
    values = {
        "provider": provider,
        "service": name_provider(provider.name),
        "needs_site": provider.token_header == "Basic",  # noqa: S105 - a scheme
        "apps": apps,
        "scopes": ConnectChoices("").list_scopes(provider),
        "callback": request.origin + CALLBACK_PATH,
        "typed": typed,
        "consent_url": "",
        "problem": problem,
        **more,
    }
    return PageResponse("access/connect.html", values, 400 if problem else 200)


def connect(parts: ServiceParts, request: PageRequest) -> PageResponse:
    provider, caller = get_provider(request.names["provider"]), request.owner_caller
    chosen = request.get_field("do")
    try:
        choices = _read_choices(request)
        if chosen == "token":
            token = check_secret(request.get_field("secret"), "Token")
            account = parts.connect_by_token(caller, _require_pastes(provider), choices, token)
            return redirect(build_path(f"{SERVICES}/accounts/{account.id}", notice="connected"))
        if chosen == "app":
            credentials = AppCredentials(
                check_secret(request.get_field("client_id"), "Client id"),
                check_secret(request.get_field("secret"), "Client secret"),
            )
            parts.register_app(caller, provider, choices, credentials)
            return redirect(build_path(request.path, notice="saved"))
        assert request.session is not None, "the page is for the owner"
        url = parts.begin_consent(request.session, provider, choices, request.origin)
    except Refusal as error:
        return show_connect(parts, request, error.message)
    return show_connect(parts, request, consent_url=url)


def show_consent(parts: ServiceParts, request: PageRequest, problem: str = "") -> PageResponse:
    state = request.get_parameter("state") or request.get_field("state")
    values: dict[str, Any] = {"state": state, "problem": problem, "consent": None, "service": ""}
    if not problem:
        assert request.session is not None, "the page is for the owner"
        consent = parts.find_consent(request.session, state)
        values |= {"consent": consent, "service": name_provider(consent.provider)}
    return PageResponse("access/consent.html", values, 400 if problem else 200)


def finish_consent(parts: ServiceParts, request: PageRequest) -> PageResponse:
    assert request.session is not None, "the page is for the owner"
    try:
        account = parts.finish_consent(request.owner_caller, request.session, request.get_field("state"))
    except Refusal as error:
        return show_consent(parts, request, error.message)
    return redirect(build_path(f"{SERVICES}/accounts/{account.id}", notice="connected"))


def _read_choices(request: PageRequest) -> ConnectChoices:
    get = request.get_field
    return ConnectChoices(
        account=get("account").strip() or "main",
        namespace=normalize_namespace(get("namespace").strip() or "/"),
        urls=read_urls({name: get(name).strip() for name in URL_DETAILS}),
        site=get("site").strip() or None,
        email=get("email").strip() or None,
        app=get("app").strip() or "app",
        scopes=tuple(get("scopes").split()),
    )


def _require_pastes(provider: Provider) -> Provider:
    if not provider.pastes:
        raise Invalid("This service has no tokens to paste. Use an OAuth app of your own.")
    return provider
