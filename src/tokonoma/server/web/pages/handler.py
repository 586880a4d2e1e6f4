"""From an HTTP request to a page and back: session, language, the checks of a POST, problems, downloads. The function
of the page runs in a thread, because it asks the store."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote

import orjson

from tokonoma.core.errors import Refusal
from tokonoma.server.http.asgi import CALLER, HEADERS, ORIGIN, Event, HttpResponse, Receive, Send
from tokonoma.server.http.security import CLOSE, HeaderList, Headers, HttpError
from tokonoma.server.mcp import message as rpc
from tokonoma.server.web.page_parts import PageParts
from tokonoma.server.web.pages.look import read_look
from tokonoma.server.web.pages.menu import build_menu, find_page
from tokonoma.server.web.pages.render import render_page
from tokonoma.server.web.pages.request import Download, Form, PageRequest, PageResponse, Respond, refuse
from tokonoma.server.web.pages.security import build_headers, find_foreign, is_own_form, read_cookie
from tokonoma.server.web.pages.words import NOTICES, choose_page_language

_MAX_BODY = 64 * 1024  # bytes of a form that anybody can send
_MAX_SIGNED_IN_BODY = 8 * 2**20  # a whole note or file, percent-encoded
_MAX_FIELDS = 2_000
_BODY_SECONDS = 30.0
_CHUNK = 256 * 1024  # bytes of a file that are sent at once
_FORM = b"application/x-www-form-urlencoded"

PROBLEMS: Mapping[str, tuple[str, int]] = {
    "invalid": ("This cannot be done like this", 400),
    "denied": ("Not allowed", 403),
    "missing": ("This is not there", 404),
    "expired": ("This is not there", 410),
    "conflict": ("Changed in the meantime", 409),
    "limited": ("Too many requests", 429),
}
"""Kind of a refusal → what the page is called, and its status"""


class PageHandler:
    """One path. `post` runs only for requests of our own pages; with `form_needs_session` (all but signing in) also
    only with a session, from a form that was made for it. `needs_session`: without one, the page leads to sign-in.
    `owner_only`: other people are refused."""

    def __init__(
        self,
        parts: PageParts,
        get: Respond | None,
        post: Respond | None = None,
        *,
        form_needs_session: bool = True,
        needs_session: bool = False,
        owner_only: bool = False,
    ) -> None:
        self._parts, self._get, self._post, self._form_needs_session = parts, get, post, form_needs_session
        self._needs_session, self._owner_only = needs_session or owner_only, owner_only

    @property
    def takes_forms(self) -> bool:
        return self._post is not None

    async def __call__(self, scope: Event, receive: Receive, send: Send) -> None:
        form: Form = {}
        why = ""
        if scope["method"] == "POST":
            # Before the body is read, which may be large and slow.
            why = find_foreign(scope[HEADERS], scope[ORIGIN])
            limit = _MAX_SIGNED_IN_BODY if self._needs_session else _MAX_BODY
            form = {} if why else await _read_form(scope[HEADERS], receive, limit)
        request, page = await asyncio.to_thread(self._answer, scope, form, why)
        if page.download is not None:
            await _send_download(page.download, send)
            return
        await (await asyncio.to_thread(self._build_response, request, page)).send(send)

    def _answer(self, scope: Event, form: Form, why: str) -> tuple[PageRequest, PageResponse]:
        request = build_request(scope, form, self._parts)
        try:
            return request, self._respond(request, why)
        except Refusal as error:
            return request, show_problem(error, request.path)
        except Exception as error:  # a fault of ours: its text stays in the log
            rpc.log_fault(error, request.path)
            return request, refuse("Not possible now", "The server made a mistake. Its log has details.", 500)

    def _respond(self, request: PageRequest, why: str) -> PageResponse:
        if request.method not in ("GET", "HEAD", "POST"):
            return _refuse_method(405)
        if request.method == "POST":
            return self._take_form(request, why)
        if self._get is None:  # a link or an image must not do what a button does
            return _refuse_method(403)
        if self._needs_session and request.session is None:
            return lead_to_sign_in(request)
        return self._open(self._get, request)

    def _take_form(self, request: PageRequest, why: str) -> PageResponse:
        if self._post is None:
            return _refuse_method(405)
        if not why and self._form_needs_session:
            signed_in = request.session is not None and is_own_form(request.session, request.form)
            why = "" if signed_in else "denied.form"
        if why:
            self._parts.record_refusal(request.caller, why, request.path)
            return refuse("Not possible", "This form does not come from a page of yours. Open the page again.", 403)
        return self._open(self._post, request)

    def _open(self, respond: Respond, request: PageRequest) -> PageResponse:
        if self._owner_only and (request.session is None or not request.session.person.is_owner):
            return refuse("Not allowed", "Only the owner can open this page.", 403)
        return respond(request)

    def _build_response(self, request: PageRequest, page: PageResponse) -> HttpResponse:
        return build_response(request, page, self._parts)


def lead_to_sign_in(request: PageRequest) -> PageResponse:
    """For a page that needs a session: sign in, and back to it."""
    then = request.path + (f"?{request.query}" if request.query else "")
    location = "/sign-in" if then in ("/", "/admin/") else f"/sign-in?then={quote(then, safe='')}"
    return PageResponse(status=303, location=location)


def show_problem(error: Refusal, path: str) -> PageResponse:
    """What a refused call says, as a page. Its message is in English, as the tool wrote it."""
    if error.kind not in PROBLEMS:
        rpc.log_fault(error, path)
        return refuse("Not possible now", "The server cannot answer now. Try again in a minute.", 503)
    title, status = PROBLEMS[error.kind]
    return PageResponse("problem.html", {"title": title, "kind": error.kind, "message": error.message}, status)


def build_request(scope: Event, form: Form, parts: PageParts) -> PageRequest:
    headers: Headers = scope[HEADERS]
    query = scope["query_string"].decode("latin-1")
    pairs = parse_qsl(query, keep_blank_values=True, errors="replace")
    token = read_cookie(headers, scope[ORIGIN])
    asked = dict(pairs).get("ui_locales", "")  # an OAuth client knows the language of its person
    accepted = headers.get(b"accept-language", b"").decode("latin-1")
    language, theme = read_look(headers)
    return PageRequest(
        method=scope["method"],
        path=scope["path"],
        query=query,
        pairs=pairs,
        form=form,
        headers=headers,
        caller=scope[CALLER],
        origin=scope[ORIGIN],
        language=language or choose_page_language(asked.replace(" ", ","), accepted, parts.language),
        theme=theme,
        session=parts.find_session(token) if token else None,
        names=scope.get("path_params", {}),
        run_tool=parts.run_tool,
    )


def build_response(request: PageRequest, page: PageResponse, parts: PageParts) -> HttpResponse:
    # Pages for people who are signed in use scripts of ours; signing in and consent need none.
    scripts = request.session is not None and not page.redirect_origin
    headers = [*build_headers(page.redirect_origin, scripts=scripts), (b"vary", b"cookie, accept-language")]
    headers += page.headers
    if page.location:
        headers.append((b"location", page.location.encode("ascii", "ignore")))
        return HttpResponse(page.status, b"", headers, b"text/plain; charset=utf-8")
    if page.data is not None:
        return HttpResponse(page.status, orjson.dumps(page.data), headers, b"application/json")
    values: dict[str, Any] = {
        "session": request.session,
        "path": request.path,
        "theme": request.theme,
        "scripts": scripts,
        "menu": [],
        "current": find_page(request.path),
        "notice": NOTICES.get(request.get_parameter("notice"), ""),
    }
    if scripts and request.session is not None:
        person = request.session.person
        modules = {module.name for module in parts.list_modules(person.principal)}
        values |= {"menu": build_menu(person, modules)}
    content = render_page(page.template, request.language, {**values, **page.values})
    return HttpResponse(page.status, content, headers, b"text/html; charset=utf-8")


def _refuse_method(status: int) -> PageResponse:
    page = refuse("Not possible", "This page cannot be asked for in this way.", status)
    return replace(page, headers=[(b"allow", b"GET, HEAD")]) if status == 405 else page


async def _read_form(headers: Headers, receive: Receive, limit: int) -> Form:
    if headers.get(b"content-type", _FORM).partition(b";")[0].strip().lower() != _FORM:
        raise HttpError(415, "Send a form.")
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            body = await _read_body(receive, limit)
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


async def _read_body(receive: Receive, limit: int) -> bytes:
    body, more = b"", True
    while more:
        event = await receive()
        body += event.get("body", b"")
        more = event["type"] == "http.request" and event.get("more_body", False)
        if len(body) > limit:
            raise HttpError(413, "This form is too large.", CLOSE)
    return body


async def _send_download(download: Download, send: Send) -> None:
    headers: HeaderList = [
        *build_headers(),
        (b"content-type", b"application/octet-stream"),
        (b"content-disposition", f"attachment; filename*=UTF-8''{quote(download.name, safe='')}".encode("ascii")),
    ]
    if isinstance(download.content, bytes):
        await HttpResponse(200, download.content, headers[:-2] + headers[-1:], b"application/octet-stream").send(send)
        return
    await _send_file(download.content, headers, send)


async def _send_file(path: Path, headers: HeaderList, send: Send) -> None:
    """In pieces: a backup may be larger than the memory."""
    with path.open("rb") as file:
        size = path.stat().st_size
        length = (b"content-length", b"%d" % size)
        await send({"type": "http.response.start", "status": 200, "headers": [*headers, length]})
        while size > 0:
            piece = await asyncio.to_thread(file.read, min(_CHUNK, size))
            if not piece:
                break
            size -= len(piece)
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
