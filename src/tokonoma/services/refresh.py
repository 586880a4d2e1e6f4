"""Tokens that expire: renewed early, once for all processes, and stored before anybody uses them.

In one process callers join a refresh under way. Of all processes on a database the holder of the account's lease asks
the provider, outside any transaction. The others use the old token while it is good, and otherwise wait for the new.
"""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import httpx

from tokonoma.core.clock import now
from tokonoma.core.desk import Rows, Statements
from tokonoma.core.errors import Refusal, Unavailable, Unready
from tokonoma.core.log import log
from tokonoma.keyring.accounts import Account, get_account, set_state
from tokonoma.keyring.choose import require_ready
from tokonoma.keyring.data_keys import Keyring, read_snapshot
from tokonoma.keyring.lease import AccountLease, release_lease, store_refreshed, take_lease
from tokonoma.services.credentials import AppCredentials, Credentials, advise_connect, find_app, read_credentials
from tokonoma.services.providers import get_provider
from tokonoma.services.timing import Timing
from tokonoma.services.token_endpoint import TokenSet, ask_token
from tokonoma.store.database import Database

EARLY = 300_000
"""Milliseconds before its end in which a token is renewed."""

_FIRST_LOOK, _LONGEST_LOOK = 0.02, 0.5  # seconds between two looks at an account that another process refreshes
_SAVE_PAUSES = (0.1, 0.5, 2.0)  # seconds; with all tries shorter than the rest of the lease
_REST = 10.0  # seconds after a failed refresh in which a token that is still good is used as it is
ValueT = TypeVar("ValueT")


@dataclass(frozen=True, slots=True)
class _Turn:
    """Whose turn it is to refresh: ours, with a lease; or nobody's, because the account has newer secrets."""

    lease: AccountLease | None = None
    newer: Credentials | None = None
    app: AppCredentials | None = None


