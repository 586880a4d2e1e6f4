"""Asking a provider's token endpoint: for a code after consent, or for a refresh token."""

import asyncio
import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import quote_plus

import httpx
import orjson

from tokonoma.core.clock import now
from tokonoma.core.errors import Refusal, Unavailable, Unready
from tokonoma.services.address import check_base_url
from tokonoma.services.credentials import AppCredentials
from tokonoma.services.http import AnswerIncomplete, AnswerTooLong, read_body
from tokonoma.services.providers import Provider

ASK_SECONDS = 20.0
"""Shorter than the lease of an account: whoever asks has stored the answer, or given up, before another may ask."""

_LATER = "Try again later."
_MAX_BYTES = 2**18
_MAX_LIFETIME = 10 * 365 * 86_400  # seconds
_ERROR = re.compile(r"[a-z_]{1,64}")
# What providers call a grant that is over: RFC 6749, GitHub (with a status of 200), Atlassian, Microsoft.
_OVER = frozenset({"invalid_grant", "bad_refresh_token", "unauthorized_client", "interaction_required"})


@dataclass(frozen=True, slots=True)
class TokenSet:
    access_token: str = field(repr=False)
    refresh_token: str | None = field(default=None, repr=False)
    expires_at: int | None = None  # in milliseconds
    scopes: tuple[str, ...] = ()


async def ask_token(
    http: httpx.AsyncClient, provider: Provider, token_url: str, app: AppCredentials, grant: Mapping[str, str]
) -> TokenSet:
    """What the provider gives for a grant. Unready with the reason `token_expired` if the grant is over. Of a failed
    answer only its status and its code are repeated: the rest may hold what was sent."""
    try:
        async with asyncio.timeout(ASK_SECONDS):
            status, value = await _post(http, provider, check_base_url(token_url), app, grant)
    except TimeoutError:
        raise _fail(provider, "did not answer in time") from None
    except httpx.HTTPError:
        raise _fail(provider, "cannot be reached, or broke the connection") from None
    except (AnswerIncomplete, AnswerTooLong, ValueError):
        raise _fail(provider, "gave an answer that cannot be read") from None
    code = value.get("error")
    if code is not None or status != 200:
        raise _explain_refusal(provider, status, code)
    return _parse_tokens(provider, value)


async def _post(
    http: httpx.AsyncClient, provider: Provider, url: str, app: AppCredentials, grant: Mapping[str, str]
) -> tuple[int, Mapping[str, Any]]:
    body, headers = dict(grant), {**provider.headers, "Accept": "application/json"}
    if provider.client_auth == "basic" and app.client_secret:
        pair = f"{quote_plus(app.client_id)}:{quote_plus(app.client_secret)}"
        headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    else:
        body["client_id"] = app.client_id
        if app.client_secret:
            body["client_secret"] = app.client_secret
    is_json = "json" in (provider.token_body, provider.client_auth)
    sent: dict[str, Any] = {"json": body} if is_json else {"data": body}
    async with http.stream("POST", url, headers=headers, **sent) as response:
        value: Any = orjson.loads(await read_body(response, _MAX_BYTES))
        if not isinstance(value, dict):
            raise ValueError("not an object")
        return response.status_code, cast("Mapping[str, Any]", value)


def _explain_refusal(provider: Provider, status: int, code: Any) -> Refusal:
    name = code if isinstance(code, str) and _ERROR.fullmatch(code) else ""
    if name in _OVER and status < 500:
        return Unready(f"{provider.name} does not accept this grant any more ({name}).", reason="token_expired")
    advice = "Check the id and the secret of the app." if name == "invalid_client" else _LATER
    return _fail(provider, f"refused to give a token ({name or f'status {status}'})", advice, status)


def _fail(provider: Provider, what: str, advice: str = _LATER, status: int = 0) -> Unavailable:
    known = {"http_status": status} if status else {}
    message = f"The token endpoint of {provider.name} {what}. {advice}"
    return Unavailable(message, reason="external", service=provider.name, **known)


def _parse_tokens(provider: Provider, value: Mapping[str, Any]) -> TokenSet:
    access, refresh, seconds = value.get("access_token"), value.get("refresh_token"), value.get("expires_in")
    if not isinstance(access, str) or not access:
        raise _fail(provider, "gave an answer without a token")
    expires_at = None
    if isinstance(seconds, int | float | str):
        try:
            expires_at = now() + int(min(max(float(seconds), 0.0), _MAX_LIFETIME) * 1000)
        except (ValueError, OverflowError):
            expires_at = None
    scope = value.get("scope")
    scopes = tuple(re.split(r"[ ,]+", scope.strip())) if isinstance(scope, str) and scope.strip() else ()
    return TokenSet(access, refresh if isinstance(refresh, str) and refresh else None, expires_at, scopes)
