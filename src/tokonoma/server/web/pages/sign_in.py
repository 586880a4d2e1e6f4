"""`/sign-in` and `/sign-out`: by password, or by a one-time link that is used only when its person agrees."""

from dataclasses import replace

from tokonoma.auth.sessions import check_path
from tokonoma.core.errors import Expired, Invalid, Limited, Unauthenticated, format_refusal
from tokonoma.server.web.page_parts import PageParts
from tokonoma.server.web.pages.menu import HOME
from tokonoma.server.web.pages.request import PageRequest, PageResponse, redirect, refuse
from tokonoma.server.web.pages.security import build_cookie

PATH = "/sign-in"
_MAX_PATH = 8_000  # characters of the page to go to afterwards


def show_sign_in(parts: PageParts, request: PageRequest) -> PageResponse:
    secret = request.get_parameter("link")
    if secret:
        ticket = parts.find_ticket(secret)
        if ticket is None:
            return _refuse_link()
        return PageResponse("link.html", {"person": ticket.person, "link": secret})
    then = _read_path(request.get_parameter("then"))
    if request.session is not None:
        return redirect(then)
    return _show_form(then, signed_out="signed-out" in dict(request.pairs))


def sign_in(parts: PageParts, request: PageRequest) -> PageResponse:
    if secret := request.get_field("link"):
        try:
            token, leads_to = parts.use_ticket(secret, request.visitor)
        except Expired as error:
            parts.record_refusal(request.caller, format_refusal(error), PATH)
            return _refuse_link()
        return _enter(parts, request, token, leads_to)
    then, name = _read_path(request.get_field("then")), request.get_field("name").strip()
    try:
        token = parts.check_password(name, request.get_field("password"), request.visitor)
    except Unauthenticated as error:
        parts.record_refusal(request.caller, format_refusal(error), PATH)
        problem = "This name and this password do not belong together."
        return replace(_show_form(then, name=name, problem=problem), status=401)
    except Limited as error:
        parts.record_refusal(request.caller, format_refusal(error), PATH)
        page = _show_form(then, name=name, problem="Too many tries. Wait a minute, then try again.")
        return replace(page, status=429, headers=[(b"retry-after", b"%d" % error.details["retry_after"])])
    return _enter(parts, request, token, then)


def sign_out(parts: PageParts, request: PageRequest) -> PageResponse:
    """This browser; with `others` all but this one."""
    assert request.session is not None, "the form belongs to a session"
    if request.get_field("others"):
        parts.end_other_sessions(request.session)
        return redirect(HOME)
    parts.end_session(request.session)
    return redirect(f"{PATH}?signed-out", build_cookie(request.origin, "", 0))


def _enter(parts: PageParts, request: PageRequest, token: str, path: str) -> PageResponse:
    if request.session is not None:
        parts.end_session(request.session)  # the browser forgets it with the new cookie
    return redirect(path, build_cookie(request.origin, token, parts.session_days))


def _show_form(then: str, *, name: str = "", problem: str = "", signed_out: bool = False) -> PageResponse:
    values = {"then": then, "name": name[:100], "problem": problem, "signed_out": signed_out}
    return PageResponse("sign_in.html", values)


def _refuse_link() -> PageResponse:
    text = "A link can be used once, within five minutes. Make a new one with tokonoma open."
    return refuse("This link is not good any more", text, 400)


def _read_path(text: str) -> str:
    """Where to go afterwards: only ever a page of ours."""
    try:
        return check_path(text) if text and len(text) <= _MAX_PATH and text.isascii() else HOME
    except Invalid:
        return HOME
