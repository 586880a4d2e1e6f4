"""What protects pages: response headers, cookies, and the checks of every POST."""

import hmac

from tokonoma.auth.sessions import WebSession
from tokonoma.server.http.security import HeaderList, Headers

_POLICY = (
    "default-src 'none'; {scripts}style-src 'self'; img-src 'self'; form-action {forms}; "
    "frame-ancestors 'none'; base-uri 'none'"
)


def build_headers(redirect_origin: str = "", *, scripts: bool = False) -> HeaderList:
    """`scripts`: the page loads our own, and they ask this server.

    `redirect_origin`: where the answer to a form of this page may lead the browser, besides to us. A policy also
    binds the redirect that follows a form, and would keep the browser from a client."""
    forms = f"'self' {redirect_origin}".rstrip()
    allowed = "script-src 'self'; connect-src 'self'; " if scripts else ""
    return [
        (b"content-security-policy", _POLICY.format(forms=forms, scripts=allowed).encode("ascii")),
        (b"cache-control", b"no-store"),
        # With no-referrer, Chromium would send `Origin: null` with our own forms.
        (b"referrer-policy", b"same-origin"),
        (b"x-content-type-options", b"nosniff"),
        (b"x-frame-options", b"DENY"),
    ]


def find_foreign(headers: Headers, origin: str) -> str:
    """Why a POST does not come from a page of ours, as the journal writes it; empty if it does. Every browser sends an
    Origin with a POST, and `null` is one that anybody can make."""
    sent = headers.get(b"origin")
    if sent is None or sent.decode("latin-1") != origin:
        return "denied.origin"
    site = headers.get(b"sec-fetch-site")
    return "denied.site" if site is not None and site != b"same-origin" else ""


def is_own_form(session: WebSession, form: dict[str, list[str]]) -> bool:
    """Whether a form was made for this session."""
    sent = form.get("token", [])
    return len(sent) == 1 and hmac.compare_digest(sent[0].encode("utf-8", "replace"), session.csrf.encode())


def name_cookie(origin: str) -> str:
    """Cookies know no ports: without one in its name, two servers on one machine would sign each other's people out."""
    if origin.startswith("https:"):
        return "__Host-tokonoma"
    port = origin.rpartition(":")[2]
    return f"tokonoma-{port if port.isdigit() else 80}"


def read_cookie(headers: Headers, origin: str) -> str:
    """The token of the session; empty if the browser has sent none, or several."""
    wanted = name_cookie(origin)
    pairs = [part.strip().partition("=") for part in headers.get(b"cookie", b"").decode("latin-1").split(";")]
    found = [value for name, _, value in pairs if name == wanted]
    return found[0] if len(found) == 1 else ""


def build_cookie(origin: str, token: str, days: int) -> tuple[bytes, bytes]:
    """With an empty token the browser forgets it."""
    age = days * 86_400 if token else 0
    secure = "; Secure" if origin.startswith("https:") else ""
    cookie = f"{name_cookie(origin)}={token}; Path=/; Max-Age={age}; HttpOnly; SameSite=Lax{secure}"
    return b"set-cookie", cookie.encode("ascii")
