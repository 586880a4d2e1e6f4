"""The client of one account: the token, pauses, tries again, and the errors that a caller sees.

A request passes the breaker of its service, then a gate that lets a few through at once. It is sent again only if that
does no harm: a request that changes something only if the service has certainly not taken it.
"""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import httpx
import orjson

from tokonoma.core.clock import now
from tokonoma.core.concurrency import CancelToken
from tokonoma.core.errors import Invalid, Limited, Unavailable, Unready
from tokonoma.core.service import ServiceRequest, ServiceResponse
from tokonoma.services.address import build_url, is_allowed_redirect
from tokonoma.services.breaker import Breaker
from tokonoma.services.credentials import Credentials, advise_connect, build_authorization
from tokonoma.services.http import AnswerIncomplete, AnswerTooLong, OutgoingHttp, read_body
from tokonoma.services.limits import find_pause, is_overloaded, is_refused_for_rate
from tokonoma.services.providers import Provider
from tokonoma.services.refresh import TokenRefresher
from tokonoma.services.retry import Failure, build_refusal, choose_pause, is_repeatable, round_up
from tokonoma.services.timing import Timing
from tokonoma.services.words import find_words

_LONGEST_REST = 3600.0  # seconds that an account is left alone, whatever its service says
_REDIRECTS = (301, 302, 303, 307, 308)
_HEADER = re.compile(r"[\t\x20-\x7e]*")
_OWN_HEADERS = frozenset({"authorization", "host", "cookie", "accept-encoding", "content-length", "transfer-encoding"})


@dataclass(slots=True)
class ServiceState:
    """What all accounts of one service at one host share in this process."""

    breaker: Breaker
    gate: asyncio.Semaphore
    rests: dict[str, float] = field(default_factory=dict[str, float])  # by account: until when it is left alone


class ClientParts(NamedTuple):
    """What all clients of a process share."""

    http: OutgoingHttp
    refresher: TokenRefresher
    timing: Timing


class _Prepared(NamedTuple):
    method: str
    url: str
    headers: httpx.Headers
    content: bytes | None
    redirect_hosts: tuple[str, ...]


