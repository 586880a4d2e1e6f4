"""A client of one MCP server, in either era: requests are matched by id, any number of them under way.

What the server asks of us (sampling, roots, elicitation) is refused, unless `answers` has a function for the method.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from tokonoma.upstream import wire
from tokonoma.upstream.transport import MessageTransport, ServerFacts
from tokonoma.upstream.wire import ConnectionLost, InputRequired, JsonObject, RpcFailure

Answers = Mapping[str, Callable[[JsonObject], Awaitable[JsonObject]]]
OnProgress = Callable[[float, float | None, str | None], None]
OnNotice = Callable[[str, JsonObject], None]

_MAX_PAGES = 50
_MAX_LISTED = 1000
_MAX_ROUNDS = 8  # of a request for which the server asks something first


@dataclass(slots=True)
class _Pending:
    future: "asyncio.Future[JsonObject]"
    progress: OnProgress | None


class UpstreamClient:
    """`on_notice` gets what the server says by itself: the method and its parameters."""

    def __init__(
        self,
        transport: MessageTransport,
        answers: Answers | None = None,
        on_notice: OnNotice = lambda method, params: None,
        on_lost: Callable[[], object] = lambda: None,
    ) -> None:
        self._transport, self._answers, self.on_notice, self._on_lost = transport, answers or {}, on_notice, on_lost
        self._pending: dict[int, _Pending] = {}
        self._last_id = 0
        self._tasks: set[asyncio.Task[Any]] = set()
        self._lost: Exception | None = None
        self.facts = ServerFacts("", modern=False)

    async def open(self, era: str = "") -> ServerFacts:
        """Connect and find out of which era the server is: `modern`, `legacy`, or "" to ask it."""
        await self._transport.start(self._receive, self._fail)
        if era != "legacy" and await self._discover():
            return self.facts
        await self._initialize()
        return self.facts

    async def close(self) -> None:
        self._fail(ConnectionLost("The connection was closed."))
        for task in self._tasks:
            task.cancel()
        await self._transport.close()

    @property
    def is_lost(self) -> bool:
        return self._lost is not None

    # Requests

    async def request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        progress: OnProgress | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> JsonObject:
        """The result. RpcFailure if the server answers with an error, ConnectionLost if it does not answer any more,
        InputRequired if it wants something first that nobody here gives."""
        given, answered = dict(params or {}), dict[str, Any]()
        for _ in range(_MAX_ROUNDS):
            result = await self._ask(method, {**given, **answered}, progress, headers)
            if not self.facts.modern or result.get("resultType", "complete") != "input_required":
                return result
            answered = await self._answer_asks(result)
        raise InputRequired(["the same again and again"])

    async def list_all(self, method: str, key: str) -> list[JsonObject]:
        """All pages of a list, up to a bound."""
        found: list[JsonObject] = []
        cursor: Any = None
        for _ in range(_MAX_PAGES):
            page = await self.request(method, {} if cursor is None else {"cursor": cursor})
            each: Any = page.get(key)
            found += [item for item in cast("list[Any]", each or []) if isinstance(item, dict)]
            cursor = page.get("nextCursor")
            if not isinstance(cursor, str) or len(found) >= _MAX_LISTED:
                break
        return found[:_MAX_LISTED]

    async def call_tool(
        self, name: str, arguments: Mapping[str, Any], schema: Any = None, progress: OnProgress | None = None
    ) -> JsonObject:
        headers = wire.mirror_params(schema, arguments) if self.facts.modern else {}
        return await self.request("tools/call", {"name": name, "arguments": dict(arguments)}, progress, headers)

    def listen(self, notifications: JsonObject) -> "tuple[int, asyncio.Task[JsonObject]]":
        """Ask a stateless server to tell of something: the id of the request, and the task that is done when the server
        ends it. Who cancels the task ends it, too."""
        request_id = self._take_id()
        asked = self._ask("subscriptions/listen", {"notifications": notifications}, None, None, request_id)
        task = asyncio.get_running_loop().create_task(asked)
        self._tasks.add(task)
        task.add_done_callback(self._forget)
        return request_id, task

    def _forget(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # whoever waits for it has it

    def _take_id(self) -> int:
        self._last_id += 1
        return self._last_id

    async def _ask(
        self,
        method: str,
        params: JsonObject,
        progress: OnProgress | None,
        headers: Mapping[str, str] | None,
        request_id: int = 0,
    ) -> JsonObject:
        if self._lost is not None:
            raise ConnectionLost(str(self._lost)) from self._lost
        request_id = request_id or self._take_id()
        future: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
        self._pending[request_id] = _Pending(future, progress)
        params, sent = self._wrap(method, params, headers, {"progressToken": request_id} if progress else {})
        try:
            await self._transport.send(wire.build_request(request_id, method, params), sent)
            return await future
        except asyncio.CancelledError:
            self._abandon(request_id, method)
            raise
        finally:
            self._pending.pop(request_id, None)

    def _wrap(
        self, method: str, params: JsonObject, headers: Mapping[str, str] | None, meta: JsonObject
    ) -> tuple[JsonObject, dict[str, str]]:
        if self.facts.modern:
            meta = {**wire.build_meta(self.facts.version, self._list_capabilities()), **meta}
            sent = {**wire.build_headers(self.facts.version, method, params), **(headers or {})}
        else:
            sent = dict(headers or {})
        return ({**params, "_meta": meta} if meta else params), sent

    def _abandon(self, request_id: int, method: str) -> None:
        if not self._transport.abandon(request_id) and method != "initialize" and not self.is_lost:
            told = {"requestId": request_id, "reason": "the caller does not wait for it any more"}
            self._start(partial(self._notify, "notifications/cancelled", told))

    async def _notify(self, method: str, params: JsonObject | None = None) -> None:
        headers = wire.build_headers(self.facts.version, method, {}) if self.facts.modern else {}
        await self._transport.send(wire.build_notification(method, params), headers)

    # Which era

    async def _discover(self) -> bool:
        """False if the server is of the era with a handshake."""
        self.facts = ServerFacts(wire.MODERN, modern=True)
        for _ in range(2):
            try:
                async with asyncio.timeout(self._transport.patience):
                    told = await self._ask("server/discover", {}, None, None)
            except TimeoutError:
                break
            except RpcFailure as error:
                data: Any = error.data
                supported = cast("JsonObject", data).get("supported") if isinstance(data, dict) else None
                if error.code == wire.UNSUPPORTED_VERSION and wire.choose_version(supported):
                    continue
                break
            if wire.choose_version(told.get("supportedVersions")) is None:
                break
            self._settle(told, wire.MODERN, modern=True)
            return True
        self.facts = ServerFacts("", modern=False)
        return False

    async def _initialize(self) -> None:
        params = {
            "protocolVersion": wire.LEGACY[-1],
            "capabilities": self._list_capabilities(),
            "clientInfo": wire.CLIENT_INFO,
        }
        told = await self._ask("initialize", params, None, None)
        version = told.get("protocolVersion")
        if version not in wire.LEGACY:
            raise RpcFailure(wire.UNSUPPORTED_VERSION, f"The server speaks version {str(version)[:40]!r} of MCP.")
        self._settle(told, version, modern=False)
        await self._notify("notifications/initialized")

    def _settle(self, told: JsonObject, version: str, modern: bool) -> None:
        capabilities, info = told.get("capabilities"), told.get("serverInfo")
        meta: Any = told.get("_meta")
        if info is None and isinstance(meta, dict):
            info = cast("JsonObject", meta).get("io.modelcontextprotocol/serverInfo")
        name: Any = cast("JsonObject", info).get("name") if isinstance(info, dict) else ""
        instructions = told.get("instructions")
        self.facts = ServerFacts(
            version,
            modern,
            cast("JsonObject", capabilities) if isinstance(capabilities, dict) else {},
            name if isinstance(name, str) else "",
            instructions if isinstance(instructions, str) else "",
        )
        self._transport.settle(version, modern)

    # What comes

    def _receive(self, message: JsonObject) -> None:
        method, request_id = message.get("method"), message.get("id")
        if isinstance(method, str):
            params: Any = message.get("params")
            told = cast("JsonObject", params) if isinstance(params, dict) else {}
            if request_id is None:
                self._receive_notification(method, told)
            else:
                self._start(partial(self._reply, request_id, method, told))
            return
        pending = self._pending.get(request_id) if isinstance(request_id, int) else None
        if pending is None or pending.future.done():
            return  # of a request that was cancelled, or of none
        result = message.get("result")
        if "error" in message or not isinstance(result, dict):
            pending.future.set_exception(wire.to_failure(message.get("error")))
        else:
            pending.future.set_result(cast("JsonObject", result))

    def _receive_notification(self, method: str, params: JsonObject) -> None:
        if method == "notifications/progress":
            token, progress = params.get("progressToken"), params.get("progress")
            pending = self._pending.get(token) if isinstance(token, int) else None
            if pending is not None and pending.progress is not None and isinstance(progress, int | float):
                total, message = params.get("total"), params.get("message")
                pending.progress(
                    progress,
                    total if isinstance(total, int | float) else None,
                    message if isinstance(message, str) else None,
                )
        else:
            self.on_notice(method, params)

    async def _reply(self, request_id: Any, method: str, params: JsonObject) -> None:
        answer = self._answers.get(method)
        reply: JsonObject = {"jsonrpc": "2.0", "id": request_id}
        if method == "ping":
            reply["result"] = {}
        elif answer is None:
            reply["error"] = {"code": wire.METHOD_NOT_FOUND, "message": f"{method[:80]} is not offered to servers here"}
        else:
            reply["result"] = await answer(params)
        await self._transport.send(reply, {"MCP-Protocol-Version": self.facts.version} if self.facts.modern else {})

    def _fail(self, error: Exception, request_id: int | None = None) -> None:
        if request_id is None and self._lost is None:
            self._lost = error
            self._on_lost()
        for each, pending in list(self._pending.items()):
            if request_id in (None, each) and not pending.future.done():
                pending.future.set_exception(error)

    async def _answer_asks(self, result: JsonObject) -> JsonObject:
        """What the next try of a request carries. A state of the server's is repeated as it is."""
        asked: Any = result.get("inputRequests")
        asks = cast("dict[str, JsonObject]", asked) if isinstance(asked, dict) else {}
        methods = [str(each.get("method")) for each in asks.values()]
        if unknown := [method for method in methods if method not in self._answers]:
            raise InputRequired(unknown)
        given = {name: await self._answers[str(each["method"])](each.get("params", {})) for name, each in asks.items()}
        again: JsonObject = {"inputResponses": given} if given else {}
        return {**again, "requestState": result["requestState"]} if "requestState" in result else again

    def _list_capabilities(self) -> JsonObject:
        return {"elicitation": {"form": {"applyDefaults": True}}} if "elicitation/create" in self._answers else {}

    def _start(self, work: Callable[[], Awaitable[None]]) -> None:
        task = asyncio.get_running_loop().create_task(_ignore_loss(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _ignore_loss(work: Callable[[], Awaitable[None]]) -> None:
    """Work beside the requests: a connection that is lost meanwhile is noticed by them."""
    try:
        await work()
    except (ConnectionLost, RpcFailure, OSError):
        return
