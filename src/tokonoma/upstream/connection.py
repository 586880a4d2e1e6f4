"""One server for one account: opened by the first call, closed when idle, started again after a failure, and its tools
compared with what was approved each time."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tokonoma.core.concurrency import do_nothing
from tokonoma.core.errors import Conflict, Invalid, Missing, Refusal, Unavailable
from tokonoma.core.log import log
from tokonoma.upstream.client import OnProgress, UpstreamClient
from tokonoma.upstream.names import fold_name
from tokonoma.upstream.pins import PinnedTool, compare_tools, describe_change
from tokonoma.upstream.servers import ServerAccount, UpstreamServer
from tokonoma.upstream.stdio import TextRing
from tokonoma.upstream.subscriptions import listen_to_tools
from tokonoma.upstream.texts import clean_text
from tokonoma.upstream.tools import list_tools
from tokonoma.upstream.transport import MessageTransport
from tokonoma.upstream.values import to_refusal
from tokonoma.upstream.watching import LEASE_SECONDS, ResourceWatcher
from tokonoma.upstream.wire import ConnectionLost, InputRequired, JsonObject, RpcFailure

PAUSES = (1.0, 5.0, 30.0)
"""Seconds before a server that has failed is started again; after the last one it is broken."""

IDLE_SECONDS = 600.0
START_SECONDS = 120.0
"""How long a start may take: a command such as npx may download the server first."""

_STEADY = 60.0  # seconds after which a server has proved that it works
_SHOWN_LINES = 8
_MAX_LINE = 300
ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class ConnectionParts:
    """What connections get from outside. What stores may block."""

    open_transport: Callable[[UpstreamServer, ServerAccount, TextRing], Awaitable[MessageTransport]]
    open_ring: Callable[[UpstreamServer, ServerAccount], TextRing]
    store_tools: Callable[[UpstreamServer, Sequence[PinnedTool]], None]
    store_problem: Callable[[UpstreamServer, str, str], None]
    clock: Callable[[], float] = time.monotonic
    pauses: Sequence[float] = PAUSES
    idle: float = IDLE_SECONDS
    on_update: Callable[[], None] = do_nothing  # a resource that is watched has changed
    lease: float = LEASE_SECONDS


class UpstreamConnection:
    def __init__(self, server: UpstreamServer, account: ServerAccount, parts: ConnectionParts) -> None:
        self.server, self.account, self._parts = server, account, parts
        self.text = parts.open_ring(server, account)
        self.transport: MessageTransport | None = None
        self._owner: asyncio.Task[None] | None = None
        self._opened: asyncio.Future[UpstreamClient] | None = None
        self._wake = asyncio.Event()
        self._failures, self._not_before = 0, 0.0
        self._active, self._last_used = 0, 0.0
        self._stale = False
        self._tools: dict[str, PinnedTool] = {}
        self._listing = asyncio.Lock()
        self.watcher = ResourceWatcher(self._use, parts.clock, parts.on_update, parts.lease)

    async def call(self, tool: PinnedTool, arguments: JsonObject, progress: OnProgress | None) -> JsonObject:
        """The result of a tool, which must be as it was approved."""

        async def ask(client: UpstreamClient) -> JsonObject:
            await self._require_approved(client, tool.name)
            return await client.call_tool(tool.name, arguments, tool.approved.get("inputSchema"), progress)

        return await self._use(ask)

    async def request(self, method: str, params: JsonObject) -> JsonObject:
        return await self._use(lambda client: client.request(method, params))

    async def list_all(self, method: str, key: str) -> list[JsonObject]:
        return await self._use(lambda client: client.list_all(method, key))

    async def close(self) -> None:
        self.watcher.end()
        if self._owner is not None:
            self._owner.cancel()
            await asyncio.gather(self._owner, return_exceptions=True)

    async def _use(self, ask: Callable[[UpstreamClient], Awaitable[ResultT]]) -> ResultT:
        self._active += 1
        try:
            client = await self._get_client()
            return await ask(client)
        except ConnectionLost as error:
            raise self._explain(str(error)) from None
        except InputRequired as error:
            message = f"The MCP server {self.server.name} asks its client for {error}, which Tokonoma does not give."
            raise Unavailable(message, reason="input_required", asks=list(error.asks)) from None
        except RpcFailure as error:
            raise self._to_refusal(error) from None
        finally:
            self._active -= 1
            self._last_used = self._parts.clock()

    def _to_refusal(self, error: RpcFailure) -> Refusal:
        if error.code == -32602:
            message = f"The MCP server {self.server.name} refuses the parameters: {clean_text(error.message)}"
            return Invalid(message, reason="external", server=self.server.name)
        return to_refusal(self.server.name, f"{error.message} (code {error.code})")

    # Opening

    async def _get_client(self) -> UpstreamClient:
        while self._owner is not None and not self._owner.done() and self._is_lost():
            await asyncio.wait([self._owner])  # its end decides when the next one may start
        if self._opened is None or self._owner is None or self._owner.done():
            self._require_rested()
            loop = asyncio.get_running_loop()
            self._opened, self._wake = loop.create_future(), asyncio.Event()
            self._owner = loop.create_task(self._own(self._opened))
        # Shielded: a caller that gives up does not stop a start that others wait for.
        return await asyncio.shield(self._opened)

    def _is_lost(self) -> bool:
        """Whether the present client was open, and its connection has ended."""
        opened = self._opened
        return (
            opened is not None
            and opened.done()
            and not opened.cancelled()
            and opened.exception() is None
            and opened.result().is_lost
        )

    def _require_rested(self) -> None:
        left = self._not_before - self._parts.clock()
        if left > 0:
            raise self._explain(f"It failed a moment ago and is started again in {left:.0f} s at the earliest.")

    async def _own(self, opened: "asyncio.Future[UpstreamClient]") -> None:
        """The life of one process or session, from its start to its end."""
        client: UpstreamClient | None = None
        started = self._parts.clock()
        try:
            self.transport = await self._parts.open_transport(self.server, self.account, self.text)
            client = UpstreamClient(self.transport, on_notice=self._note, on_lost=self._note_loss)
            async with asyncio.timeout(START_SECONDS):
                await client.open(self.server.era)
                await self._look_at_tools(client)
            listen_to_tools(client)
            opened.set_result(client)
            await self._wait_for_end(client)
            if not client.is_lost:
                self._opened = None  # a call that comes while this one is being closed opens another
        except TimeoutError:
            opened.set_exception(ConnectionLost("It did not start in time."))
        except (Refusal, ConnectionLost, RpcFailure, OSError) as error:
            if not opened.done():
                opened.set_exception(error if not isinstance(error, OSError) else ConnectionLost("It cannot start."))
        finally:
            if not opened.done():
                opened.cancel()
            elif not opened.cancelled():
                opened.exception()  # every caller may have left
            failed = client is None or client.is_lost or opened.cancelled() or opened.exception() is not None
            if client is not None:
                await client.close()
        await self._settle(failed, started)

    async def _wait_for_end(self, client: UpstreamClient) -> None:
        """Until the connection is lost, or nobody has used it for long."""
        self._last_used = self._parts.clock()
        while not client.is_lost:
            idle = self._parts.clock() - self._last_used
            if idle >= self._parts.idle and not self._active:
                return
            try:
                async with asyncio.timeout(max(0.05, self._parts.idle - idle)):
                    await self._wake.wait()
            except TimeoutError:
                continue

    async def _settle(self, failed: bool, started: float) -> None:
        """After the end: when it may be started again, or that it is broken."""
        clock = self._parts.clock()
        if not failed or clock - started > _STEADY:
            self._failures = 0
        if not failed:
            return
        self._failures += 1
        if self._failures <= len(self._parts.pauses):
            self._not_before = clock + self._parts.pauses[self._failures - 1]
        elif self.server.kind == "stdio":
            lines = self._list_lines()
            problem = f"It failed {self._failures} times in a row."
            log("warning", "upstream", server=self.server.name, failures=self._failures)
            await asyncio.to_thread(self._parts.store_problem, self.server, problem, "\n".join(lines))
            self._not_before = float("inf")
        else:  # it is elsewhere, and may come back at any time
            self._not_before = clock + self._parts.pauses[-1]

    # Tools

    def _note(self, method: str, params: JsonObject) -> None:
        if method == "notifications/tools/list_changed":
            self._stale = True
        else:
            self.watcher.note(method, params)

    def _note_loss(self) -> None:
        self._wake.set()
        self.watcher.wake()

    async def _require_approved(self, client: UpstreamClient, name: str) -> None:
        if self._stale:
            async with self._listing:
                if self._stale:
                    await self._look_at_tools(client)
        tool = self._tools.get(name)
        if tool is None or tool.state in ("gone", "new"):
            raise Missing(
                f"The MCP server {self.server.name} has no tool called {name[:64]!r} any more.", reason="tool"
            )
        if tool.state == "changed":
            message = f"The server has changed {tool.short!r} since it was approved, so it is held back."
            advice = f"The owner looks at it with `tokonoma servers review {self.server.name}`."
            raise Conflict(f"{message} {advice}", reason="changed", diff=describe_change(tool))

    async def _look_at_tools(self, client: UpstreamClient) -> None:
        self._stale = False
        listed = (await list_tools(client)).tools
        shorts = {str(each["name"]): fold_name(str(each["name"])) for each in listed}
        found = compare_tools(self.server.tools, listed, shorts)
        self._tools = {tool.name: tool for tool in found}
        if sorted(found, key=_sort_key) != sorted(self.server.tools, key=_sort_key):
            await asyncio.to_thread(self._parts.store_tools, self.server, found)

    def adopt(self, server: UpstreamServer) -> None:
        """The same process or session, with tools that were approved meanwhile."""
        self.server, self._stale = server, True

    # What went wrong

    def _list_lines(self) -> list[str]:
        return [clean_text(line, _MAX_LINE) for line in self.text.list_last(_SHOWN_LINES)]

    def _explain(self, why: str) -> Unavailable:
        lines = self._list_lines() if self.server.kind == "stdio" else []
        message = f"The MCP server {self.server.name} does not answer: {why}"
        if self._not_before == float("inf"):
            message = f"{message} Correct it, then run `tokonoma servers restart {self.server.name}`."
        return Unavailable(message, reason="server", server=self.server.name, **({"stderr": lines} if lines else {}))


def _sort_key(tool: PinnedTool) -> str:
    return tool.name
