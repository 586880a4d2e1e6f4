"""Joins OAuth and the pages with the rest of the server. Imported with the first request for one of them."""

from functools import cache, partial
from typing import TYPE_CHECKING, Any

from tokonoma.app.pages import build_page_parts
from tokonoma.server.web.app import build_web
from tokonoma.server.web.parts import OAuthParts, WebParts

if TYPE_CHECKING:
    from tokonoma.app import App
    from tokonoma.server.http.asgi import AsgiApp


def build_web_app(app: "App") -> "AsgiApp":
    return build_web(build_web_parts(app))


def build_web_parts(app: "App") -> WebParts:
    return WebParts(oauth=_delay_oauth(app), pages=build_page_parts(app))


def _delay_oauth(app: "App") -> OAuthParts:
    """The authorization server, opened with its first request: its cryptography takes 16 MB, and pages need none of
    it."""

    @cache
    def open_parts() -> OAuthParts:
        from tokonoma.app.oauth import build_oauth_parts

        return build_oauth_parts(app)

    def call(name: str, *given: Any) -> Any:
        return getattr(open_parts(), name)(*given)

    return OAuthParts(
        is_offered=app.authenticator.offers_oauth,
        check_authorization=partial(call, "check_authorization"),
        build_code_location=partial(call, "build_code_location"),
        build_denied_location=partial(call, "build_denied_location"),
        describe=partial(call, "describe"),
        list_keys=partial(call, "list_keys"),
        register=partial(call, "register"),
        exchange=partial(call, "exchange"),
        revoke=partial(call, "revoke"),
    )
