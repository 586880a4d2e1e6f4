"""Language and appearance as a person has chosen them in this browser. They are kept in a cookie, since they belong to
the browser and must also hold before signing in."""

from tokonoma.server.http.security import Headers
from tokonoma.server.web.page_parts import Language
from tokonoma.server.web.pages.request import PageRequest, PageResponse, redirect

PATH = "/admin/look"
COOKIE = "tokonoma-look"
_THEMES = ("light", "dark")
_YEAR = 365 * 86_400


def read_look(headers: Headers) -> tuple[Language | None, str]:
    """The language and the theme; None and empty where the browser decides."""
    for part in headers.get(b"cookie", b"").decode("latin-1").split(";"):
        name, _, value = part.strip().partition("=")
        if name == COOKIE:
            language, _, theme = value.partition("-")
            return _check_language(language), theme if theme in _THEMES else ""
    return None, ""


def change_look(request: PageRequest) -> PageResponse:
    language, theme = _check_language(request.get_field("language")), request.get_field("theme")
    value = f"{language or 'auto'}-{theme if theme in _THEMES else 'auto'}"
    secure = "; Secure" if request.origin.startswith("https:") else ""
    cookie = f"{COOKIE}={value}; Path=/; Max-Age={_YEAR}; HttpOnly; SameSite=Lax{secure}"
    back = request.get_field("back")
    # Only a path of ours: the browser would follow `//host` to another site.
    location = back if back.startswith("/admin/") and back.isascii() and "\\" not in back else "/admin/"
    return redirect(location, (b"set-cookie", cookie.encode("ascii")))


def _check_language(text: str) -> Language | None:
    return "ja" if text == "ja" else "en" if text == "en" else None