class TokenRefresher:
    """`http` gives the client of the running loop. What blocks runs on threads of the loop's own."""

    def __init__(
        self, database: Database, keyring: Keyring, http: Callable[[], httpx.AsyncClient], timing: Timing
    ) -> None:
        self._database, self._keyring, self._http, self._timing = database, keyring, http, timing
        self._under_way: dict[tuple[str, int, bool], asyncio.Task[Credentials]] = {}
        self._rests: dict[str, float] = {}  # by account: until when a failed refresh is not tried again

    async def prepare(self, held: Credentials) -> Credentials:
        """Credentials that hold for the next minutes: these, or newer ones."""
        end = held.account.expires_at
        if end is None or held.account.kind != "oauth" or end - now() > EARLY:
            return held
        is_over = end <= now()
        if not held.can_refresh:
            return await self._explain_over(held) if is_over else held
        if not is_over and self._timing.clock() < self._rests.get(held.account.id, 0.0):
            return held
        return await self._join(held, must=is_over)

    async def renew(self, held: Credentials) -> Credentials:
        """Others than these, which the service has refused; the same if there is no way to get others."""
        if held.can_refresh:
            return await self._join(held, must=True)
        return await asyncio.to_thread(self._read, held.account.id)

    async def renew_idle(self, account_id: str) -> None:
        """Renew whatever the account has now: a provider forgets a grant that is not used for long."""
        held = await asyncio.to_thread(self._read, account_id)
        if held.can_refresh:
            await self._join(held, must=True)

    async def mark_broken(self, held: Credentials, problem: str) -> None:
        """Unless it has other secrets by now."""

        def mark() -> None:
            with suppress(Refusal), self._database.writing() as statements:  # the caller hears of the problem anyway
                set_state(statements, held.account, problem)

        await asyncio.to_thread(mark)

    async def _join(self, held: Credentials, must: bool) -> Credentials:
        """One task for all callers of this process; a caller that leaves does not end it."""
        key = held.account.id, held.account.generation, must
        task = self._under_way.get(key)
        if task is None:
            task = self._under_way[key] = asyncio.create_task(self._refresh(held, must))
            task.add_done_callback(lambda done: self._forget(key, done))
        return await asyncio.shield(task)

    def _forget(self, key: tuple[str, int, bool], done: "asyncio.Task[Credentials]") -> None:
        del self._under_way[key]
        if not done.cancelled():
            done.exception()  # every caller may have left

    async def _refresh(self, held: Credentials, must: bool) -> Credentials:
        try:
            return await self._refresh_now(held, must)
        except Unready:
            raise
        except Refusal as error:
            if must:
                raise
            log("warning", "service.refresh", provider=held.account.provider, reason=error.reason)
            self._rests[held.account.id] = self._timing.clock() + _REST
            return held

    async def _refresh_now(self, held: Credentials, must: bool) -> Credentials:
        pause = _FIRST_LOOK
        while True:
            turn = await asyncio.to_thread(self._take_turn, held)
            if turn.newer is not None:
                return turn.newer
            if turn.lease is not None and turn.app is not None:
                return await self._ask_and_store(held, turn.lease, turn.app)
            if not must:
                return held
            await self._timing.sleep(pause)
            pause = min(2 * pause, _LONGEST_LOOK)

    def _take_turn(self, held: Credentials) -> _Turn:
        """One transaction without any waiting for others outside the database."""
        with self._database.writing() as statements:
            account = get_account(statements, held.account.id)
            require_ready(account)
            if account.generation != held.account.generation:
                return _Turn(newer=read_credentials(statements, self._keyring, account))
            app = find_app(statements, self._keyring, account)
            return _Turn(take_lease(statements, account), app=app)

    async def _ask_and_store(self, held: Credentials, lease: AccountLease, app: AppCredentials) -> Credentials:
        account = held.account
        provider = get_provider(account.provider)
        if account.details.get("client_auth") in ("basic", "post"):
            provider = replace(provider, client_auth=account.details["client_auth"])
        token_url = str(account.details.get("token_url") or provider.token_url)
        grant = {"grant_type": "refresh_token", "refresh_token": held.secrets["refresh_token"]}
        if resource := account.details.get("resource"):
            grant["resource"] = str(resource)
        try:
            tokens = await ask_token(self._http(), provider, token_url, app, grant)
        except Unready:
            return await asyncio.to_thread(self._give_up, held, lease)
        except BaseException:
            await _finish(partial(self._release, lease))
            raise
        return await _finish(partial(self._store, lease, tokens))

    def _store(self, lease: AccountLease, tokens: TokenSet) -> Credentials:
        """Tried again while the database is busy or away for a moment: the refresh token of before may be used up."""
        secrets = {"access_token": tokens.access_token}
        if tokens.refresh_token is not None:
            secrets["refresh_token"] = tokens.refresh_token
        for pause in (*_SAVE_PAUSES, None):
            try:
                with self._database.writing() as statements:
                    store_refreshed(statements, self._keyring, lease, secrets, tokens.expires_at)
                    return self._read_now(statements, lease.account)
            except Unavailable as error:
                if pause is None or error.reason not in ("busy", "database"):
                    raise
                time.sleep(pause)
        raise AssertionError("the last try returns or raises")

    def _give_up(self, held: Credentials, lease: AccountLease) -> Credentials:
        """The provider does not take the refresh token any more. Another process may have used it up meanwhile."""
        problem = "the provider does not accept its refresh token any more."
        with self._database.writing() as statements:
            release_lease(statements, lease)
            if not set_state(statements, held.account, problem):
                return self._read_now(statements, lease.account)
        message = f"The access of the {held.account.describe()} is over: {problem} {advise_connect(held.account)}"
        raise Unready(message, reason="token_expired", account=held.account.name)

    async def _explain_over(self, held: Credentials) -> Credentials:
        newer = await asyncio.to_thread(self._read, held.account.id)
        if newer.account.generation != held.account.generation:
            return newer
        message = f"The token of the {held.account.describe()} has expired. {advise_connect(held.account)}"
        raise Unready(message, reason="token_expired", account=held.account.name)

    def _release(self, lease: AccountLease) -> None:
        with self._database.writing() as statements:
            release_lease(statements, lease)

    def _read(self, account_id: str) -> Credentials:
        return read_snapshot(self._database.reading, lambda rows: self._read_now(rows, account_id))

    def _read_now(self, rows: Rows | Statements, account_id: str) -> Credentials:
        account: Account = get_account(rows, account_id)
        require_ready(account)
        return read_credentials(rows, self._keyring, account)


async def _finish(function: Callable[[], ValueT]) -> ValueT:
    """Run it on a thread, to its end also if the process is ending: what a provider has given exists nowhere else."""
    future = asyncio.get_running_loop().run_in_executor(None, function)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        await asyncio.wait([future])
        raise
