"""What one open server is asked to tell of, in the way of its era: resources one by one with a handshake, all of them
in one open request without."""

import asyncio
from collections.abc import Callable, Set
from typing import Any, cast

from tokonoma.upstream.client import UpstreamClient
from tokonoma.upstream.wire import SUBSCRIPTION, ConnectionLost, JsonObject, RpcFailure

LIST = ""
"""Stands for the list of resources among their URIs."""

_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"


def listen_to_tools(client: UpstreamClient) -> None:
    """Ask a stateless server to say when its list of tools changes. Others say so without being asked."""
    if client.facts.modern and offers(client, "tools", "listChanged"):
        client.listen({"toolsListChanged": True})


def offers(client: UpstreamClient, part: str, name: str) -> bool:
    found: Any = client.facts.capabilities.get(part)
    return isinstance(found, dict) and cast("JsonObject", found).get(name) is True


class ServerSubscriptions:
    """`on_end` is called when the server has ended the open request by itself."""

    def __init__(self, client: UpstreamClient, on_end: Callable[[], None]) -> None:
        self._client, self._on_end = client, on_end
        self._followed: Set[str] = frozenset()
        self._task: asyncio.Task[JsonObject] | None = None
        self._agreed: tuple[int, asyncio.Future[JsonObject]] | None = None

    @property
    def has_ended(self) -> bool:
        return self._task is not None and self._task.done()

    def is_offered(self, uri: str) -> bool:
        return offers(self._client, "resources", "listChanged" if uri == LIST else "subscribe")

    async def follow(self, uris: Set[str]) -> Set[str]:
        """From now on exactly these; those of them to which the server has agreed."""
        wanted = {uri for uri in uris if self.is_offered(uri)}
        if self._client.facts.modern:
            return await self._listen_to(wanted)
        for uri in self._followed - wanted - {LIST}:
            await self._ask("resources/unsubscribe", uri)
        refused = [uri for uri in wanted - self._followed - {LIST} if not await self._ask("resources/subscribe", uri)]
        self._followed = frozenset(wanted.difference(refused))
        return self._followed

    async def _ask(self, method: str, uri: str) -> bool:
        try:
            await self._client.request(method, {"uri": uri})
        except RpcFailure:
            return False
        return True

    async def _listen_to(self, wanted: Set[str]) -> Set[str]:
        """The new request first, then the end of the old one: nothing is missed between them."""
        before, self._task = self._task, None
        agreed: Set[str] = frozenset()
        try:
            if wanted:
                agreed = await self._open(wanted) & wanted
        finally:
            if before is not None:
                before.cancel()
        return agreed

    async def _open(self, wanted: Set[str]) -> Set[str]:
        asked: JsonObject = {"resourcesListChanged": True} if LIST in wanted else {}
        if named := sorted(wanted - {LIST}):
            asked["resourceSubscriptions"] = named
        request_id, self._task = self._client.listen(asked)
        self._task.add_done_callback(self._note_end)
        answer: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
        self._agreed = request_id, answer
        await asyncio.wait({answer, self._task}, return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            _require_connection(self._task)
            return frozenset()
        told = answer.result()
        uris: Any = told.get("resourceSubscriptions")
        found = {uri for uri in cast("list[Any]", uris if isinstance(uris, list) else []) if isinstance(uri, str)}
        return found | ({LIST} if told.get("resourcesListChanged") is True else set[str]())

    def _note_end(self, task: "asyncio.Task[JsonObject]") -> None:
        if task is self._task and not task.cancelled():
            self._on_end()

    def note(self, method: str, params: JsonObject) -> None:
        """What the server says by itself: perhaps that it agrees."""
        if method != _ACKNOWLEDGED or self._agreed is None:
            return
        meta, told = params.get("_meta"), params.get("notifications")
        request_id, answer = self._agreed
        is_meant = isinstance(meta, dict) and cast("JsonObject", meta).get(SUBSCRIPTION) == request_id
        if is_meant and not answer.done():
            answer.set_result(cast("JsonObject", told) if isinstance(told, dict) else {})


def _require_connection(task: "asyncio.Task[JsonObject]") -> None:
    """Raise what ended it, unless the server has merely refused."""
    error = None if task.cancelled() else task.exception()
    if isinstance(error, ConnectionLost):
        raise error
