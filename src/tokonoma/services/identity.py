"""Whose token this is, and how it ends: the few requests that accounts themselves need."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import quote, urlsplit

import httpx
import orjson

from tokonoma.core.errors import Unavailable, Unready
from tokonoma.services.address import check_base_url, find_base_url
from tokonoma.services.credentials import AppCredentials, Credentials, build_authorization
from tokonoma.services.http import AnswerIncomplete, AnswerTooLong, open_client, read_body
from tokonoma.services.providers import Provider, get_provider
from tokonoma.services.words import find_words

_SECONDS = 20.0
_MAX_BYTES = 2**20
_MAX_NAME = 200  # characters
_REFUSED = (401, 403)


@dataclass(frozen=True, slots=True)
class Site:
    """One of those that a consent is for."""

    cloud_id: str
    name: str
    url: str


@asynccontextmanager
async def open_http() -> AsyncGenerator[httpx.AsyncClient]:
    """The outgoing client, for a few requests."""
    async with open_client() as http:
        yield http


async def ask_who(http: httpx.AsyncClient, credentials: Credentials) -> str:
    """How the service calls the user of this token; empty if it does not say. Unready with the reason `token_invalid`
    and its words if it refuses the token; Unavailable if it cannot be asked."""
    account = credentials.account
    provider = get_provider(account.provider)
    last = provider.whoami[-1]
    for each in provider.whoami:
        url = find_base_url(provider, each.module, account.kind, account.details) + each.path
        status, value = await _ask_with_token(http, credentials, url)
        if status == 200:
            return _find_text(value, each.field)
        if status != 404 or each is last:
            raise _to_refusal(credentials, status, value)
    raise AssertionError("the last request decides")


async def list_sites(http: httpx.AsyncClient, credentials: Credentials) -> list[Site]:
    """The sites that a consent is for, each once: a site with two products is told twice."""
    url = get_provider(credentials.account.provider).sites_url
    if base := credentials.account.details.get("base_url"):  # it stands for all hosts of the provider
        own = urlsplit(check_base_url(base))
        url = f"{own.scheme}://{own.netloc}{urlsplit(url).path}"
    status, value = await _ask_with_token(http, credentials, url)
    if status != 200 or not isinstance(value, list):
        raise _to_refusal(credentials, status, value)
    found = [cast("dict[str, Any]", each) for each in cast("list[Any]", value) if isinstance(each, dict)]
    sites = [Site(str(each.get("id", "")), str(each.get("name", "")), str(each.get("url", ""))) for each in found]
    return list({site.cloud_id: site for site in sites if site.cloud_id}.values())


async def revoke_tokens(
    http: httpx.AsyncClient, provider: Provider, url: str, app: AppCredentials, secrets: Mapping[str, str]
) -> None:
    """End a consent at its provider. Unavailable if the provider does not do so."""
    access, refresh = secrets.get("access_token", ""), secrets.get("refresh_token", "")
    pair = httpx.BasicAuth(app.client_id, app.client_secret)
    app_fields = {"client_id": app.client_id, "client_secret": app.client_secret}
    sent: dict[str, dict[str, Any]] = {
        "form": {"data": {"token": refresh or access}},
        "json": {"json": {"token": access}, "auth": pair},
        "refresh": {"json": {**app_fields, "refresh_token": refresh}},
        "github": {"json": {"access_token": access}, "auth": pair},
    }
    style = provider.revoke_style
    url = check_base_url(url.replace("{client_id}", quote(app.client_id, safe="")))
    method = "DELETE" if style == "github" else "POST"
    status, value = await _ask(http, provider, method, url, headers=dict(provider.headers), **sent[style])
    if not 200 <= status < 300:
        words = find_words(value, provider.error_text, [*secrets.values(), app.client_secret])
        raise Unavailable(f"{words or 'no reason given'} (status {status})", reason="external", http_status=status)


async def _ask_with_token(http: httpx.AsyncClient, credentials: Credentials, url: str) -> tuple[int, Any]:
    provider = get_provider(credentials.account.provider)
    headers = {**provider.headers, "Authorization": build_authorization(credentials)}
    return await _ask(http, provider, "GET", url, headers=headers)


async def _ask(http: httpx.AsyncClient, provider: Provider, method: str, url: str, **sent: Any) -> tuple[int, Any]:
    """Status and JSON value of one request. Nothing of the text of a failure is repeated."""
    name, place = provider.name, urlsplit(url).netloc
    try:
        async with asyncio.timeout(_SECONDS), http.stream(method, url, **sent) as response:
            return response.status_code, _parse_json(await read_body(response, _MAX_BYTES))
    except TimeoutError:
        message = f"{name} does not answer within {_SECONDS:.0f} seconds (at {place})."
        raise Unavailable(message, reason="timeout", service=name) from None
    except (httpx.HTTPError, httpx.InvalidURL, AnswerIncomplete, AnswerTooLong) as error:
        message = f"{name} cannot be asked at {place} ({type(error).__name__})."
        raise Unavailable(message, reason="external", service=name) from None


def _parse_json(content: bytes) -> Any:
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        return None


def _to_refusal(credentials: Credentials, status: int, value: Any) -> Unready | Unavailable:
    provider = get_provider(credentials.account.provider)
    words = find_words(value, provider.error_text, credentials.list_secrets())
    says = f"{words} (status {status})" if words else f"status {status}"
    if status in _REFUSED:
        return Unready(f"{provider.name} refuses this token: {says}.", reason="token_invalid", service=provider.name)
    message = f"{provider.name} does not say whose token this is: {says}."
    return Unavailable(message, reason="external", http_status=status, service=provider.name)


def _find_text(value: Any, path: str) -> str:
    for step in path.split("."):
        if isinstance(value, list):
            members = cast("list[Any]", value)
            value = members[int(step)] if step.isdigit() and int(step) < len(members) else None
        else:
            value = cast("dict[str, Any]", value).get(step) if isinstance(value, dict) else None
    return value[:_MAX_NAME] if isinstance(value, str) else ""
