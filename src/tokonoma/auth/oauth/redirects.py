"""Where a client may be sent after a consent. Pure.

Addresses are compared to the letter: a browser and this server must never read two different places in one text. The
one exception is the port of a loopback address, which a program on the person's own machine chooses anew each time.
"""

import re
from ipaddress import IPv6Address
from urllib.parse import urlsplit

from tokonoma.core.errors import Invalid

MAX_LENGTH = 2_000  # characters

_UNSAFE = re.compile(r"[^\x21-\x7e]|[\\#\"<>^`{|}]")  # what no URI holds unquoted, and fragments
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*")
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?")
_DOTS = re.compile(r"(?:^|/)(?:\.|%2e){1,2}(?:/|$)", re.IGNORECASE)
_LOOPBACK = re.compile(r"http://(localhost|127\.0\.0\.1|\[::1\])(?::([0-9]{1,5}))?([/?].*)?")

# Schemes that a browser, or the system behind it, handles itself: what is opened there is no client.
_RESERVED = {
    "about", "acct", "android-app", "app", "blob", "cap", "chrome", "chrome-extension", "chrome-untrusted", "cid",
    "content", "data", "dav", "devtools", "dict", "dns", "drive", "edge", "facetime", "fax", "feed", "file",
    "filesystem", "ftp", "ftps", "gopher", "help", "http", "https", "imap", "intent", "irc", "itms-services", "jar",
    "javascript", "ldap", "ldaps", "livescript", "mailto", "market", "mhtml", "mid", "mms", "mocha", "moz-extension",
    "ms-msdt", "nfs", "news", "nntp", "pop", "resource", "rtsp", "sftp", "shell", "sip", "sips", "skype", "sms",
    "smb", "smsto", "ssh", "steam", "svn", "tel", "telnet", "urn", "vbscript", "view-source", "vnc", "web", "ws",
    "wss", "wyciwyg", "xmpp",
}  # fmt: skip


def check_redirect_uri(uri: object) -> str:
    """The address, if a client may register it: https, http on the person's own machine, or a scheme of its own."""
    if not isinstance(uri, str) or not 0 < len(uri) <= MAX_LENGTH or _UNSAFE.search(uri):
        raise _refuse("must be a URI without a fragment, spaces or other characters that must be quoted")
    try:
        parts = urlsplit(uri)
        port = parts.port
    except ValueError:
        raise _refuse("is not a URI") from None
    if not _SCHEME.fullmatch(uri.partition(":")[0]):
        raise _refuse("must begin with a scheme in lower case")
    if "@" in parts.netloc or port == 0:
        raise _refuse("must not name a user, and no port 0")
    if _DOTS.search(parts.path):
        raise _refuse("must not hold the path segments . or ..")
    if parts.scheme == "https" and not _is_host(parts.netloc.removesuffix(f":{port}")):
        raise _refuse("must name a host")
    if parts.scheme == "http" and not _LOOPBACK.fullmatch(uri):
        raise _refuse("must use https, unless its host is localhost, 127.0.0.1 or [::1]")
    if parts.scheme not in ("http", "https"):
        _check_own_scheme(uri, parts.scheme)
    return uri


def matches_redirect(sent: str, registered: str) -> bool:
    """Whether they are the same to the letter, but for the port on loopback."""
    if sent == registered:
        return True
    one, other = _LOOPBACK.fullmatch(sent), _LOOPBACK.fullmatch(registered)
    if one is None or other is None or not 0 < int(one[2] or 80) < 65_536:
        return False
    return (one[1], one[3]) == (other[1], other[3]) and not _UNSAFE.search(sent)


def find_redirect_origin(uri: str) -> str:
    """What a Content-Security-Policy must allow for a form that ends there: an origin, or a scheme like `cursor:`."""
    parts = urlsplit(uri)
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme in ("http", "https") else f"{parts.scheme}:"


def _check_own_scheme(uri: str, scheme: str) -> None:
    rest = uri[len(scheme) + 1 :]
    if scheme in _RESERVED or scheme.startswith(("ms-", "x-")) or len(scheme) < 3:
        raise _refuse(f"must not use the scheme {scheme}")
    if not rest.startswith("/") or not rest.strip("/"):
        raise _refuse("must lead somewhere: scheme://place or scheme:/place")


def _is_host(host: str) -> bool:
    if host.startswith("[") and host.endswith("]"):
        try:
            return bool(IPv6Address(host[1:-1]))
        except ValueError:
            return False
    return bool(_HOST.fullmatch(host)) and ".." not in host


def _refuse(why: str) -> Invalid:
    return Invalid(f"A redirect_uri {why}.", reason="redirect_uri")
