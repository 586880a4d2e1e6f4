"""Joins OAuth and the pages with the rest of the server. Imported with the first request for one of them."""

from typing import TYPE_CHECKING

from tokonoma.app.oauth import build_oauth_parts
from tokonoma.app.pages import build_page_parts
from tokonoma.server.web.app import build_web
from tokonoma.server.web.parts import WebParts

if TYPE_CHECKING:
    from tokonoma.app import App
    from tokonoma.server.http.asgi import AsgiApp


def build_web_app(app: "App") -> "AsgiApp":
    return build_web(build_web_parts(app))


def build_web_parts(app: "App") -> WebParts:
    return WebParts(oauth=build_oauth_parts(app), pages=build_page_parts(app))
