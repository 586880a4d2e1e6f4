"""What the owner says to connect an account, checked: the same for the command and the page."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from tokonoma.core.errors import Invalid, Unready
from tokonoma.services.address import check_base_url
from tokonoma.services.providers import Provider

MAX_SECRET = 8192
"""Characters of a token or a client secret"""

URL_DETAILS = ("base_url", "authorize_url", "token_url", "revoke_url")

_SECRET = re.compile(r"[\x21-\x7e]+")
_SITE = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")


@dataclass(frozen=True, slots=True)
class ConnectChoices:
    account: str
    namespace: str = "/"
    urls: Mapping[str, str] = field(default_factory=dict[str, str])  # what stands before the provider's own: `base_url`
    site: str | None = None
    email: str | None = None
    client_id: str | None = None
    app: str = "app"
    scopes: tuple[str, ...] = ()

    def list_scopes(self, provider: Provider) -> tuple[str, ...]:
        """Those of all modules that the account serves, and those that were asked for, each once."""
        own = [scope for module in provider.modules for scope in provider.scopes.get(module, ())]
        return tuple(dict.fromkeys([*own, *self.scopes]))


def read_urls(given: Mapping[str, str | None]) -> dict[str, str]:
    """By the names of an account's details. Invalid unless https, or http on this machine."""
    urls: dict[str, str] = {}
    for name, url in given.items():
        if not url:
            continue
        try:
            urls[name] = check_base_url(url)
        except Unready as error:
            raise Invalid(error.message, field=name) from None
    return urls


def check_secret(text: str, what: str) -> str:
    """One secret, without the spaces around it. Invalid if it is not one word."""
    text = text.strip()
    if not _SECRET.fullmatch(text) or len(text) > MAX_SECRET:
        raise Invalid(f"{what}: that is not one word. Give it without spaces and line breaks.", field="token")
    return text


def parse_site(text: str) -> str:
    """`acme`, from that, `acme.atlassian.net` or a whole URL."""
    name = text.strip().lower().removeprefix("https://").partition("/")[0].removesuffix(".atlassian.net")
    if not _SITE.fullmatch(name):
        raise Invalid("The site is the first part of its address: acme for https://acme.atlassian.net.", field="site")
    return name
