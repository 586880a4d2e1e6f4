"""Resources of one server that clients of ours watch. They are subscribed there as long as somebody watches here: each
is held by a lease that the watching clients renew, so that none outlives them, however they ended."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from tokonoma.core.errors import Invalid, Limited, Missing, Refusal
from tokonoma.upstream.client import UpstreamClient
from tokonoma.upstream.subscriptions import LIST, ServerSubscriptions
from tokonoma.upstream.wire import JsonObject

MAX_WATCHED = 256
"""Resources of one server and account that may be watched at once, by all clients together."""

LEASE_SECONDS = 10.0
"""How long a resource stays subscribed after the last client has looked for it, which it does once a second."""

_FIRST_LEASE = 180.0  # a server that must be downloaded first takes its time, and nobody watches before it has agreed
_PAUSES = (1.0, 5.0, 30.0)  # seconds before a failed server is asked again
_MARKS = itertools.count(1)


class UseClient(Protocol):
    """Holds the connection open as long as the work lasts. A Refusal says why it cannot."""

    async def __call__(self, ask: Callable[[UpstreamClient], Awaitable[None]], /) -> None: ...


@dataclass(slots=True)
class _Watched:
    until: float
    agreed: "asyncio.Future[None]"
    mark: int  # another number after each change

    def touch(self) -> None:
        self.mark = next(_MARKS)


class ResourceWatcher:
    """For one connection. It lives on the event loop, except for `find_mark` and `keep`, which any thread may call.
    `on_update` is called after a change."""

    def __init__(
        self, use: UseClient, clock: Callable[[], float], on_update: Callable[[], None], lease: float = LEASE_SECONDS
    ) -> None:
        self._use, self._clock, self._on_update, self._lease = use, clock, on_update, lease
        self._watched: dict[str, _Watched] = {}
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._subscriptions: ServerSubscriptions | None = None

    async def watch(self, uri: str) -> str:
        """The mark of a resource, once its server has agreed to tell of it. Missing or Invalid if it does not."""
        found = self._watched.get(uri)
        if found is None:
            if len(self._watched) >= MAX_WATCHED:
                raise Limited(f"No more than {MAX_WATCHED} resources of one server can be watched at once.")
            agreed = asyncio.get_running_loop().create_future()
            found = self._watched[uri] = _Watched(self._clock() + _FIRST_LEASE, agreed, next(_MARKS))
            self.wake()
            if self._task is None or self._task.done():
                self._task = asyncio.get_running_loop().create_task(self._keep_on())
        await asyncio.shield(found.agreed)
        return str(found.mark)

    def find_mark(self, uri: str) -> str | None:
        found = self._watched.get(uri)
        return str(found.mark) if found is not None and found.agreed.done() else None

    def keep(self, uris: Collection[str]) -> None:
        """Somebody still watches these."""
        until = self._clock() + self._lease
        for uri in uris:
            found = self._watched.get(uri)
            if found is not None and found.agreed.done():
                found.until = until

    def wake(self) -> None:
        """Something is other than before: what is watched, or the connection."""
        self._wake.set()

    def end(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def note(self, method: str, params: JsonObject) -> None:
        """What the server says by itself."""
        uri = params.get("uri")
        if method == "notifications/resources/list_changed":
            self._touch([LIST])
        elif method == "notifications/resources/updated" and isinstance(uri, str):
            # It may be a part of what was asked for.
            self._touch([each for each in self._watched if each and (uri == each or uri.startswith(f"{each}/"))])
        elif self._subscriptions is not None:
            self._subscriptions.note(method, params)

    def _touch(self, uris: Collection[str]) -> None:
        found = [each for uri in uris if (each := self._watched.get(uri)) is not None and each.agreed.done()]
        for each in found:
            each.touch()
        if found:
            self._on_update()

    async def _keep_on(self) -> None:
        """Until nobody watches any more. A server that fails is asked again, with pauses."""
        failures = 0
        while self._drop_expired():
            try:
                await self._use(self._follow)
                failures = 0
            except Refusal as error:
                self._refuse([uri for uri, each in self._watched.items() if not each.agreed.done()], error)
                pause = _PAUSES[min(failures, len(_PAUSES) - 1)]
                failures += 1
                await self._wait(pause)

    async def _follow(self, client: UpstreamClient) -> None:
        """With one open connection, until it is lost or nobody watches any more."""
        self._subscriptions = subscriptions = ServerSubscriptions(client, self.wake)
        followed: set[str] = set()
        try:
            while self._drop_expired() and not client.is_lost:
                self._wake.clear()
                wanted = set(self._watched)
                if wanted != followed or subscriptions.has_ended:
                    if subscriptions.has_ended:  # by the server, which must not make us ask at full speed
                        followed = set()
                        await asyncio.sleep(_PAUSES[0])
                    self._settle(wanted, await subscriptions.follow(wanted), wanted - followed)
                    followed = set(self._watched)
                    continue
                await self._wait(min(each.until for each in self._watched.values()) - self._clock())
            if not client.is_lost:
                await subscriptions.follow(frozenset())
        finally:
            self._subscriptions = None

    def _settle(self, wanted: Collection[str], agreed: Collection[str], new: Collection[str]) -> None:
        """Tell those who wait. What was watched before may have changed while the connection was lost."""
        resumed: list[str] = []
        for uri in wanted:
            each = self._watched.get(uri)
            if each is None or uri not in agreed:
                continue
            if each.agreed.done():
                resumed += [uri] if uri in new else []
            else:
                each.until = self._clock() + self._lease
                each.agreed.set_result(None)
        subscriptions = self._subscriptions
        for uri in set(wanted).difference(agreed):
            is_offered = subscriptions is None or subscriptions.is_offered(uri)
            self._refuse([uri], _build_missing() if is_offered else _build_not_offered())
        self._touch(resumed)

    def _refuse(self, uris: Collection[str], error: Exception) -> None:
        for uri in uris:
            found = self._watched.pop(uri, None)
            if found is not None and not found.agreed.done():
                found.agreed.set_exception(error)
                found.agreed.exception()  # its caller may have left

    def _drop_expired(self) -> bool:
        """Whether something is left."""
        now = self._clock()
        for uri in [uri for uri, each in self._watched.items() if each.until <= now]:
            self._refuse([uri], _build_missing())
        return bool(self._watched)

    async def _wait(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.01, seconds)):
                await self._wake.wait()


def _build_missing() -> Missing:
    return Missing("Resource not found", reason="resource")


def _build_not_offered() -> Invalid:
    message = "This server does not tell when a resource changes. Read it again to see whether it has."
    return Invalid(message, reason="not_offered")
