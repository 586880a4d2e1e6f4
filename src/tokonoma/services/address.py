"""Where a request goes: always to the host of its account, never up from the path that was meant."""

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import SplitResult, unquote, urlencode, urlsplit

from tokonoma.core.errors import Invalid, Unavailable, Unready
from tokonoma.core.network import is_loopback
from tokonoma.services.providers import Provider

_UNSAFE = re.compile(r"[^\x21-\x7e]|[\\#]")  # what a URL never holds unquoted
_DETAIL = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,62}")
_PORTS = {"https": 443, "http": 80}


def find_base_url(provider: Provider, module: str, kind: str, details: Mapping[str, Any]) -> str:
    """The address of an account's service: that of its details, else that of the provider."""
    template = details.get("base_url")
    if template is None:
        place = kind if kind in provider.base_url else module
        template = provider.base_url.get(place, "")
        for name in re.findall(r"\{(\w+)\}", template):
            value = str(details.get(name, ""))
            if not _DETAIL.fullmatch(value):
                raise Unready(f"The account's {name} is missing or not a plain word.", reason="token_invalid")
            template = template.replace(f"{{{name}}}", value)
    return check_base_url(str(template))


def check_base_url(url: str) -> str:
    """`https://host[:port][/path]`; plain `http` only on this machine. Without a slash at the end."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        parts = SplitResult("", "", "", "", "")
    is_known = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or ""))
    if not is_known or not parts.hostname or "@" in parts.netloc or parts.query or _UNSAFE.search(url):
        message = "The address of a service must begin with https://, or with http:// on this machine alone."
        raise Unready(message, reason="token_invalid")
    return url.rstrip("/")


def build_url(base: str, path: str, query: Sequence[tuple[str, str]]) -> str:
    """The whole URL. `path` is below the base, or a URL of the same host, as a service gives for a next page."""
    if _UNSAFE.search(path):
        raise Invalid("The path of a request contains a character that must be quoted.", field="path")
    url = path if "://" in path.partition("?")[0] else base + path
    if url is not path and (not path.startswith("/") or path.startswith("//")):
        raise Invalid("The path of a request must begin with one slash.", field="path")
    if _find_origin(url) != _find_origin(base):
        message = "The service refers to another host, which is not asked: it would receive the token."
        raise Unavailable(message, reason="external")
    parts = urlsplit(url)
    if any(unquote(segment) in (".", "..") for segment in parts.path.split("/")):
        raise Invalid("A name of `.` or `..` is not possible here: it would lead to another address.", field="path")
    if not query:
        return url
    return f"{url}{'&' if parts.query else '?'}{urlencode(query)}"


def is_allowed_redirect(base: str, target: str, hosts: Sequence[str]) -> bool:
    """Whether a redirect leads to one of these hosts: `files.example.com`, `*.example.com`."""
    if _UNSAFE.search(target):
        return False
    try:
        parts = urlsplit(target)
        port = parts.port
    except ValueError:
        return False
    host = parts.hostname or ""
    if "@" in parts.netloc or not any(host == each or (each[:2] == "*." and host.endswith(each[1:])) for each in hosts):
        return False
    is_local = parts.scheme == "http" and is_loopback(host) and base.startswith("http://")
    return is_local or (parts.scheme == "https" and port in (None, 443))


def _find_origin(url: str) -> tuple[str, str, int | None] | None:
    """Scheme, host and port; None for what has a user in it, or is no URL: it is equal to no base."""
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return None
    return None if "@" in parts.netloc else (parts.scheme, parts.hostname or "", port)
