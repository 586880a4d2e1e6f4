"""From a request to a page: language, session, the checks of a POST, and a function per page that runs in a thread."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qsl

from tokonoma.auth.sessions import Visitor, WebSession
from tokonoma.core.call import Caller
from tokonoma.core.errors import Refusal
from tokonoma.server.http.asgi import CALLER, HEADERS, ORIGIN, Event, HttpResponse, Receive, Send
from tokonoma.server.http.security import CLOSE, HeaderList, Headers, HttpError
from tokonoma.server.mcp import message as rpc
from tokonoma.server.web.page_parts import Language, PageParts
from tokonoma.server.web.pages.render import render_page
from tokonoma.server.web.pages.security import build_headers, find_foreign, is_own_form, read_cookie
from tokonoma.server.web.pages.words import choose_page_language

_MAX_BODY = 64 * 1024  # bytes of a form
_MAX_FIELDS = 500
_BODY_SECONDS = 30.0
_FORM = b"application/x-www-form-urlencoded"

Form = dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class PageRequest:
    method: str
    path: str
    query: str
    pairs: list[tuple[str, str]]  # of the query
    form: Form  # of a POST
    headers: Headers
    caller: Caller
    origin: str
    language: Language
    session: WebSession | None

    @property
    def visitor(self) -> Visitor:
        return Visitor(self.caller.remote, self.caller.client)

    def get_field(self, name: str) -> str:
        """A field of the form that is there once; else empty."""
        sent = self.form.get(name, [])
        return sent[0] if len(sent) == 1 else ""

    def get_parameter(self, name: str) -> str:
        """The same of the query."""
        sent = [value for each, value in self.pairs if each == name]
        return sent[0] if len(sent) == 1 else ""


@dataclass(frozen=True, slots=True)
class PageResponse:
    """A template with its values, or with `location` a redirect."""

    template: str = ""
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    status: int = 200
    location: str = ""
    headers: HeaderList = field(default_factory=list[tuple[bytes, bytes]])
    redirect_origin: str = ""  # where a form of the page may lead, besides to us


Respond = Callable[[PageRequest], PageResponse]


def redirect(location: str, *headers: tuple[bytes, bytes]) -> PageResponse:
    return PageResponse(status=303, location=location, headers=list(headers))


def refuse(title: str, text: str, status: int) -> PageResponse:
    """A page that says what went wrong, in words of the table."""
    return PageResponse("message.html", {"title": title, "text": text}, status)


class PageHandler:
    """One path. `post` runs only for requests of our own pages; with `form_needs_session` (all but signing in) also
    only with a session, from a form that was made for it."""

    def __init__(
        self, parts: PageParts, get: Respond | None, post: Respond | None = None, *, form_needs_session: bool = True
    ) -> None:
        self._parts, self._get, self._post, self._form_needs_session = parts, get, post, form_needs_session

    async def __call__(self, scope: Event, receive: Receive, send: Send) -> None:
        form: Form = {}
        if scope["method"] == "POST":
            # Before the body is read, which may be large and slow.
            why = find_foreign(scope[HEADERS], scope[ORIGIN])
            form = {} if why else await _read_form(scope[HEADERS], receive)
        else:
            why = ""
        response = await asyncio.to_thread(self._answer, scope, form, why)
        await response.send(send)

    def _answer(self, scope: Event, form: Form, why: str) -> HttpResponse:
        request = build_request(scope, form, self._parts)
        try:
            page = self._respond(request, why)
        except Refusal as error:
            rpc.log_fault(error, request.path)
            page = refuse("Not possible now", "The server cannot answer now. Try again in a minute.", 503)
        return build_response(request, page)

    def _respond(self, request: PageRequest, why: str) -> PageResponse:
        if request.method in ("GET", "HEAD") and self._get is not None:
            return self._get(request)
        if request.method not in ("GET", "HEAD", "POST") or self._post is None:
            page = refuse("Not possible", "This page cannot be asked for in this way.", 405)
            return replace(page, headers=[(b"allow", b"GET, HEAD")])
        if request.method != "POST":  # a link or an image must not do what a button does
            return refuse("Not possible", "This page cannot be asked for in this way.", 403)
        if not why and self._form_needs_session:
            signed_in = request.session is not None and is_own_form(request.session, request.form)
            why = "" if signed_in else "denied.form"
        if why:
            self._parts.record_refusal(request.caller, why, request.path)
            return refuse("Not possible", "This form does not come from a page of yours. Open the page again.", 403)
        return self._post(request)


def build_request(scope: Event, form: Form, parts: PageParts) -> PageRequest:
    headers: Headers = scope[HEADERS]
    query = scope["query_string"].decode("latin-1")
    pairs = parse_qsl(query, keep_blank_values=True, errors="replace")
    token = read_cookie(headers, scope[ORIGIN])
    asked = dict(pairs).get("ui_locales", "")  # an OAuth client knows the language of its person
    accepted = headers.get(b"accept-language", b"").decode("latin-1")
    return PageRequest(
        method=scope["method"],
        path=scope["path"],
        query=query,
        pairs=pairs,
        form=form,
        headers=headers,
        caller=scope[CALLER],
        origin=scope[ORIGIN],
        language=choose_page_language(asked.replace(" ", ","), accepted, parts.language),
        session=parts.find_session(token) if token else None,
    )


def build_response(request: PageRequest, page: PageResponse) -> HttpResponse:
    headers = [*build_headers(page.redirect_origin), (b"vary", b"cookie, accept-language"), *page.headers]
    if page.location:
        headers.append((b"location", page.location.encode("ascii", "ignore")))
        return HttpResponse(page.status, b"", headers, b"text/plain; charset=utf-8")
    values = {"session": request.session, **page.values}
    content = render_page(page.template, request.language, values)
    return HttpResponse(page.status, content, headers, b"text/html; charset=utf-8")


async def _read_form(headers: Headers, receive: Receive) -> Form:
    if headers.get(b"content-type", _FORM).partition(b";")[0].strip().lower() != _FORM:
        raise HttpError(415, "Send a form.")
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            body = await _read_body(receive)
    except TimeoutError:
        raise HttpError(408, "The form did not arrive in time.", CLOSE) from None
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=_MAX_FIELDS, errors="replace")
    except ValueError:
        raise HttpError(400, "This is not a form.") from None
    form: Form = {}
    for name, value in pairs:
        form.setdefault(name, []).append(value)
    return form


async def _read_body(receive: Receive) -> bytes:
    body, more = b"", True
    while more:
        event = await receive()
        body += event.get("body", b"")
        more = event["type"] == "http.request" and event.get("more_body", False)
        if len(body) > _MAX_BODY:
            raise HttpError(413, "This form is too large.", CLOSE)
    return body
