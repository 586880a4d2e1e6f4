"""The options of `connect`, checked."""

from collections.abc import Mapping
from dataclasses import dataclass

from tokonoma.core.errors import Invalid, Unready
from tokonoma.services.address import check_base_url
from tokonoma.services.providers import Provider


@dataclass(frozen=True, slots=True)
class ConnectOptions:
    account: str
    namespace: str
    urls: Mapping[str, str]  # what stands before the provider's own: `base_url` and others
    site: str | None
    email: str | None
    client_id: str | None
    app: str
    scopes: tuple[str, ...]
    untested: bool
    browser: bool
    wait: int  # seconds

    def list_scopes(self, provider: Provider) -> tuple[str, ...]:
        """Those of all modules that the account serves, and those that were asked for, each once."""
        own = [scope for module in provider.modules for scope in provider.scopes.get(module, ())]
        return tuple(dict.fromkeys([*own, *self.scopes]))


def read_urls(given: Mapping[str, str | None]) -> dict[str, str]:
    """By the names of an account's details. Invalid unless https, or http on this machine."""
    urls: dict[str, str] = {}
    for name, url in given.items():
        if url is None:
            continue
        try:
            urls[name] = check_base_url(url)
        except Unready as error:
            raise Invalid(error.message, field=name) from None
    return urls
