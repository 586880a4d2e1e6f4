"""Which modules have an account, and where: what callers must know before they call."""

from collections.abc import Mapping

from tokonoma.core.desk import Rows
from tokonoma.core.module import ConnectedAccount
from tokonoma.core.providers import PROVIDER_MODULES

_ACCOUNTS = "select provider, name, space from account where kind <> 'app' order by provider, space, name"


def read_connected(rows: Rows) -> Mapping[str, tuple[ConnectedAccount, ...]]:
    """The accounts by module. One small query: it is asked every second."""
    found: dict[str, tuple[ConnectedAccount, ...]] = {}
    for provider, name, space in rows.rows(_ACCOUNTS):
        for module in PROVIDER_MODULES.get(provider, ()):
            found[module] = (*found.get(module, ()), ConnectedAccount(name, space))
    return found
