"""`/authorize`: a client asks to come in. The person sees which one and where it leads, chooses what it may use, and
decides. The page is never skipped: a stranger may have started the request, also for a client that is known."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from tokonoma.auth.oauth.authorize import RedirectedError, ShownError
from tokonoma.auth.oauth.model import AuthorizationRequest, clean_name
from tokonoma.auth.reaches import intersect
from tokonoma.auth.sessions import WebSession
from tokonoma.core.call import Principal
from tokonoma.core.errors import Invalid
from tokonoma.core.namespaces import format_namespace, resolve_namespace
from tokonoma.core.network import is_loopback
from tokonoma.core.reach import Reach
from tokonoma.server.web.page_parts import PageParts
from tokonoma.server.web.pages.handler import lead_to_sign_in
from tokonoma.server.web.pages.request import PageRequest, PageResponse, redirect, refuse
from tokonoma.server.web.parts import OAuthParts

READ_ONLY = frozenset({"*:write", "*:destroy"})


class ConsentPage:
    def __init__(self, parts: PageParts, oauth: OAuthParts) -> None:
        self._parts, self._oauth = parts, oauth

    def show(self, request: PageRequest) -> PageResponse:
        if request.session is None:  # nothing is fetched for a stranger
            return lead_to_sign_in(request)
        asked = self._check(request)
        return asked if isinstance(asked, PageResponse) else self._build_page(request, request.session, asked)

    def decide(self, request: PageRequest) -> PageResponse:
        asked, session = self._check(request), request.session
        assert session is not None, "the form belongs to a session"
        if isinstance(asked, PageResponse):
            return asked
        decision = request.get_field("decision")
        if decision == "deny":
            return _leave(asked, self._oauth.build_denied_location(asked, request.origin), allowed=False)
        try:
            if decision != "allow":
                raise Invalid("Choose: allow or deny.")
            reach = self._read_choice(request, session.person.principal)
        except Invalid as error:
            return self._build_page(request, session, asked, error.message)
        location = self._oauth.build_code_location(asked, session.person.id, reach, request.origin)
        return _leave(asked, location, allowed=True)

    def _check(self, request: PageRequest) -> AuthorizationRequest | PageResponse:
        """What the client asks for, or the answer to a request that is not right."""
        if not self._oauth.is_offered(request.origin):
            return refuse("Not possible", "Clients cannot sign in to this server at this address.", 404)
        try:
            return self._oauth.check_authorization(request.pairs, request.origin)
        except ShownError as error:
            return refuse("This request is not right", error.message, 400)
        except RedirectedError as error:
            return redirect(error.location)

    def _build_page(
        self, request: PageRequest, session: WebSession, asked: AuthorizationRequest, problem: str = ""
    ) -> PageResponse:
        """The page, or after a mistake the page with what was chosen."""
        principal, sent = session.person.principal, request.form
        modules = self._parts.list_modules(principal)
        values = {
            "client": describe_client(asked),
            "action": f"{request.path}?{request.query}",
            "modules": modules,
            "chosen": set(sent.get("module", []) if sent else [each.name for each in modules]),
            "namespace": request.get_field("namespace") if sent else format_namespace(principal.root, principal),
            "read_only": bool(request.get_field("read_only")),
            "profiles": [each.name for each in self._parts.list_profiles()],
            "profile": request.get_field("profile"),
            "problem": problem,
        }
        return PageResponse("consent.html", values, 400 if problem else 200, redirect_origin=_find_source(asked))

    def _read_choice(self, request: PageRequest, principal: Principal) -> Reach:
        """What the person chose: never more than the person may use. Invalid if nothing would be left."""
        offered = {each.name for each in self._parts.list_modules(principal)}
        return build_choice(
            principal,
            namespace=request.get_field("namespace").strip(),
            modules=None if offered <= set(request.form.get("module", [])) else request.form.get("module", []),
            read_only=bool(request.get_field("read_only")),
            profile=self._find_profile(request.get_field("profile")),
        )

    def _find_profile(self, name: str) -> Reach | None:
        if not name:
            return None
        found = next((each.reach for each in self._parts.list_profiles() if each.name == name), None)
        if found is None:
            raise Invalid("This profile does not exist any more.")
        return found


def build_choice(
    principal: Principal, *, namespace: str, modules: Sequence[str] | None, read_only: bool, profile: Reach | None
) -> Reach:
    """`modules`: None for all, also for those that are added later."""
    if modules is not None and not modules:
        raise Invalid("Choose at least one module.")
    try:
        root = resolve_namespace(namespace or "/", principal)
    except Invalid:
        raise Invalid("This namespace is not one that you may use.") from None
    default = principal.default if root == principal.root else root
    mask = READ_ONLY if read_only else frozenset[str]()
    chosen = Reach(root, default, None if modules is None else frozenset(modules), mask, frozenset({"*"}))
    for other in (principal.reach, profile):
        found = chosen if other is None else intersect(chosen, other)
        if found is None:
            raise Invalid("The profile and the namespace have nothing in common.")
        chosen = found
    return chosen


def describe_client(asked: AuthorizationRequest) -> dict[str, Any]:
    """What the page says of a client. Its name is its own word; where it leads was checked."""
    place = urlsplit(asked.redirect_uri)
    is_web = place.scheme in ("http", "https")
    return {
        "name": clean_name(asked.client_name, asked.client_id[:60]),
        "host": asked.client_host,
        "place": place.netloc if is_web else f"{place.scheme}:",
        "address": asked.redirect_uri.partition("?")[0],
        "is_local": is_web and is_loopback(place.hostname or ""),
        "is_program": not is_web,
    }


def _find_source(asked: AuthorizationRequest) -> str:
    """A Content-Security-Policy has no way to write an IPv6 address; see `_leave`."""
    return "" if "[" in asked.redirect_origin else asked.redirect_origin


def _leave(asked: AuthorizationRequest, location: str, *, allowed: bool) -> PageResponse:
    """Send the browser to the client. Another program opens beside the browser: there, a page says that all is done,
    and its link leads on, too; so it does where the policy of the page cannot name the address."""
    if _find_source(asked).startswith(("http://", "https://")):
        return redirect(location)
    return PageResponse("done.html", {"client": describe_client(asked), "location": location, "allowed": allowed})
