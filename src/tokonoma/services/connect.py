"""From a call to the client of the account that it uses."""

import asyncio
import time

from tokonoma.core.call import Call
from tokonoma.core.concurrency import CancelToken
from tokonoma.core.desk import Rows
from tokonoma.keyring.choose import choose_account, require_ready
from tokonoma.keyring.data_keys import Keyring, read_snapshot
from tokonoma.services.address import find_base_url
from tokonoma.services.breaker import Breaker
from tokonoma.services.client import AccountClient, ClientParts, ServiceState
from tokonoma.services.credentials import Credentials, read_credentials
from tokonoma.services.http import OutgoingHttp
from tokonoma.services.providers import get_provider
from tokonoma.services.refresh import TokenRefresher
from tokonoma.services.timing import Timing
from tokonoma.services.uses import AccountUses
from tokonoma.store.database import Database

_TIME_LIMIT = 60.0  # seconds, where a call has no limit of its own


class ServiceConnector:
    """One per process: what its clients share, which begins with the first of them."""

    def __init__(
        self, database: Database, keyring: Keyring, timing: Timing | None = None, uses: AccountUses | None = None
    ) -> None:
        self._database, self._keyring, self._uses = database, keyring, uses
        timing, self.http = timing or Timing(), OutgoingHttp()
        self.refresher = TokenRefresher(database, keyring, self.http.get, timing)
        self._parts = ClientParts(self.http, self.refresher, timing)
        self._states: dict[tuple[str, str], ServiceState] = {}

    def connect(self, call: Call, named: str | None = None) -> AccountClient:
        """The client of the account that this call uses. Reads the database: not on the event loop."""
        tool, reach = call.chosen_tool, call.principal.reach

        def read(rows: Rows) -> Credentials:
            account = choose_account(rows, tool.module, reach, named, lambda name: reach.sees_tool(tool, name))
            require_ready(account)
            return read_credentials(rows, self._keyring, account)

        credentials = read_snapshot(lambda: self._database.reading(call.cancel_token), read)
        if self._uses is not None:
            self._uses.note(credentials.account)
        left = _TIME_LIMIT if call.due is None else call.due - time.monotonic()
        return self.open(credentials, tool.module, left, call.cancel_token)

    def open(
        self,
        credentials: Credentials,
        module: str,
        time_limit: float = _TIME_LIMIT,
        cancel_token: CancelToken | None = None,
    ) -> AccountClient:
        """`time_limit`: seconds for all requests of this client together."""
        account, timing = credentials.account, self._parts.timing
        provider = get_provider(account.provider)
        base_url = find_base_url(provider, module, account.kind, account.details)
        place = provider.name, base_url
        state = self._states.get(place)
        if state is None:
            breaker, gate = Breaker(provider.name, timing.clock), asyncio.Semaphore(provider.limits.at_once)
            state = self._states.setdefault(place, ServiceState(breaker, gate))
        until = timing.clock() + time_limit
        return AccountClient(self._parts, state, provider, base_url, credentials, until, cancel_token)