class AccountClient:
    """`until`: when the call must have ended, by the clock of `parts.timing`."""

    def __init__(
        self,
        parts: ClientParts,
        state: ServiceState,
        provider: Provider,
        base_url: str,
        credentials: Credentials,
        until: float,
        cancel_token: CancelToken | None = None,
    ) -> None:
        self._parts, self._state, self._provider, self._base = parts, state, provider, base_url
        self._credentials, self._until, self._cancel_token = credentials, until, cancel_token

    @property
    def account(self) -> str:
        return self._credentials.account.name

    @property
    def details(self) -> Mapping[str, Any]:
        return self._credentials.account.details

    async def send(self, request: ServiceRequest) -> ServiceResponse:
        prepared = self._prepare(request)
        safe = is_repeatable(request.method, request.repeatable)
        breaker, works = self._state.breaker, None
        breaker.enter()
        try:
            async with asyncio.timeout(max(0.0, self._left)):
                outcome = await self._try_until_done(prepared, safe)
            works = not (isinstance(outcome, Failure) and outcome.is_outage)
        except TimeoutError:
            works = False
            message = f"{self._provider.name} did not answer in time; the request may have been sent."
            raise Unavailable(message, reason="timeout", service=self._provider.name) from None
        except asyncio.CancelledError:
            works = False if self._cancel_token is not None and self._cancel_token.reason == "timeout" else None
            raise
        finally:
            breaker.leave(works)
        if isinstance(outcome, Failure):
            raise build_refusal(outcome, self._provider.name, safe)
        return outcome

    @property
    def _left(self) -> float:
        return self._until - self._parts.timing.clock()

    def _prepare(self, request: ServiceRequest) -> _Prepared:
        url = build_url(self._base, request.path, request.query)
        if httpx.URL(url).raw_path.partition(b"?")[0].decode() != _get_path(url):
            raise Invalid("The path of a request is not in its final form: quote it.", field="path")
        for name, value in request.headers.items():
            if name.lower() in _OWN_HEADERS or not _HEADER.fullmatch(value):
                raise Invalid(f"The header {name!r} cannot be set, or not to this value.", field="headers")
        headers, content = httpx.Headers(self._provider.headers), request.content
        headers.update(request.headers)
        if content is None and request.body is not None:
            content = orjson.dumps(request.body)
            headers.setdefault("Content-Type", "application/json")
        return _Prepared(request.method, url, headers, content, request.redirect_hosts)

    async def _try_until_done(self, prepared: _Prepared, safe: bool) -> ServiceResponse | Failure:
        timing, tries, unauthorized = self._parts.timing, 0, 0
        while True:
            self._credentials = await self._parts.refresher.prepare(self._credentials)
            async with self._state.gate:
                rest = self._state.rests.get(self._credentials.account.id, 0.0) - timing.clock()
                outcome = await self._send_once(prepared) if rest <= 0 else None
            if outcome is None:
                await self._wait_for_rest(rest)
                continue
            if not isinstance(outcome, Failure):
                return outcome
            if outcome.is_unauthorized:
                unauthorized += 1
                await self._renew(unauthorized)
                continue
            tries += 1
            if outcome.kind in ("limited", "overloaded") and outcome.pause:
                until = timing.clock() + min(outcome.pause, _LONGEST_REST)
                self._state.rests[self._credentials.account.id] = until
            pause = choose_pause(outcome, safe, tries, self._left, timing.jitter())
            if pause is None:
                return outcome
            await timing.sleep(pause)

    async def _wait_for_rest(self, seconds: float) -> None:
        if seconds >= self._left:
            name, wait = self._provider.name, round_up(seconds)
            message = f"{name} has asked to be left alone for a while. Try again in {wait} seconds."
            raise Limited(message, retry_after=wait, service=name)
        await self._parts.timing.sleep(seconds)

    async def _renew(self, refused: int) -> None:
        """After the first refusal, other credentials; after the second the account is broken."""
        held = self._credentials
        if refused == 1:
            self._credentials = await self._parts.refresher.renew(held)
            return
        problem = f"{self._provider.name} refuses its credentials (status 401)."
        await self._parts.refresher.mark_broken(held, problem)
        message = f"The {held.account.describe()} does not work: {problem} {advise_connect(held.account)}"
        raise Unready(message, reason="token_invalid", account=held.account.name, http_status=401)

    async def _send_once(self, prepared: _Prepared) -> ServiceResponse | Failure:
        headers = prepared.headers.copy()
        headers["Authorization"] = build_authorization(self._credentials)
        try:
            found = await self._ask(prepared.method, prepared.url, headers, prepared.content)
            if isinstance(found, Failure) or found.status not in _REDIRECTS:
                return found
            target = str(httpx.URL(prepared.url).join(found.headers.get("location", "")))
            if prepared.method != "GET" or not is_allowed_redirect(self._base, target, prepared.redirect_hosts):
                return Failure("redirect", found.status)
            found = await self._ask("GET", target, {}, None)  # without the token
            if isinstance(found, Failure) and found.status < 500 and found.kind == "status":
                return Failure("redirect", found.status)
            return Failure("redirect", found.status) if found.status in _REDIRECTS else found
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout):
            return Failure("unsent")
        except (httpx.TransportError, AnswerIncomplete):
            return Failure("interrupted")
        except AnswerTooLong:
            return Failure("too_long")
        except httpx.InvalidURL:
            return Failure("redirect", 302)

    async def _ask(
        self, method: str, url: str, headers: Mapping[str, str], content: bytes | None
    ) -> ServiceResponse | Failure:
        """One request, one answer. A redirect is an answer here."""
        client = self._parts.http.get()
        async with client.stream(method, url, headers=headers, content=content) as response:
            status = response.status_code
            found = {name: value for name, value in response.headers.items() if name != "set-cookie"}
            if status in _REDIRECTS:
                return ServiceResponse(status, found, b"")
            body = await read_body(response)
        value, readable = _parse_json(found, body)
        if 200 <= status < 300:
            return ServiceResponse(status, found, body, value) if readable else Failure("unreadable")
        return self._explain(status, found, value)

    def _explain(self, status: int, headers: Mapping[str, str], value: Any) -> Failure:
        dialect, pause = self._provider.limits.dialect, find_pause(status, headers, now())
        words = find_words(value, self._provider.error_text, self._credentials.list_secrets())
        if is_refused_for_rate(dialect, status, headers, value):
            return Failure("limited", status, pause, words)
        if is_overloaded(dialect, status):
            return Failure("overloaded", status, pause, words)
        return Failure("status", status, pause, words)


def _get_path(url: str) -> str:
    return "/" + url.partition("://")[2].partition("/")[2].partition("?")[0]


def _parse_json(headers: Mapping[str, str], body: bytes) -> tuple[Any, bool]:
    """The value, and whether the body can be read: what is said to be JSON must be."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if not body or not (kind == "application/json" or kind.endswith("+json")):
        return None, True
    try:
        return orjson.loads(body), True
    except orjson.JSONDecodeError:
        return None, False
